"""The whole way by an identity provider, against a real one; and what of its answers is not believed."""

from __future__ import annotations

import base64
import hashlib
import socket
import time
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from doseflow.access.grant import Grant
from doseflow.access.params import ProviderParams
from doseflow.domain.caller import CallerRole
from doseflow.errors import GatewayFailed, SettingsWrong, SignInRefused
from doseflow.gateways.oidc_provider import OidcProvider
from doseflow.ports import StartedSignIn

pytest.importorskip("authlib")
mock = pytest.importorskip("oidc_provider_mock")
ANY_SECRET = "any"  # noqa: S105 - what this provider takes from everybody
GROUPS = {"duty": Grant((CallerRole.DUTY_OFFICER,)), "site-1": Grant((CallerRole.SITE_HEAD,), ("1",))}


@pytest.fixture(scope="module")
def issuer():
    people = [
        mock.User(sub="u-1", claims={"preferred_username": "anna", "groups": ["duty", "choir"]}),
        mock.User(sub="u-2", claims={"preferred_username": "bo", "groups": ["site-1", "duty"]}),
        mock.User(sub="u-3", claims={"preferred_username": "cy", "groups": ["choir"]}),
    ]
    with mock.run_server_in_thread(user_claims=people, require_nonce=True) as server:
        yield f"http://localhost:{server.server_port}"


def params_of(issuer):
    return ProviderParams(issuer=issuer, title="City", client_secret=ANY_SECRET, groups=GROUPS)


@pytest.fixture
def city(module_city, tmp_path, issuer):
    with socket.create_server(("127.0.0.1", 0)):
        return module_city(tmp_path, provider=params_of(issuer), public_url="http://flow.example")


def away(city):
    """Leaves for the provider; the address there."""
    answer = city.client.get("/sign-in/away")
    assert answer.status_code == 303
    assert "SameSite=lax" in answer.headers["set-cookie"]
    return answer.headers["location"]


def agree(address, sub):
    """The person says yes at the provider; the query with which the browser comes back."""
    answer = httpx.post(address, data={"sub": sub})
    assert answer.status_code == 302, answer.text
    return urlsplit(answer.headers["location"]).query


def come_back(city, query):
    return city.client.get(f"/sign-in/back?{query}")


def test_a_person_of_a_group_comes_in_with_its_roles_and_goes_to_the_dashboard(city):
    assert city.client.get("/api/v1/sign-in").json() == {"is_needed": True, "by_password": False, "provider": "City"}
    address = away(city)
    asked = parse_qs(urlsplit(address).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == ["http://flow.example/sign-in/back"]
    back = come_back(city, agree(address, "u-1"))
    assert (back.status_code, back.headers["location"]) == (303, "/")
    me = city.client.get("/api/v1/me").json()
    assert (me["name"], me["roles"], me["site_ids"]) == ("anna", ["duty_officer"], None)
    entry = city.opened.live.audit.entries()[-1].entry
    assert (entry.action, entry.details["subject"]) == ("caller.sign_in", "u-1")


def test_a_group_for_one_site_keeps_all_roles_to_that_site(city):
    come_back(city, agree(away(city), "u-2"))
    assert city.client.get("/api/v1/me").json()["site_ids"] == ["1"]


def refused(city, answer):
    assert answer.headers["location"].startswith("/sign-in?refused=provider")
    assert city.client.get("/api/v1/me").status_code == 401
    assert city.opened.live.audit.entries()[-1].entry.action == "caller.refuse"


def test_a_person_of_no_known_group_is_refused(city):
    refused(city, come_back(city, agree(away(city), "u-3")))


def test_a_state_of_another_sign_in_or_of_another_browser_is_refused(city):
    query = agree(away(city), "u-1")
    away(city)  # the browser began anew: the state before is not its own any more
    refused(city, come_back(city, query))
    query = agree(away(city), "u-1")
    city.client.cookies.clear()
    refused(city, come_back(city, query))


def test_a_code_that_was_used_is_refused(city):
    query = agree(away(city), "u-1")
    note = city.client.cookies["doseflow-away"]
    assert come_back(city, query).headers["location"] == "/"
    city.client.cookies.clear()
    city.client.cookies.set("doseflow-away", note, domain="127.0.0.1", path="/sign-in")
    refused(city, come_back(city, query))


def test_a_person_who_says_no_at_the_provider_is_not_in(city):
    address = away(city)
    state = parse_qs(urlsplit(address).query)["state"][0]
    refused(city, come_back(city, f"error=access_denied&state={state}"))


def begun(issuer, sub="u-1"):
    provider = OidcProvider(params_of(issuer))
    started = provider.begin("http://flow.example/sign-in/back")
    return provider, started, parse_qs(agree(started.address, sub))["code"][0]


def test_an_id_token_with_another_nonce_is_not_believed(issuer):
    provider, started, code = begun(issuer)
    other = StartedSignIn("", started.state, "another-nonce", started.verifier)
    with pytest.raises(SignInRefused, match="InvalidClaimError"):
        provider.claims(code, other, "http://flow.example/sign-in/back")


def test_the_challenge_sent_is_the_digest_of_the_verifier_kept(issuer):
    """RFC 7636, section 4.2."""
    started = OidcProvider(params_of(issuer)).begin("http://flow.example/sign-in/back")
    digest = hashlib.sha256(started.verifier.encode("ascii")).digest()
    challenge = parse_qs(urlsplit(started.address).query)["code_challenge"][0]
    assert challenge == base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    assert 43 <= len(started.verifier) <= 128


def test_an_id_token_that_is_over_of_another_issuer_unsigned_or_signed_by_another_is_not_believed(issuer):
    from joserfc import jwt
    from joserfc.jwk import RSAKey

    provider = OidcProvider(params_of(issuer))
    key, stranger = RSAKey.generate_key(2048), RSAKey.generate_key(2048)
    keys = {"keys": [key.as_dict(private=False)]}
    now = int(time.time())
    good = {"iss": issuer, "aud": "doseflow", "sub": "u", "iat": now, "exp": now + 60, "nonce": "n"}

    def judged(signer=key, **changes):
        token = jwt.encode({"alg": "RS256"}, {**good, **changes}, signer)
        return provider._checked(token, keys, "n", None)

    assert judged()["sub"] == "u"
    for changes in (
        {"exp": now - 3600},
        {"iss": "https://other.example"},
        {"aud": "another"},
        {"aud": ["doseflow", "another"]},
        {"nonce": "m"},
        {"iat": now + 3600},
    ):
        with pytest.raises(SignInRefused):
            judged(**changes)
    with pytest.raises(SignInRefused):
        judged(signer=stranger)
    for junk in ("", "a.b.c", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1In0."):
        with pytest.raises(SignInRefused):
            provider._checked(junk, keys, "n", None)


def test_a_provider_that_does_not_answer_is_told_apart_from_a_refusal(module_city, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    gone = OidcProvider(params_of(f"http://127.0.0.1:{port}"))
    with pytest.raises(GatewayFailed):
        gone.begin("http://flow.example/")
    city = module_city(tmp_path, provider=params_of(f"http://127.0.0.1:{port}"), public_url="http://flow.example")
    assert city.client.get("/sign-in/away").status_code == 502


def test_an_issuer_on_a_network_must_be_https():
    with pytest.raises(SettingsWrong, match="https"):
        OidcProvider(params_of("http://id.city.example"))
