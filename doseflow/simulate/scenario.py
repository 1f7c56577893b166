"""Scenario: a day that planners are judged on, as its file says it. Schema: docs/reference/scenarios.md."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from datetime import date, time
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import ConfigDict, Field, StringConstraints

from doseflow.simulate.czech_city import CZECH_CITY_ID
from doseflow.simulate.czech_days import FIRST_BOOKED_ON, LAST_ON
from doseflow.simulate.parameters import ASSUMED_BY_ROSTER, SOURCES, SimulationParams
from doseflow.simulate.scenario_incidents import STRICT, AtSites, LocalTime, ScenarioIncident, Share
from doseflow.simulate.synthetic_city import MAX_SITES
from doseflow.units import MINUTES_PER_HOUR

LOWEST_LOAD, HIGHEST_LOAD = 0.3, 1.5
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SYNTHETIC_WEEK = tuple(date(2021, 5, 17 + day) for day in range(7))
"""A made city's day lies in this week."""
_CITY = re.compile(r"synthetic:([1-9]\d{0,4})")

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_]*$"), MinLen(1), MaxLen(60)]
Suite = Literal["training", "heldout", "czech", "sizes", "own"]


@dataclass(frozen=True, kw_only=True)
class Window:
    """The local times between which the day is played and measured."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    starts_at: LocalTime = time(7, 30)
    ends_at: LocalTime = time(19, 30)

    def __post_init__(self) -> None:
        if self.starts_at >= self.ends_at:
            raise ValueError(f"ends_at: must be later than starts_at {self.starts_at}, got {self.ends_at}")


@dataclass(frozen=True, kw_only=True)
class FaultShares:
    """Shares of reports that are late, missing, repeated or wrong, and of classes never told; as `ReportFaults`."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    late_share: Share = 0.01
    missing_share: Share = 0.01
    repeated_share: Share = 0.005
    wrong_share: Share = 0.003
    untold_share: Share = 0.02

    def __post_init__(self) -> None:
        if self.late_share + self.missing_share > 1:
            both = self.late_share + self.missing_share
            raise ValueError(f"missing_share: must be at most 1 together with late_share, got {both:g}")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """
    A scenario.

    Parameters
    ----------
    days
        Dates of the real city, weekdays of a made one; the seed chooses among them.
    offered_load_share
        Expected work over capacity in the busiest role, before incidents; the roster is made to fit it. Without it the
        roster has random errors of its own.
    deliveries_days
        Every open site receives so many days of its bookings; without it, deliveries are those of the city's days.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    name: Annotated[Name, Field(description="small letters, digits and _")]
    family: Annotated[Name, Field(description="what it has in common with others; the same letters")]
    text: Annotated[str, MinLen(1), MaxLen(1000), Field(description="what happens, for a person")]
    suite: Annotated[Suite, Field(description="the set it belongs to; `own` for anybody's")] = "own"
    city: Annotated[str, Field(description=f'"czech" or "synthetic:N", N in 1..{MAX_SITES}')]
    city_seed: Annotated[int, Ge(0), Le(1_000_000), Field(description="seed of a made city")] = 1
    days: Annotated[
        tuple[str, ...],
        MinLen(1),
        MaxLen(60),
        Field(description="dates of the real city, weekdays of a made one; the seed chooses one"),
    ]
    window: Annotated[Window, Field(description="when the day is played and measured")] = field(default_factory=Window)
    offered_load_share: (
        Annotated[
            float,
            Ge(LOWEST_LOAD),
            Le(HIGHEST_LOAD),
            Field(description="expected work over capacity in the busiest role, before incidents"),
        ]
        | None
    ) = None
    load_scale: Annotated[float, Ge(0.1), Le(3), Field(description="bookings over those of the city's days")] = 1.0
    deliveries_days: (
        Annotated[float, Ge(0), Le(10), Field(description="deliveries of the day in days of bookings, at every site")]
        | None
    ) = None
    params: Annotated[
        dict[str, float], Field(description="values of cities.md's table that differ, for example walk_in_share")
    ] = field(default_factory=dict)
    report_faults: Annotated[FaultShares, Field(description="shares of reports that something happens to")] = field(
        default_factory=FaultShares
    )
    incidents: Annotated[tuple[ScenarioIncident, ...], MaxLen(50), Field(description="what goes wrong")] = ()

    def __post_init__(self) -> None:
        num_sites = self.num_sites
        for position, day in enumerate(self.days):
            _check_day(day, position, is_real=self.is_real)
        _check_params(self.params, has_load=self.offered_load_share is not None)
        starts = [one.kind for one in self.incidents].count("campaign_start")
        if starts > 1:
            raise ValueError(f"incidents: must have at most one campaign_start, got {starts}")
        for position, incident in enumerate(self.incidents):
            _check_in_window(self.window, incident, position)
            too_far = [rank for rank in getattr(incident, "site_ranks", None) or () if rank > num_sites]
            if too_far:
                at = f"incidents.{position}.site_ranks"
                raise ValueError(f"{at}: must be at most {num_sites}, the number of sites, got {too_far[0]}")
            if isinstance(incident, AtSites) and (incident.site_count or 0) > num_sites:
                at = f"incidents.{position}.site_count"
                raise ValueError(f"{at}: must be at most {num_sites}, the number of sites, got {incident.site_count}")

    @property
    def is_real(self) -> bool:
        """Whether its city is the real one."""
        return self.city == CZECH_CITY_ID

    @property
    def num_sites(self) -> int:
        """
        Sites of its city.

        Raises
        ------
        ValueError
            The city is none that a scenario may have.
        """
        if self.is_real:
            return 200
        made = _CITY.fullmatch(self.city)
        if made is None or int(made[1]) > MAX_SITES:
            raise ValueError(f'city: must be "czech" or synthetic:N with N in 1..{MAX_SITES}, got {self.city!r}')
        return int(made[1])

    def day_on(self, seed: int) -> date:
        """The day that a seed chooses."""
        day = self.days[seed % len(self.days)]
        return date.fromisoformat(day) if self.is_real else SYNTHETIC_WEEK[WEEKDAYS.index(day)]

    def simulation_params(self) -> SimulationParams:
        """The simulator's assumptions with what this scenario changes."""
        return SimulationParams(**self.params)

    def without_incidents(self) -> Scenario:
        """The same day without what goes wrong."""
        return replace(self, incidents=())

    def in_city(self, city: str, city_seed: int = 1) -> Scenario:
        """The same in another made city, for example of another size."""
        return replace(self, city=city, city_seed=city_seed)


def _check_in_window(window: Window, incident: ScenarioIncident, position: int) -> None:
    """
    An incident that begins after the hours that are played would be none, and its file a mistake.

    One that ends before them may still be felt, as a power cut is.
    """
    starts_at: time | None = getattr(incident, "starts_at", None)
    if starts_at is None:
        return
    earliest = _minutes(starts_at) - getattr(incident, "moved_by_minutes", 0.0)
    if earliest >= _minutes(window.ends_at):
        at = f"incidents.{position}.starts_at"
        raise ValueError(f"{at}: must be before window.ends_at {window.ends_at}, got {starts_at}")


def _minutes(of_day: time) -> float:
    return of_day.hour * MINUTES_PER_HOUR + of_day.minute + of_day.second / 60


def _check_day(day: str, position: int, *, is_real: bool) -> None:
    if not is_real:
        if day not in WEEKDAYS:
            raise ValueError(f"days.{position}: must be one of {', '.join(WEEKDAYS)} in a made city, got {day!r}")
        return
    bound = f"must be a date from {FIRST_BOOKED_ON} to {LAST_ON} in the real city"
    try:
        day_on = date.fromisoformat(day)
    except ValueError:
        raise ValueError(f"days.{position}: {bound}, got {day!r}") from None
    if not FIRST_BOOKED_ON <= day_on <= LAST_ON:
        raise ValueError(f"days.{position}: {bound}, got {day}")


def _check_params(params: dict[str, float], *, has_load: bool) -> None:
    known = {item.name for item in fields(SimulationParams)}
    for name, value in params.items():
        if name not in known:
            raise ValueError(f"params.{name}: is no parameter of the simulator")
        if has_load and name in ASSUMED_BY_ROSTER:
            raise ValueError(f"params.{name}: must not be given together with offered_load_share")
        low, high = SOURCES[name].low, SOURCES[name].high
        if not low <= value <= high:
            raise ValueError(f"params.{name}: must lie in {low:g}..{high:g}, got {value:g}")
