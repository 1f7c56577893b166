"""Random texts that prove something: the token of a session and the key of a machine; only their digests are kept."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

KEY_MARK = "dsf"
"""First part of every key, so that people and secret scanners recognise one."""
_SECRET_BYTES = 32
_KEY = re.compile(rf"{KEY_MARK}_([0-9a-f]{{12}})_([A-Za-z0-9_-]{{43}})")


def new_token() -> str:
    """256 random bits as text."""
    return secrets.token_urlsafe(_SECRET_BYTES)


def new_key() -> tuple[str, str, str]:
    """The whole key, which is shown once, its prefix, and the digest of its secret part."""
    prefix, secret = secrets.token_hex(6), new_token()
    return f"{KEY_MARK}_{prefix}_{secret}", prefix, digest_of(secret)


def key_parts(text: str) -> tuple[str, str] | None:
    """Prefix and secret of a key; None where the text is none."""
    match = _KEY.fullmatch(text)
    return None if match is None else (match[1], match[2])


def digest_of(secret: str) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def is_secret(secret: str, kept_digest: str) -> bool:
    """Whether a secret has the digest, compared in constant time."""
    return hmac.compare_digest(digest_of(secret), kept_digest)


def token_against_forgery(session_token: str) -> str:
    """What a page sends beside its session's cookie: only who can read the answers of the service knows it."""
    return hmac.new(session_token.encode("utf-8", "surrogatepass"), b"change", hashlib.sha256).hexdigest()
