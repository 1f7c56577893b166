"""GET /api/v1/anomalies: readings that cannot well be true, open ones and those that have ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from doseflow.errors import SiteUnknown
from doseflow.web.actions import needs
from doseflow.web.anomaly_view import AnomalyRow, anomaly_rows
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import ERROR_TO_PROBLEM, MALFORMED_REQUEST, documented
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving
from doseflow.web.own_sites import own, require_own_site

router = APIRouter(prefix="/api/v1", tags=["sites"])


@dataclass(frozen=True, slots=True)
class AnomaliesAnswer:
    """Open anomalies, the latest found first, and those that ended since the process began."""

    now: datetime
    open: list[AnomalyRow]
    ended: list[AnomalyRow]


@router.get(
    "/anomalies",
    responses={200: {"model": AnomaliesAnswer}, **documented(ERROR_TO_PROBLEM[SiteUnknown], MALFORMED_REQUEST)},
)
@needs("anomaly.read")
def get_anomalies(
    living: AskLiving,
    caller: AskCaller,
    site_id: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=0, le=500, description="Most ended ones.")] = 100,
) -> JsonAnswer:
    """
    Readings that the watch flags; it changes none.

    What the watch has learned lives in memory: after a restart it begins anew, and finds again what still lasts.
    """
    if site_id is not None:
        require_own_site(living.live, caller, site_id)
    watch = living.live.watch
    opened, ended = (
        own(anomaly_rows(rows, site_id), caller, lambda row: row.site_id) for rows in (watch.open, watch.ended)
    )
    return JsonAnswer(AnomaliesAnswer(living.live.clock.now(), opened, ended[:limit]))
