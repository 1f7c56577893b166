"""
The client certificate of a connection, told to the application as the TLS extension of ASGI does.

TLS itself has checked it against `http.tls_client_authority` before anything comes here. A proxy that ends TLS before
us cannot pass one on: a header that names a certificate could be written by anybody.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

from cryptography import x509
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol


class CertifiedProtocol(H11Protocol):
    """HTTP/1.1 that tells `client_cert_name`, the certificate's subject as RFC 4514 writes it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Read the certificate once a connection."""
        super().connection_made(transport)
        subject = _subject(transport.get_extra_info("ssl_object"))
        if subject is not None:
            self.app: Any = _Certified(self.app, subject)


class _Certified:
    def __init__(self, app: ASGIApp, subject: str) -> None:
        self._app = app
        self._subject = subject

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        extensions = {**scope.get("extensions", {}), "tls": {"client_cert_name": self._subject}}
        await self._app({**scope, "extensions": extensions}, receive, send)


def _subject(connection: ssl.SSLObject | None) -> str | None:
    certificate = None if connection is None else connection.getpeercert(binary_form=True)
    return None if not certificate else x509.load_der_x509_certificate(certificate).subject.rfc4514_string()
