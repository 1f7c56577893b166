"""Mutual TLS with real certificates and real handshakes."""

from __future__ import annotations

import contextlib
import socket
import ssl
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from doseflow.access.params import CertificateParams, SignInParams
from doseflow.bootstrap import open_city
from doseflow.live.clocks import SimulatedClock
from doseflow.settings import HttpSettings, Settings, StoreSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.web.server import serving


def name_of(common_name):
    return x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "City"), x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    )


class Authority:
    """Signs certificates into a folder."""

    def __init__(self, folder, name="authority"):
        self.folder, self.name = folder, name
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.path, _ = self.sign(name, is_authority=True, key=self.key)

    def sign(self, common_name, *, is_authority=False, key=None):
        key = key or ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        alternative = x509.SubjectAlternativeName([x509.DNSName("localhost")])
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name_of(common_name))
            .issuer_name(name_of(self.name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(alternative, critical=False)
            .sign(self.key, hashes.SHA256())
        )
        paths = [self.folder / f"{self.name}-{common_name}.{kind}.pem" for kind in ("crt", "key")]
        paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        paths[1].write_bytes(key.private_bytes(*form))
        return [str(path) for path in paths]


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    """Opens doors with TLS; `ask` makes a request with a client certificate or none."""
    folder = tmp_path_factory.mktemp("tls")
    authority, stranger = Authority(folder), Authority(folder, "stranger")
    certificate, key = authority.sign("localhost")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    http = HttpSettings(port=port, tls_certificate=certificate, tls_key=key, tls_client_authority=authority.path)
    known = (CertificateParams("CN=records,O=City", "records", site_ids=None),)
    sign_in = SignInParams(is_on=True, user_file=str(folder / "users.json"), certificates=known)
    store = StoreSettings(url=f"sqlite:///{folder / 'tls.sqlite'}")
    settings = Settings(http=http, sign_in=sign_in, store=store)
    city = SimulatedCity.from_name("synthetic:4", seed=1)
    opened = open_city(settings, clock=SimulatedClock(city.now), city=city.city)

    def ask(pair=None, path="/api/v1/me", **headers):
        context = ssl.create_default_context(cafile=authority.path)
        if pair is not None:
            context.load_cert_chain(*pair)
        with httpx.Client(verify=context) as client:
            return client.get(f"https://localhost:{port}{path}", headers=headers)

    with contextlib.closing(opened), serving(opened.live, settings, opened.sign_in) as url:
        assert url.startswith("https://")
        yield authority, stranger, ask


def test_a_certificate_that_the_settings_name_is_the_caller(tls):
    authority, _stranger, ask = tls
    me = ask(authority.sign("records")).json()
    assert (me["name"], me["roles"]) == ("records", ["machine"])
    assert ask(authority.sign("records"), "/api/v1/sites").status_code == 200
    assert ask(authority.sign("records"), "/api/v1/quarantine").status_code == 403


def test_a_good_certificate_that_nobody_named_and_none_at_all_are_401(tls):
    authority, _stranger, ask = tls
    assert ask(authority.sign("somebody")).status_code == 401
    assert ask().status_code == 401
    assert ask(path="/healthz").status_code in {200, 503}


def test_a_certificate_of_another_authority_does_not_pass_the_handshake(tls):
    _authority, stranger, ask = tls
    with pytest.raises((httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError)):
        ask(stranger.sign("records"))


def test_a_header_that_names_a_certificate_is_worth_nothing(tls):
    _authority, _stranger, ask = tls
    assert ask(None, "/api/v1/me", **{"x-client-cert": "CN=records,O=City"}).status_code == 401
