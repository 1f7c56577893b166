"""GET /api/v1/sources: where each outside source stands, and what it said that nobody here knows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter

from doseflow.ports import SourceState, UnknownCode, UnmappedId
from doseflow.web.actions import needs
from doseflow.web.error_responses import STORE_UNAVAILABLE, documented
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving

router = APIRouter(prefix="/api/v1", tags=["sources"])


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source; `kind` is the first part of its name. `last_error` stays after the source has recovered."""

    source: str
    kind: str
    is_well: bool
    last_ok_at: datetime | None
    last_failed_at: datetime | None
    last_error: str
    num_ok: int
    num_failed: int
    unmapped_ids: tuple[UnmappedId, ...]
    unknown_codes: tuple[UnknownCode, ...]


@dataclass(frozen=True, slots=True)
class SourcesAnswer:
    """Every source that was ever heard or failed, by name."""

    now: datetime
    sources: list[SourceRow]


@router.get("/sources", responses={200: {"model": SourcesAnswer}, **documented(STORE_UNAVAILABLE)})
@needs("source.read")
def get_sources(living: AskLiving) -> JsonAnswer:
    """Outside sources, with the codes that nobody knows and the ids that no table maps: for whoever connects them."""
    live = living.live
    return JsonAnswer(SourcesAnswer(live.clock.now(), [_row(one) for one in live.sources.book.states()]))


def _row(state: SourceState) -> SourceRow:
    is_well = state.last_failed_at is None or (state.last_ok_at is not None and state.last_ok_at > state.last_failed_at)
    return SourceRow(
        state.source,
        state.source.partition(":")[0],
        is_well,
        state.last_ok_at,
        state.last_failed_at,
        state.last_error,
        state.num_ok,
        state.num_failed,
        state.unmapped_ids,
        state.unknown_codes,
    )
