"""
Who asks, and whether they may: settled before anything of a request's body is read.

What names no action nobody may ask for: a route that somebody forgot to name is closed, not open.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from functools import partial

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from doseflow.access.secret_text import token_against_forgery
from doseflow.access.sign_in import SignIn
from doseflow.domain.caller import Caller
from doseflow.domain.permissions import why_not
from doseflow.errors import DoseflowError
from doseflow.web.actions import OPEN, NamedRoute, action_of, named_routes
from doseflow.web.error_responses import (
    FORGED_CHANGE,
    NOT_ALLOWED,
    NOT_SIGNED_IN,
    Problem,
    domain_problem,
    problem_answer,
)
from doseflow.web.json_answer import ProblemAnswer
from doseflow.web.session_cookie import session_token

FORGERY_HEADER = "x-doseflow-token"
CHALLENGE = 'Bearer realm="doseflow"'
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class PermissionDoor:
    """Lets callers through to the actions that their roles may do; stands only where people have to sign in."""

    def __init__(self, app: ASGIApp, sign_in: SignIn) -> None:
        self._app = app
        self._sign_in = sign_in
        self._routes: Sequence[NamedRoute] = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the refusal, or go on with the caller in the request's state."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = await self._refusal(scope)
        await (refusal or self._app)(scope, receive, send)

    async def _refusal(self, scope: Scope) -> ProblemAnswer | None:
        action = self._action(scope)
        if action == OPEN:
            return None
        state, connection = scope.setdefault("state", {}), HTTPConnection(scope)
        try:
            await run_in_threadpool(self._let_in, connection, action or scope["path"])
        except Problem as problem:
            answer = problem_answer(problem.kind, problem.detail)
            answer.headers.update(problem.members)
            return answer
        except DoseflowError as error:  # the store does not answer: nobody is let in
            return domain_problem(scope["path"], error)
        state["still_known"] = partial(self._still_known, connection, action or scope["path"])
        return None

    async def _still_known(self, connection: HTTPConnection, action: str) -> bool:
        try:
            await run_in_threadpool(self._let_in, connection, action)
        except (Problem, DoseflowError):
            return False
        return True

    def _let_in(self, connection: HTTPConnection, action: str) -> None:
        """Put the caller into the request's state, or raise why not."""
        caller = self._caller(connection)
        connection.state.caller = caller
        why = why_not(caller, action)
        if not why:
            return
        if not caller.is_machine:
            self._sign_in.note_not_allowed(caller, action, why)
        raise Problem(NOT_ALLOWED, why)

    def _action(self, scope: Scope) -> str | None:
        if not self._routes:
            app: FastAPI = scope["app"]
            self._routes = named_routes(app)
        return action_of(self._routes, scope.get("method", ""), scope["path"])

    def _caller(self, connection: HTTPConnection) -> Caller:
        """The caller; what is wrong is said, and never passed over for something else that is right."""
        header = connection.headers.get("authorization")
        if header is not None:
            return self._by_header(header)
        return self._by_certificate(connection) or self._by_session(connection)

    def _by_header(self, header: str) -> Caller:
        scheme, _, text = header.partition(" ")
        caller = self._sign_in.recognition.by_key(text.strip()) if scheme.lower() == "bearer" else None
        if caller is None:
            # RFC 6750, section 3.1.
            challenge = {"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"'}
            raise Problem(NOT_SIGNED_IN, "authorization: must be Bearer and a key that holds", **challenge)
        return caller

    def _by_certificate(self, connection: HTTPConnection) -> Caller | None:
        subject = connection.scope.get("extensions", {}).get("tls", {}).get("client_cert_name")
        return None if subject is None else self._sign_in.recognition.by_certificate(subject)

    def _by_session(self, connection: HTTPConnection) -> Caller:
        token = session_token(connection)
        session = None if token is None else self._sign_in.recognition.by_token(token)
        challenge = {"WWW-Authenticate": CHALLENGE}
        if token is None:
            raise Problem(NOT_SIGNED_IN, "sign in at /sign-in, or send a key as Authorization: Bearer", **challenge)
        if session is None:
            ended = "your sign-in has ended and nothing of this was done; sign in again and send it again"
            raise Problem(NOT_SIGNED_IN, ended, **challenge)
        self._require_own_page(connection, token)
        connection.state.session = session
        return session.caller

    def _require_own_page(self, connection: HTTPConnection, token: str) -> None:
        # An origin that is there has been compared with the host at the outer door; a browser that sends none must
        # show that its page could read an answer of ours.
        if connection.scope.get("method") in _SAFE_METHODS or "origin" in connection.headers:
            return
        given = connection.headers.get(FORGERY_HEADER, "").encode()
        if not hmac.compare_digest(given, token_against_forgery(token).encode()):
            raise Problem(
                FORGED_CHANGE, f"{FORGERY_HEADER}: must be the token that /api/v1/me gives, or send an Origin"
            )
