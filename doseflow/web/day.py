"""GET /api/v1/day and /api/v1/sites/{site_id}/day: the day so far; /api/v1/sites/{site_id}/reports: as received."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

import numpy as np
from fastapi import APIRouter, Query

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.report import ReceivedReport
from doseflow.errors import SiteUnknown
from doseflow.live.live_city import LiveCity
from doseflow.units import PERIOD_MINUTES
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.day_view import (
    ArrivalsOfDay,
    CityDayAnswer,
    SiteDayAnswer,
    arrivals_of_day,
    fridge_days,
    readings,
)
from doseflow.web.error_responses import ERROR_TO_PROBLEM, MALFORMED_REQUEST, STORE_UNAVAILABLE, documented
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving, Living
from doseflow.web.own_sites import require_own_site
from doseflow.web.sites import known_now

READINGS_OF_DAY = 400
"""Reports read for a site's day: one each five minutes are 288, and some come twice or late."""
_PERIOD = timedelta(minutes=PERIOD_MINUTES)
router = APIRouter(prefix="/api/v1", tags=["sites"])


@dataclass(frozen=True, slots=True)
class SiteReportsAnswer:
    """Reports of a site as they were received, the newest first by the moment they were true."""

    now: datetime
    site_id: str
    reports: list[ReceivedReport]


@router.get("/day", responses={200: {"model": CityDayAnswer}, **documented(STORE_UNAVAILABLE)})
@needs("city_day.read")
def get_day(living: AskLiving) -> JsonAnswer:
    """Arrivals of the whole city today against the forecast, two hours ahead."""
    live = living.live
    now = live.clock.now()
    arrivals = _arrivals(living, now, np.arange(live.city.num_sites))
    return JsonAnswer(CityDayAnswer(now, live.city.timezone, _first_cycle_at(live, now), arrivals))


@router.get(
    "/sites/{site_id}/day",
    responses={200: {"model": SiteDayAnswer}, **documented(ERROR_TO_PROBLEM[SiteUnknown], STORE_UNAVAILABLE)},
)
@needs("site.read")
def get_site_day(site_id: str, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """A site's day so far: arrivals against the forecast, its readings, every temperature of its fridges."""
    live = living.live
    require_own_site(live, caller, site_id)
    now, site_idx = live.clock.now(), live.city.site_to_idx[site_id]
    begins_at = day_begins_at(now, live.city.timezone)
    reports = [one for one in live.reports.reports_of_site(site_id, READINGS_OF_DAY) if one.report.valid_at > begins_at]
    reports.reverse()
    return JsonAnswer(
        SiteDayAnswer(
            now,
            site_id,
            _arrivals(living, now, np.array([site_idx])),
            readings(reports),
            fridge_days(known_now(live)[0], site_idx, reports),
        )
    )


@router.get(
    "/sites/{site_id}/reports",
    responses={
        200: {"model": SiteReportsAnswer},
        **documented(ERROR_TO_PROBLEM[SiteUnknown], MALFORMED_REQUEST, STORE_UNAVAILABLE),
    },
)
@needs("report.read")
def get_site_reports(
    site_id: str, living: AskLiving, caller: AskCaller, limit: Annotated[int, Query(ge=1, le=300)] = 20
) -> JsonAnswer:
    """The latest reports of a site as they were received."""
    require_own_site(living.live, caller, site_id)
    reports = living.live.reports.reports_of_site(site_id, limit)
    return JsonAnswer(SiteReportsAnswer(living.live.clock.now(), site_id, reports))


def day_begins_at(now: datetime, timezone: str) -> datetime:
    """The city's own midnight before a moment."""
    local = now.astimezone(ZoneInfo(timezone))
    return local.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(now.tzinfo)


def _arrivals(living: Living, now: datetime, site_rows: np.ndarray) -> ArrivalsOfDay:
    live = living.live
    begins_at = day_begins_at(now, live.city.timezone)
    arrived = live.reports.arrivals_between(live.city, begins_at, now)[site_rows]
    told = living.told.between(begins_at, arrived.shape[1] + HORIZON_PERIODS)
    _lay_over(told, begins_at, living)
    return arrivals_of_day(begins_at, PERIOD_MINUTES, arrived, told[:, site_rows])


def _lay_over(told: FloatArray, begins_at: datetime, living: Living) -> None:
    """Of the periods to come the latest forecast stands, however short its lead."""
    if (latest := living.live.latest) is None:
        return
    fan = latest.forecast.arrivals_people.transpose(1, 0, 2)
    first = round((latest.forecast.made_at - begins_at) / _PERIOD)
    fits = min(len(fan), len(told) - first)
    if first >= 0 and fits > 0:
        told[first : first + fits] = fan[:fits]


def _first_cycle_at(live: LiveCity, now: datetime) -> datetime | None:
    """The earliest moment of today whose state is kept."""
    ids = live.plans.cycle_ids_between(live.city, day_begins_at(now, live.city.timezone), now + _PERIOD)
    return live.plans.cycle_inputs(ids[0])[0].as_of if ids else None
