"""Summary: what happened between two moments, from kept cycles, orders, the audit log and hand-overs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from doseflow.domain.audit import AuditEntry, AuditFilter
from doseflow.domain.commanding import Handover
from doseflow.domain.state import CityState
from doseflow.live.live_city import LiveCity
from doseflow.units import PERIOD_MINUTES

LOOKED_AT_EVERY = timedelta(minutes=15)
LONG_WAIT_MINUTES = 30.0
MOST_ROWS = 20
OVERRIDING = ("order.override", "order.reject", "order.withdraw", "order.pin", "site.suspend", "site.freeze")


@dataclass(frozen=True, slots=True)
class SiteLine:
    """A site's longest wait and its doses; None is unknown."""

    site_id: str
    name: str
    longest_wait_minutes: float | None
    doses: float | None


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that a person did, from the audit log."""

    at: datetime
    by: str
    action: str
    subject: str
    reason: str


@dataclass(frozen=True, slots=True)
class Summary:
    """
    A shift or a day.

    `mean_wait_minutes` is over sites and the moments looked at, one a quarter of an hour. `doses` are counted from the
    reports at those moments, each telling five minutes, and scaled to the time between. `excursion_fridges` have
    exceeded their band; `expired_doses` lie in fridges past their expiry at the end: waste that is still there.
    """

    city: str
    timezone: str
    since: datetime
    until: datetime
    num_moments: int
    mean_wait_minutes: float | None
    longest_wait_minutes: float | None
    sites_over_30_minutes: int
    doses: float | None
    expired_doses: int | None
    excursion_fridges: list[str]
    orders_by_state: dict[str, int]
    overrides: list[Deed]
    deeds_by_action: dict[str, int]
    handovers: list[Handover]
    sites: list[SiteLine]


def summary_between(live: LiveCity, since: datetime, until: datetime) -> Summary:
    """What is kept of the time between two moments."""
    states = _states(live, since, until)
    deeds = live.audit.search(AuditFilter(None, None, None, since, until), 0, 10_000).entries
    entries = [one.entry for one in deeds]
    waits = np.array([state.observed_wait_minutes for state in states]).reshape(-1, live.city.num_sites)
    doses = np.array([state.doses_given for state in states]).reshape(-1, live.city.num_sites)
    longest = _highest(waits)
    given = _scaled(doses)
    orders = [one for one in live.plans.orders(limit=100_000) if since <= one.created_at < until]
    handovers = [one for one in live.desk.handovers(1000) if since <= one.given_at < until]
    return Summary(
        city=live.city.name,
        timezone=live.city.timezone,
        since=since,
        until=until,
        num_moments=len(states),
        mean_wait_minutes=_known(np.nanmean(waits) if np.isfinite(waits).any() else np.nan),
        longest_wait_minutes=_known(np.nanmax(longest) if np.isfinite(longest).any() else np.nan),
        sites_over_30_minutes=int((longest > LONG_WAIT_MINUTES).sum()),
        doses=_known(np.nansum(given) if np.isfinite(given).any() else np.nan),
        expired_doses=_expired(states[-1]) if states else None,
        excursion_fridges=_excursions(states[-1]) if states else [],
        orders_by_state=dict(sorted(Counter(str(one.state) for one in orders).items())),
        overrides=[_deed(one) for one in entries if one.action in OVERRIDING],
        deeds_by_action=dict(sorted(Counter(one.action for one in entries).items())),
        handovers=handovers,
        sites=_lines(live, longest, given),
    )


def _states(live: LiveCity, since: datetime, until: datetime) -> list[CityState]:
    """The first kept state of each quarter of an hour."""
    states, moment, end = [], since.astimezone(UTC), min(until.astimezone(UTC), live.clock.now() + timedelta(seconds=1))
    while moment < end:
        ids = live.plans.cycle_ids_between(live.city, moment, min(moment + LOOKED_AT_EVERY, end))
        if ids:
            states.append(live.plans.cycle_inputs(ids[0])[0])
        moment += LOOKED_AT_EVERY
    return states


def _highest(rows: np.ndarray) -> np.ndarray:
    known = np.where(np.isfinite(rows), rows, -np.inf).max(axis=0, initial=-np.inf)
    return np.where(np.isfinite(known), known, np.nan)


def _scaled(doses: np.ndarray) -> np.ndarray:
    """Doses of all the time, from five minutes of each quarter, (S,)."""
    factor = LOOKED_AT_EVERY.total_seconds() / 60 / PERIOD_MINUTES
    is_known = np.isfinite(doses).any(axis=0)
    return np.where(is_known, np.nansum(doses, axis=0) * factor, np.nan)


def _known(value: float) -> float | None:
    return round(float(value), 1) if np.isfinite(value) else None


def _expired(state: CityState) -> int:
    is_past = state.lots.expires_epoch_minutes < state.as_of.timestamp() / 60
    return int((state.lots.unopened_doses + state.lots.open_vial_doses)[is_past].sum())


def _excursions(state: CityState) -> list[str]:
    rows = np.flatnonzero(np.nan_to_num(state.fridges.excursion_minutes) > 0)
    names = state.city.sites
    return [f"{names[int(state.fridges.site_idx[row])].name}, {state.fridges.fridge_id[row]}" for row in rows]


def _deed(entry: AuditEntry) -> Deed:
    return Deed(entry.at, entry.by, entry.action, entry.subject, entry.reason)


def _lines(live: LiveCity, longest: np.ndarray, given: np.ndarray) -> list[SiteLine]:
    order = np.argsort(-np.nan_to_num(longest, nan=-1.0), kind="stable")[:MOST_ROWS]
    sites = live.city.sites
    return [SiteLine(sites[k].site_id, sites[k].name, _known(longest[k]), _known(given[k])) for k in order]
