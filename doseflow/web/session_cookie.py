"""The cookies of a sign-in: the session's, and the one that a browser keeps while it is at an identity provider."""

from __future__ import annotations

from starlette.requests import HTTPConnection
from starlette.responses import Response

SECURE_NAME, PLAIN_NAME = "__Host-doseflow", "doseflow"
"""A browser takes a name with `__Host-` over https alone and from this host alone (RFC 6265bis, section 4.1.3.2)."""
AWAY_NAME, AWAY_PATH, AWAY_SECONDS = "doseflow-away", "/sign-in", 600


def is_secure(connection: HTTPConnection, public_url: str | None) -> bool:
    """Whether the browser comes over https, here or at the proxy before us."""
    return connection.url.scheme == "https" or (public_url or "").startswith("https://")


def session_token(connection: HTTPConnection) -> str | None:
    """The token that a request carries."""
    return connection.cookies.get(SECURE_NAME) or connection.cookies.get(PLAIN_NAME)


def give_session(answer: Response, token: str, *, secure: bool) -> None:
    """
    Give a browser its session's token: no script reads it, and no page of another site makes the browser send it.

    It lasts as long as the browser says; when a session ends is the store's to know.
    """
    name = SECURE_NAME if secure else PLAIN_NAME
    answer.set_cookie(name, token, path="/", secure=secure, httponly=True, samesite="strict")


def take_session(answer: Response, *, secure: bool) -> None:
    """Make the browser forget its token."""
    name = SECURE_NAME if secure else PLAIN_NAME
    answer.delete_cookie(name, path="/", secure=secure, httponly=True, samesite="strict")


def give_away_note(answer: Response, note: str, *, secure: bool) -> None:
    """Give a browser what must come back with it; `lax`, since it comes back by a link of another site."""
    answer.set_cookie(
        AWAY_NAME, note, max_age=AWAY_SECONDS, path=AWAY_PATH, secure=secure, httponly=True, samesite="lax"
    )


def take_away_note(answer: Response, *, secure: bool) -> None:
    """It has come back."""
    answer.delete_cookie(AWAY_NAME, path=AWAY_PATH, secure=secure, httponly=True, samesite="lax")
