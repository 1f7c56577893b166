"""
OidcProvider: an identity provider by OpenID Connect Core 1.0, section 3.1 (authorization code), with PKCE (RFC 7636).

It can say who somebody is and in which groups, at the moment of the sign-in. It cannot tell later that somebody has
left: a session lasts until its own end, or until `doseflow users sign-out`. Traps: the issuer must be spelt exactly as
the provider spells it, a slash at its end included; many providers put groups into the ID token only after they are
told to, so what is missing there is asked of the userinfo endpoint.

The library (`pip install 'doseflow[sign-in]'`) checks what is signed; keys are fetched anew for each sign-in, which is
rare enough, so that a provider may change them at any time.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

from doseflow.access.params import ProviderParams
from doseflow.errors import EnvironmentUnfit, GatewayFailed, SettingsWrong, SignInRefused
from doseflow.ports import StartedSignIn

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that are believed: none that needs a shared secret, and never `none`."""
LEEWAY_SECONDS = 60
MAX_ANSWER_BYTES = 1_000_000
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class OidcProvider:
    """
    One provider.

    Raises
    ------
    SettingsWrong
        The issuer is no address that may be trusted.
    EnvironmentUnfit
        The library is not installed.
    """

    def __init__(self, params: ProviderParams) -> None:
        issuer = params.issuer or ""
        parts = urlsplit(issuer)
        if not parts.hostname or (parts.scheme != "https" and parts.hostname not in _LOOPBACK):
            raise SettingsWrong(f"sign_in.provider.issuer: must begin with https:// and name a host, got {issuer!r}")
        _require_library()
        self._params = params
        self._issuer = issuer
        self._host = parts.hostname

    def begin(self, back_address: str) -> StartedSignIn:
        """
        Begin a sign-in that comes back to an address of ours.

        Raises
        ------
        GatewayFailed
        """
        from authlib.oauth2.rfc7636 import create_s256_code_challenge  # type: ignore[import-untyped]

        state, nonce, verifier = (secrets.token_urlsafe(48) for _ in range(3))
        query = {
            "response_type": "code",
            "client_id": self._params.client_id,
            "redirect_uri": back_address,
            "scope": " ".join(self._params.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
        }
        endpoint = self._endpoints()["authorization_endpoint"]
        return StartedSignIn(f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}", state, nonce, verifier)

    def claims(self, code: str, started: StartedSignIn, back_address: str) -> Mapping[str, Any]:
        """
        What it says of the person who came back with a code.

        Raises
        ------
        SignInRefused, GatewayFailed
        """
        endpoints = self._endpoints()
        tokens = self._exchange(endpoints, code, started.verifier, back_address)
        keys = self._json("GET", endpoints["jwks_uri"])
        claims = self._checked(str(tokens.get("id_token", "")), keys, started.nonce, tokens.get("access_token"))
        if self._params.group_claim in claims or "userinfo_endpoint" not in endpoints:
            return claims
        bearer = {"authorization": f"Bearer {tokens.get('access_token', '')}"}
        more = self._json("GET", endpoints["userinfo_endpoint"], headers=bearer)
        # Core, section 5.3.4: what is said of somebody else must not be used.
        if more.get("sub") != claims["sub"]:
            raise SignInRefused(f"{self._host} told of another person than the one who signed in")
        return {**more, **claims}

    def _endpoints(self) -> dict[str, Any]:
        found = self._json("GET", f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != self._issuer:
            raise GatewayFailed(f"sign_in.provider.issuer: {self._host} calls itself {found.get('issuer')!r}")
        missing = [name for name in _NEEDED if not isinstance(found.get(name), str)]
        if missing:
            raise GatewayFailed(f"{self._host} does not name its {', '.join(missing)}")
        return found

    def _exchange(self, endpoints: dict[str, Any], code: str, verifier: str, back_address: str) -> dict[str, Any]:
        params = self._params
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back_address,
            "code_verifier": verifier,
            "client_id": params.client_id,
        }
        more: dict[str, Any] = {"data": form}
        ways = endpoints.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if params.client_secret is not None and "client_secret_basic" in ways:
            more["auth"] = (params.client_id, params.client_secret)
        elif params.client_secret is not None:
            form["client_secret"] = params.client_secret
        return self._json("POST", endpoints["token_endpoint"], **more)

    def _checked(self, id_token: str, keys: dict[str, Any], nonce: str, access_token: Any) -> dict[str, Any]:
        from authlib.oidc.core import CodeIDToken  # type: ignore[import-untyped]
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        try:
            # RFC 7517, section 5: keys of a kind that is not understood are left out.
            signed = jwt.decode(id_token, KeySet.import_key_set(_understood(keys)), algorithms=list(ALGORITHMS))
            claims = CodeIDToken(
                signed.claims,
                signed.header,
                {
                    "iss": {"essential": True, "value": self._issuer},
                    "aud": {"essential": True, "value": self._params.client_id},
                },
                {"nonce": nonce, "client_id": self._params.client_id, "access_token": access_token},
            )
            claims.validate(leeway=LEEWAY_SECONDS)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise SignInRefused(f"what {self._host} says is not to be believed: {type(error).__name__}") from error
        return dict(claims)

    def _json(self, method: str, address: str, **content: Any) -> dict[str, Any]:
        try:
            with httpx.Client(timeout=self._params.timeout_seconds) as client:
                response = client.request(method, address, **content)
            found = response.json() if len(response.content) <= MAX_ANSWER_BYTES else None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise GatewayFailed(f"{self._host} did not answer: {type(error).__name__}") from error
        except ValueError as error:
            raise GatewayFailed(f"{self._host} answered {response.status_code} and no JSON") from error
        if response.is_client_error and method == "POST":
            # RFC 6749, section 5.2: the code is of another sign-in, was used before, or is over.
            raise SignInRefused(f"{self._host} does not take this sign-in")
        if not response.is_success or not isinstance(found, dict):
            raise GatewayFailed(f"{self._host} answered {response.status_code}")
        return found


def _understood(keys: dict[str, Any]) -> Any:
    kinds = {"RSA", "EC", "OKP"}
    rows = keys.get("keys")
    return {"keys": [row for row in rows if row.get("kty") in kinds] if isinstance(rows, list) else []}


def _require_library() -> None:
    try:
        import authlib.oidc.core  # type: ignore[import-untyped]  # noqa: F401 - whether it is there
        import joserfc  # noqa: F401
    except ImportError as error:
        sentence = "sign_in.provider: needs the library of `pip install 'doseflow[sign-in]'`; {} is missing"
        raise EnvironmentUnfit(sentence.format(error.name)) from error
