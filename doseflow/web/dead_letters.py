"""GET /api/v1/dead-letters: what could not be told; POST .../resend and .../dismiss: what a person does about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from doseflow.domain.caller import Caller
from doseflow.errors import NotFound, ResendRefused
from doseflow.ports import DeadLetter
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import (
    ERROR_TO_PROBLEM,
    FOREIGN_ORIGIN,
    MALFORMED_REQUEST,
    STORE_UNAVAILABLE,
    documented,
)
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving

router = APIRouter(prefix="/api/v1", tags=["orders"])


class LetterDeed(StrEnum):
    """What can be done with a dead letter: try it again at once, or take it off the list for good."""

    RESEND = "resend"
    DISMISS = "dismiss"


class LetterReason(BaseModel):
    """Why; stands in the audit log."""

    model_config = ConfigDict(extra="forbid")
    reason: str = Field(default="", max_length=1000)


@dataclass(frozen=True, slots=True)
class LetterRow:
    """An order or a withdrawal that a gateway did not take."""

    entry_id: int
    gateway: str
    topic: str
    order_id: str
    site_id: str
    order_state: str
    attempts: int
    dead_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class LettersAnswer:
    """Dead letters, the oldest first."""

    now: datetime
    dead_letters: list[LetterRow]


@router.get("/dead-letters", responses={200: {"model": LettersAnswer}, **documented(STORE_UNAVAILABLE)})
@needs("letter.read")
def get_dead_letters(living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """What could not be told and is tried no more, the oldest first."""
    letters = [one for one in living.live.outbox.dead_letters() if caller.may_touch(one.order.site_id)]
    return JsonAnswer(LettersAnswer(living.live.clock.now(), [letter_row(one) for one in letters]))


@router.post(
    "/dead-letters/{entry_id}/{deed}",
    responses={
        200: {"model": LetterRow},
        **documented(
            ERROR_TO_PROBLEM[NotFound],
            ERROR_TO_PROBLEM[ResendRefused],
            MALFORMED_REQUEST,
            FOREIGN_ORIGIN,
            STORE_UNAVAILABLE,
        ),
    },
)
@needs("letter.{deed}")
def post_letter_deed(
    entry_id: int, deed: LetterDeed, living: AskLiving, caller: AskCaller, why: LetterReason | None = None
) -> JsonAnswer:
    """Try a dead letter again, or take it off the list; the audit log says who did it and why."""
    outbox, now = living.live.outbox, living.live.clock.now()
    _require_visible(living.live.outbox.dead_letters, entry_id, caller)
    do = {LetterDeed.RESEND: outbox.resend, LetterDeed.DISMISS: outbox.dismiss}[deed]
    letter = do(entry_id, now, by=caller.name, reason=why.reason if why else "")
    living.live.feed.publish("dead_letter", {"entry_id": entry_id, "deed": deed, "site_id": letter.order.site_id})
    return JsonAnswer(letter_row(letter))


def letter_row(letter: DeadLetter) -> LetterRow:
    """A dead letter as a row."""
    order = letter.order
    return LetterRow(
        letter.entry_id,
        letter.gateway,
        letter.topic,
        order.order_id,
        order.site_id,
        order.state,
        letter.attempts,
        letter.dead_at,
        letter.reason,
    )


def _require_visible(letters: Callable[[], list[DeadLetter]], entry_id: int, caller: Caller) -> None:
    """To whoever may not see a letter it does not exist."""
    if not any(one.entry_id == entry_id and caller.may_touch(one.order.site_id) for one in letters()):
        raise NotFound(f"the dead-letter list has no entry {entry_id}")
