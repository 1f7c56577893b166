"""Who asks, as the routes see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request

from doseflow.domain.caller import LOCAL_CALLER, Caller

StillKnown = Callable[[], Awaitable[bool]]


def caller_of(request: Request) -> Caller:
    """The caller that the door has recognised; where nobody has to sign in, the local one."""
    caller: Caller = getattr(request.state, "caller", LOCAL_CALLER)
    return caller


def still_known(request: Request) -> StillKnown:
    """Asks the door again whether it knows the caller: for answers that last longer than a moment."""
    asked: StillKnown = getattr(request.state, "still_known", _always)
    return asked


async def _always() -> bool:
    return True


AskCaller = Annotated[Caller, Depends(caller_of)]
AskStillKnown = Annotated[StillKnown, Depends(still_known)]
