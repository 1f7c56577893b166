"""
What a seed makes of a scenario's incidents: which sites, at what time, which fridge, which vans.

Each incident has its own stream of chance, named by its kind and its place among those of its kind; so adding,
changing or dropping one leaves the others where they were. A larger share keeps the sites that a smaller one struck.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

import numpy as np

from doseflow.domain.city import City, FloatArray
from doseflow.domain.report import Weather
from doseflow.errors import ScenarioWrong
from doseflow.simulate.city_days import CityDay
from doseflow.simulate.day_profile import hours_of, minutes_of
from doseflow.simulate.incidents import (
    NONE,
    Absence,
    Closure,
    DeliveryChange,
    FridgeFailure,
    HabitChange,
    Incidents,
    PowerCut,
    Surge,
    WalkInChange,
)
from doseflow.simulate.report_faults import Silence
from doseflow.simulate.scenario import Scenario
from doseflow.simulate.scenario_incidents import (
    AbsenceIncident,
    AtSites,
    EarlyArrivalsIncident,
    FridgeFailureIncident,
    LateVansIncident,
    PowerCutIncident,
    RainIncident,
    ScenarioIncident,
    SiteClosedIncident,
    StaleReportsIncident,
    SupplyCutIncident,
    SurgeIncident,
    WalkInRushIncident,
)
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES

LAST_MINUTE = 1435


@dataclass(frozen=True)
class _Struck:
    """Where and when an incident strikes; the times are None where its kind has none."""

    city: City
    today: CityDay
    sites: tuple[int, ...]
    starts_at: time
    ends_at: time
    rng: np.random.Generator


def drawn_incidents(scenario: Scenario, city: City, today: CityDay, seed: int) -> tuple[Incidents, tuple[Silence, ...]]:
    """
    The incidents of a day, and the sites that fall silent.

    Raises
    ------
    ScenarioWrong
        An incident names a site that the city does not have.
    """
    incidents, silences, seen = NONE, [], Counter[str]()
    for position, incident in enumerate(scenario.incidents):
        rng = np.random.default_rng([seed, zlib.crc32(incident.kind.encode()), seen[incident.kind]])
        seen[incident.kind] += 1
        struck = _struck(incident, position, city, today, rng)
        if isinstance(incident, StaleReportsIncident):
            silences.append(_silence(struck))
        else:
            incidents = _joined(incidents, _made(incident, struck))
    return incidents, tuple(silences)


def _struck(incident: ScenarioIncident, position: int, city: City, today: CityDay, rng: np.random.Generator) -> _Struck:
    # Drawn whether they are used or not, so that how much an incident does moves nothing.
    move, chances = rng.uniform(-1, 1), rng.random(city.num_sites)
    sites: tuple[int, ...] = ()
    if isinstance(incident, AtSites):
        sites = _sites_of(incident, position, city, today, chances)
    moved = round(move * getattr(incident, "moved_by_minutes", 0.0) / PERIOD_MINUTES) * PERIOD_MINUTES
    starts_at, ends_at = getattr(incident, "starts_at", time()), getattr(incident, "ends_at", time())
    return _Struck(city, today, sites, _later(starts_at, moved), _later(ends_at, moved), rng)


def _sites_of(incident: AtSites, position: int, city: City, today: CityDay, chances: FloatArray) -> tuple[int, ...]:
    works = today.booked_people > 0
    if incident.site_ids is not None:
        return tuple(_site_of(site_id, position, city) for site_id in incident.site_ids)
    if incident.site_ranks is not None:
        by_bookings = np.argsort(-today.booked_people, kind="stable")
        return tuple(int(by_bookings[rank - 1]) for rank in incident.site_ranks)
    count = incident.site_count or max(1, round((incident.site_share or 0) * int(works.sum())))
    order = np.argsort(np.where(works, chances, np.inf), kind="stable")
    if incident.clustered:
        order = np.argsort(np.where(works, _distance_km(city, int(order[0])), np.inf), kind="stable")
    return tuple(order[: min(count, int(works.sum()))].tolist())


def _site_of(site_id: str, position: int, city: City) -> int:
    if site_id not in city.site_to_idx:
        raise ScenarioWrong(f"incidents.{position}.site_ids: must be sites of {city.city_id}, got {site_id!r}")
    return city.site_to_idx[site_id]


def _distance_km(city: City, from_idx: int) -> FloatArray:
    """Distance of every site from one of them, (S,), on a plane, which is enough to rank neighbours."""
    latitude = np.array([site.latitude for site in city.sites])
    longitude = np.array([site.longitude for site in city.sites])
    east = (longitude - longitude[from_idx]) * np.cos(np.radians(latitude[from_idx]))
    distance: FloatArray = 111.2 * np.hypot(latitude - latitude[from_idx], east)
    return distance


def _later(moment: time, minutes: float) -> time:
    whole = int(np.clip(minutes_of(moment) + minutes, 0, LAST_MINUTE))
    return time(whole // 60, whole % 60)


def _made(incident: ScenarioIncident, struck: _Struck) -> Incidents:
    match incident:
        case SurgeIncident():
            return Incidents(surges=tuple(_surge(incident, struck, idx) for idx in struck.sites))
        case FridgeFailureIncident():
            return Incidents(fridge_failures=_fridge_failures(struck))
        case LateVansIncident():
            return _late_vans(incident, struck)
        case RainIncident():
            return _rain(incident, struck)
    return _made_at_sites(incident, struck)


def _made_at_sites(incident: ScenarioIncident, struck: _Struck) -> Incidents:
    """Incidents that do the same at every site they strike."""
    when, sites = (struck.starts_at, struck.ends_at), struck.sites
    match incident:
        case WalkInRushIncident(walk_in_factor=factor):
            return Incidents(walk_in_changes=tuple(WalkInChange(idx, *when, factor) for idx in sites))
        case AbsenceIncident(roles=roles, absent_share=share):
            return Incidents(absences=tuple(Absence(idx, role, share) for idx in sites for role in roles))
        case SiteClosedIncident():
            return Incidents(closures=tuple(Closure(idx, *when) for idx in sites))
        case PowerCutIncident():
            return Incidents(power_cuts=tuple(PowerCut(idx, *when) for idx in sites))
        case SupplyCutIncident(lost_share=share):
            return Incidents(delivery_changes=tuple(DeliveryChange(idx, lost_share=share) for idx in sites))
        case EarlyArrivalsIncident(earlier_minutes=minutes):
            return Incidents(habit_changes=tuple(HabitChange(idx, earlier_minutes=minutes) for idx in sites))
    # A campaign is in the days, and silence in the reports.
    return NONE


def _surge(incident: SurgeIncident, struck: _Struck, idx: int) -> Surge:
    opens, closes = hours_of(struck.city.sites[idx])
    an_hour = float(struck.today.booked_people[idx]) / (closes - opens) * MINUTES_PER_HOUR
    return Surge(idx, struck.starts_at, struck.ends_at, incident.extra_share * an_hour, incident.shape)


def _fridge_failures(struck: _Struck) -> tuple[FridgeFailure, ...]:
    slots = [int(struck.rng.integers(max(1, len(struck.city.sites[idx].fridges)))) for idx in struck.sites]
    return tuple(FridgeFailure(idx, slot, struck.starts_at) for idx, slot in zip(struck.sites, slots, strict=True))


def _late_vans(incident: LateVansIncident, struck: _Struck) -> Incidents:
    order = np.argsort(struck.rng.random(len(struck.city.vans)))
    missing = order[: round(incident.missing_van_share * len(order))]
    late = incident.deliveries_late_minutes
    return Incidents(
        delivery_changes=tuple(DeliveryChange(idx, late_minutes=late) for idx in range(struck.city.num_sites) if late),
        travel_factor=incident.travel_factor,
        missing_vans=tuple(sorted(missing.tolist())),
    )


def _rain(incident: RainIncident, struck: _Struck) -> Incidents:
    sites = range(struck.city.num_sites)
    when = struck.starts_at, struck.ends_at
    return Incidents(
        walk_in_changes=tuple(WalkInChange(idx, *when, incident.walk_in_factor) for idx in sites),
        habit_changes=tuple(HabitChange(idx, stays_away_share=incident.stays_away_share) for idx in sites),
        travel_factor=incident.travel_factor,
        weather=Weather.RAIN,
    )


def _silence(struck: _Struck) -> Silence:
    zone, day_on = ZoneInfo(struck.city.timezone), struck.today.day_on
    return Silence(
        site_ids=frozenset(struck.city.sites[idx].site_id for idx in struck.sites),
        starts_at=_moment(day_on, struck.starts_at, zone),
        ends_at=_moment(day_on, struck.ends_at, zone),
    )


def _moment(day_on: date, moment: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day_on, moment, zone)


def _joined(first: Incidents, more: Incidents) -> Incidents:
    """Both: lists follow each other, travel factors multiply, a weather replaces none."""
    lists: Sequence[str] = [item.name for item in fields(Incidents) if isinstance(getattr(more, item.name), tuple)]
    return replace(
        first,
        **{name: (*getattr(first, name), *getattr(more, name)) for name in lists},
        travel_factor=first.travel_factor * more.travel_factor,
        weather=more.weather or first.weather,
    )
