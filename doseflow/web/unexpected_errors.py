"""The boundary for what nobody foresaw: recorded in the log, answered with a reference by which the entry is found."""

from __future__ import annotations

import secrets

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from doseflow.web.error_responses import UNEXPECTED, problem_answer

log = structlog.get_logger(__name__)


class UnexpectedErrors:
    """Turns any exception that no handler takes into a recorded problem of status 500."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Go on; when that fails before an answer began, answer the problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def send_watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, send_watched)
        except Exception:  # the boundary of the web: one request that fails must not end the service
            reference = secrets.token_hex(6)
            where = {"path": scope["path"], "method": scope["method"]}
            log.exception("request_failed_unexpectedly", reference=reference, **where)
            if has_begun:
                raise
            detail = f"this is a defect of ours; the log has it under the reference {reference}"
            await problem_answer(UNEXPECTED, detail, reference=reference)(scope, receive, send)
