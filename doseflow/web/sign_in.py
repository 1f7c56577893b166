"""
The sign-in: /api/v1/sign-in with a name and a password, /sign-in/away and /sign-in/back by way of an identity
provider, /api/v1/sign-out, and /api/v1/me, which says who one is and what one may do.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from doseflow.access.password import MAX_CHARACTERS
from doseflow.access.secret_text import token_against_forgery
from doseflow.access.sign_in import Begun, SignIn
from doseflow.domain.caller import LOCAL_CALLER, Caller
from doseflow.domain.permissions import ACTION_TO_ROLES, may
from doseflow.domain.sign_ins import Session
from doseflow.errors import GatewayFailed, SignInRefused, SignInsTooMany
from doseflow.ports import IdentityProvider, StartedSignIn
from doseflow.web.actions import needs, open_to_all
from doseflow.web.away_note import AwayNotes
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import (
    ERROR_TO_PROBLEM,
    FOREIGN_ORIGIN,
    MALFORMED_REQUEST,
    NO_SIGN_IN,
    NOT_SIGNED_IN,
    STORE_UNAVAILABLE,
    Problem,
    documented,
)
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.session_cookie import (
    AWAY_NAME,
    give_away_note,
    give_session,
    is_secure,
    session_token,
    take_away_note,
    take_session,
)

BACK_PATH = "/sign-in/back"
router = APIRouter(tags=["sign-in"])


class NameAndPassword(BaseModel):
    """Who signs in."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)
    name: str = Field(min_length=1, max_length=100)
    password: str = Field(min_length=1, max_length=MAX_CHARACTERS)


@dataclass(frozen=True, slots=True)
class MeAnswer:
    """
    Who asks: without a sign-in the local caller, who may do everything.

    `site_ids` null is all sites. `token` goes into the header `X-Doseflow-Token` of a change that carries a session's
    cookie and no `Origin`.
    """

    name: str
    roles: list[str]
    site_ids: list[str] | None
    actions: list[str]
    is_signed_in: bool
    ends_at: datetime | None
    token: str | None


@dataclass(frozen=True, slots=True)
class WaysAnswer:
    """How one can sign in here: not at all, by a name and password, at an identity provider."""

    is_needed: bool
    by_password: bool
    provider: str | None


@dataclass(frozen=True, slots=True)
class SignInDoor:
    """The sign-in as these routes see it."""

    sign_in: SignIn
    notes: AwayNotes

    @property
    def provider(self) -> IdentityProvider:
        """The identity provider."""
        if self.sign_in.provider is None:
            raise Problem(NO_SIGN_IN, "sign_in.provider: no identity provider is set up here")
        return self.sign_in.provider

    @property
    def back_address(self) -> str:
        """Where the identity provider sends people back to."""
        return (self.sign_in.params.public_url or "").rstrip("/") + BACK_PATH

    def secure(self, request: Request) -> bool:
        """Whether cookies are for https alone."""
        return is_secure(request, self.sign_in.params.public_url)


def _door(request: Request) -> SignInDoor:
    door: SignInDoor | None = request.app.state.sign_in_door
    if door is None:
        raise Problem(NO_SIGN_IN, "sign_in.is_on: nobody has to sign in here")
    return door


AskDoor = Annotated[SignInDoor, Depends(_door)]


@router.get("/api/v1/sign-in", responses={200: {"model": WaysAnswer}, **documented()})
@open_to_all
def get_ways(request: Request) -> JsonAnswer:
    """How one can sign in here."""
    door: SignInDoor | None = request.app.state.sign_in_door
    if door is None:
        return JsonAnswer(WaysAnswer(False, False, None))
    sign_in = door.sign_in
    provider = None if sign_in.provider is None else sign_in.params.provider.title
    return JsonAnswer(WaysAnswer(True, sign_in.has_local_users, provider))


@router.post(
    "/api/v1/sign-in",
    responses={
        200: {"model": MeAnswer},
        **documented(
            ERROR_TO_PROBLEM[SignInRefused],
            ERROR_TO_PROBLEM[SignInsTooMany],
            NO_SIGN_IN,
            MALFORMED_REQUEST,
            FOREIGN_ORIGIN,
            STORE_UNAVAILABLE,
        ),
    },
)
@open_to_all
def post_sign_in(given: NameAndPassword, request: Request, door: AskDoor) -> JsonAnswer:
    """Sign in by a name and a password; the session's cookie comes with the answer."""
    address = "" if request.client is None else request.client.host
    begun = door.sign_in.by_password(given.name, given.password, address)
    answer = JsonAnswer(_me(begun.session.caller, begun.session, begun.token))
    _begin(answer, begun, request, door)
    return answer


@router.post("/api/v1/sign-out", responses={204: {}, **documented(NOT_SIGNED_IN, FOREIGN_ORIGIN)}, status_code=204)
@needs("caller.read_self")
def post_sign_out(request: Request, caller: AskCaller) -> Response:
    """End this session; a key or a certificate has none, and nothing happens."""
    answer = Response(status_code=204)
    door: SignInDoor | None = request.app.state.sign_in_door
    token = session_token(request)
    if door is not None and token is not None:
        door.sign_in.sign_out(token, caller)
        take_session(answer, secure=door.secure(request))
    return answer


@router.get("/api/v1/me", responses={200: {"model": MeAnswer}, **documented(NOT_SIGNED_IN)})
@needs("caller.read_self")
def get_me(request: Request, caller: AskCaller) -> JsonAnswer:
    """Who asks, for which sites, and what they may do."""
    return JsonAnswer(_me(caller, getattr(request.state, "session", None), session_token(request)))


@router.get("/sign-in/away", include_in_schema=False)
@open_to_all
def get_away(request: Request, door: AskDoor) -> Response:
    """Send the browser to the identity provider."""
    started = door.provider.begin(door.back_address)
    answer = RedirectResponse(started.address, status_code=303)
    give_away_note(answer, door.notes.seal(started), secure=door.secure(request))
    return answer


@router.get(BACK_PATH, include_in_schema=False)
@open_to_all
def get_back(
    request: Request,
    door: AskDoor,
    state: Annotated[str, Query(max_length=500)] = "",
    code: Annotated[str, Query(max_length=4000)] = "",
) -> Response:
    """Take the browser back from the identity provider; what went wrong is told by the sign-in page."""
    try:
        begun = door.sign_in.by_claims(_claims(request, door, state, code))
    except SignInRefused:
        answer = RedirectResponse("/sign-in?refused=provider", status_code=303)
    except GatewayFailed:
        answer = RedirectResponse("/sign-in?refused=no_answer", status_code=303)
    else:
        answer = RedirectResponse("/", status_code=303)
        _begin(answer, begun, request, door)
    take_away_note(answer, secure=door.secure(request))
    return answer


def _claims(request: Request, door: SignInDoor, state: str, code: str) -> Mapping[str, Any]:
    try:
        return door.provider.claims(code, _started(request, door, state, code), door.back_address)
    except SignInRefused as error:
        door.sign_in.refuse_provider(str(error))
        raise


def _started(request: Request, door: SignInDoor, state: str, code: str) -> StartedSignIn:
    note = request.cookies.get(AWAY_NAME)
    started = None if note is None else door.notes.open(note)
    if started is None or not hmac.compare_digest(started.state.encode(), state.encode("utf-8", "replace")):
        raise SignInRefused("what came back from the identity provider was not begun in this browser, or too long ago")
    if not code:
        raise SignInRefused("the identity provider let nobody in")
    return started


def _begin(answer: Response, begun: Begun, request: Request, door: SignInDoor) -> None:
    give_session(answer, begun.token, secure=door.secure(request))


def _me(caller: Caller, session: Session | None, token: str | None) -> MeAnswer:
    return MeAnswer(
        name=caller.name,
        roles=sorted(caller.roles),
        site_ids=None if caller.site_ids is None else sorted(caller.site_ids),
        actions=[action for action in sorted(ACTION_TO_ROLES) if may(caller, action)],
        is_signed_in=caller is not LOCAL_CALLER,
        ends_at=None if session is None else session.ends_at,
        token=None if session is None or token is None else token_against_forgery(token),
    )
