"""Who asks, as the routes see it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from doseflow.domain.caller import LOCAL_CALLER, Caller


def caller_of(request: Request) -> Caller:
    """The caller that the door has recognised; where nobody has to sign in, the local one."""
    caller: Caller = getattr(request.state, "caller", LOCAL_CALLER)
    return caller


AskCaller = Annotated[Caller, Depends(caller_of)]
