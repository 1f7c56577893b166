"""GET /api/v1/sites: every site now, or at a moment of the past; GET /api/v1/sites/{site_id}: one site in full."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from doseflow.domain.caller import Caller
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.state import CityState
from doseflow.errors import SiteUnknown
from doseflow.live.live_city import LiveCity
from doseflow.state.unknown import unknown_state
from doseflow.web.actions import needs
from doseflow.web.anomaly_view import anomaly_rows
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import (
    ERROR_TO_PROBLEM,
    MALFORMED_REQUEST,
    NO_CYCLE_THEN,
    STORE_UNAVAILABLE,
    Problem,
    documented,
)
from doseflow.web.json_answer import JsonAnswer, json_bytes
from doseflow.web.living import AskLiving, Living
from doseflow.web.order_view import order_row
from doseflow.web.own_sites import own, require_own_site
from doseflow.web.site_detail import SiteDetailAnswer, site_detail
from doseflow.web.site_view import SitesAnswer, site_rows, sites_answer

ORDERS_OF_SITE = 50
REPORTS_OF_SITE = 5
OLDEST_STATE = timedelta(hours=1)
"""A state that is older than this says nothing of the moment asked for."""
EARLIEST, LATEST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2199, 12, 31, tzinfo=UTC)
AskMoment = Annotated[
    AwareDatetime | None, Query(description="A moment of the past; left out, now.", ge=EARLIEST, le=LATEST)
]
router = APIRouter(prefix="/api/v1", tags=["sites"])


@router.get(
    "/sites",
    responses={200: {"model": SitesAnswer}, **documented(NO_CYCLE_THEN, MALFORMED_REQUEST, STORE_UNAVAILABLE)},
)
@needs("site.read")
def get_sites(
    living: AskLiving,
    caller: AskCaller,
    at: AskMoment = None,
) -> JsonAnswer:
    """
    Every site at the city's own moment, with what troubles it; or as the latest cycle before `at` knew it.

    Of a caller with sites of their own, those.
    """
    if at is not None:
        return JsonAnswer(_own_sites(_sites_then(living, at.astimezone(UTC)), caller))
    if caller.site_ids is not None:
        return JsonAnswer(_own_sites(_all_sites(living), caller))
    return JsonAnswer(living.sites_cache.get(_moment_key(living), lambda: _sites_body(living)))


@router.get(
    "/sites/{site_id}",
    responses={200: {"model": SiteDetailAnswer}, **documented(ERROR_TO_PROBLEM[SiteUnknown], STORE_UNAVAILABLE)},
)
@needs("site.read")
def get_site(site_id: str, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """One site in full."""
    live = living.live
    require_own_site(live, caller, site_id)
    now, (state, forecast) = live.clock.now(), known_now(live)
    row = site_rows(state, forecast, now, living.params.trouble)[state.city.site_to_idx[site_id]]
    orders = [order_row(order) for order in live.plans.orders(site_id=site_id, limit=ORDERS_OF_SITE)]
    reports = live.reports.reports_of_site(site_id, REPORTS_OF_SITE)
    anomalies = anomaly_rows(live.watch.open, site_id)
    return JsonAnswer(site_detail(state, forecast, row, orders, reports, now=now, anomalies=anomalies))


def _sites_then(living: Living, at: datetime) -> SitesAnswer:
    live = living.live
    ids = live.plans.cycle_ids_between(live.city, at - OLDEST_STATE, at + timedelta(seconds=1))
    if not ids:
        raise Problem(NO_CYCLE_THEN, f"at: must have a kept cycle in the hour before it, got {at.isoformat()}")
    state, _ = live.plans.cycle_inputs(ids[-1])
    return sites_answer(state, None, cycle_id=ids[-1], now=at, params=living.params.trouble)


def _sites_body(living: Living) -> bytes:
    return json_bytes(_all_sites(living))


def _all_sites(living: Living) -> SitesAnswer:
    live = living.live
    cycle_id = None if live.latest is None else live.latest.cycle_id
    state, forecast = known_now(live)
    return sites_answer(state, forecast, cycle_id=cycle_id, now=live.clock.now(), params=living.params.trouble)


def _own_sites(answer: SitesAnswer, caller: Caller) -> SitesAnswer:
    return replace(answer, sites=own(answer.sites, caller, lambda site: site.site_id))


def known_now(live: LiveCity) -> tuple[CityState, ArrivalForecast | None]:
    """The state and forecast of the latest cycle; before the first one, where the store stands."""
    if live.latest is not None:
        return live.latest.state, live.latest.forecast
    return live.plans.latest_state() or unknown_state(live.city, live.clock.now()), None


def _moment_key(living: Living) -> tuple[str | None, datetime]:
    latest = living.live.latest
    return (None if latest is None else latest.cycle_id, living.live.clock.now().replace(microsecond=0))
