"""
What a site says of itself every five minutes, in the 17 classes of `domain.feature_classes`.

A field left out, or null, is UNKNOWN; it is never 0. Bounds stand in the annotations, so that whoever checks a report
at a door (pydantic reads them) names the field and the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from pydantic import AfterValidator, AwareDatetime, ConfigDict, WithJsonSchema

from doseflow.domain.roles import Role

SCHEMA_VERSION = 2
"""Newest version of the report schema, and the one of a report that names none."""
ACCEPTED_VERSIONS = (1, 2)
"""The two newest; a report of any other is refused."""
NEW_REPORT_FIELDS = ("source",)
"""Fields of a report that version 2 added."""
NEW_FRIDGE_FIELDS = ("ambient_celsius", "door_open", "door_open_minutes", "holdover_hours", "alarms")
"""Fields of a fridge that version 2 added."""

BOOKING_BINS = 8
"""Bins of 15 minutes in `booked_people`: the next two hours."""
PAST_WEEKS = 4
"""Weeks in `doses_given_past_weeks`, the last week first."""

_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _accepted_version(version: int) -> int:
    if version not in ACCEPTED_VERSIONS:
        raise ValueError(f"must be one of {' or '.join(map(str, ACCEPTED_VERSIONS))}, got {version}")
    return version


Version = Annotated[int, AfterValidator(_accepted_version), WithJsonSchema({"enum": list(ACCEPTED_VERSIONS)})]
Identifier = Annotated[str, MinLen(1), MaxLen(100)]
People = Annotated[int, Ge(0), Le(100_000)]
Doses = Annotated[int, Ge(0), Le(10_000_000)]
Share = Annotated[float, Ge(0), Le(1)]
Minutes = Annotated[float, Ge(0), Le(100_000)]
Hours = Annotated[float, Ge(0), Le(48)]
Litres = Annotated[float, Ge(0), Le(100_000)]
Celsius = Annotated[float, Ge(-120), Le(80)]
HoldoverHours = Annotated[float, Ge(0), Le(24_000)]
AlarmCode = Annotated[str, MinLen(1), MaxLen(40)]
Moment = AwareDatetime
"""A moment with its offset from UTC; one without is refused, since nobody could say when it was."""


class Power(StrEnum):
    """What feeds a fridge."""

    ON = "on"
    OFF = "off"


class Weather(StrEnum):
    """Weather as the site sees it."""

    DRY = "dry"
    RAIN = "rain"
    SNOW = "snow"
    STORM = "storm"


class Incident(StrEnum):
    """What is out of the ordinary at a site."""

    ADVERSE_EVENT_CLUSTER = "adverse_event_cluster"
    POWER_CUT = "power_cut"
    FRIDGE_FAILURE = "fridge_failure"
    CLOSED = "closed"
    SURGE = "surge"


@dataclass(frozen=True, slots=True)
class ByStage:
    """People or stations by stage of the visit."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    registration: People | None = None
    screening: People | None = None
    vaccination: People | None = None
    observation: People | None = None


@dataclass(frozen=True, slots=True)
class NoShowHistory:
    """Class 5: share of booked people who did not come, and how early the others came (negative: late)."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    no_show_share: Share | None = None
    mean_early_minutes: Annotated[float, Ge(-600), Le(600)] | None = None


@dataclass(frozen=True, slots=True)
class StaffGroup:
    """
    Class 9: people on duty at this site who share a role and the end of their shift.

    People are counted, never named. `moves_today` is the number of moves each of them has made in this shift;
    `also_qualified` the roles they may also fill.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    role: Role
    people: People
    shift_ends_at: Moment
    moves_today: Annotated[int, Ge(0), Le(20)] = 0
    also_qualified: Annotated[tuple[Role, ...], MaxLen(4)] = ()


@dataclass(frozen=True, slots=True)
class Fatigue:
    """Class 10: mean hours worked, and people whose break falls due within the next hour, of one role."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    role: Role
    worked_hours: Hours | None = None
    breaks_due_people: People | None = None


@dataclass(frozen=True, slots=True)
class Stations:
    """Class 11: stations open, and stations that could be open, by stage."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    open: ByStage | None = None
    possible: ByStage | None = None


@dataclass(frozen=True, slots=True)
class Seats:
    """Class 12: observation seats taken and possible."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    taken: People | None = None
    possible: People | None = None


@dataclass(frozen=True, slots=True)
class LotOnHand:
    """Classes 13 and 14: a lot in a fridge; `unopened_doses` in whole vials, `open_vial_doses` in opened ones."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    lot_number: Identifier
    product_id: Identifier
    fridge_id: Identifier
    unopened_doses: Doses
    open_vial_doses: Doses = 0
    expires_at: Moment | None = None


@dataclass(frozen=True, slots=True)
class FridgeReading:
    """
    Classes 15 and 16: one fridge. `excursion_minutes` is the time its content has spent outside its band so far.

    Since version 2: `door_open_minutes` of the period that ends at `valid_at`; `holdover_hours` for which the content
    would keep its band without power; `alarms` that stand, as the equipment writes them, an empty list for none.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    fridge_id: Identifier
    temperature_celsius: Celsius | None = None
    set_point_celsius: Celsius | None = None
    excursion_minutes: Minutes | None = None
    power: Power | None = None
    volume_used_litres: Litres | None = None
    volume_possible_litres: Annotated[float, Gt(0), Le(100_000)] | None = None
    ambient_celsius: Celsius | None = None
    door_open: bool | None = None
    door_open_minutes: Minutes | None = None
    holdover_hours: HoldoverHours | None = None
    alarms: Annotated[tuple[AlarmCode, ...], MaxLen(16)] | None = None


@dataclass(frozen=True, slots=True)
class VanSighting:
    """Class 17: a van standing at this site, and how long it stays bound."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    van_id: Identifier
    free_in_minutes: Minutes = 0.0


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Class 17: what stands around the site; travel times, weekday and holiday come from the city and the calendar."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    vans: Annotated[tuple[VanSighting, ...], MaxLen(20)] = ()
    weather: Weather | None = None
    incidents: Annotated[tuple[Incident, ...], MaxLen(5)] = ()


@dataclass(frozen=True, slots=True)
class SiteReport:
    """
    One report of one site.

    `valid_at` is the moment the readings were true; `report_id` makes a repeat recognisable, and when it is missing the
    content does. People and doses "in the last period" are those of the five minutes before `valid_at`.

    Since version 2: `source` names a system that sees only a part of the site, such as a logger. What such a report
    leaves out stays as others told it; of the fridges it says nothing of those that it does not name.
    """

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    site_id: Identifier
    valid_at: Moment
    schema_version: Version = SCHEMA_VERSION
    report_id: Identifier | None = None
    arrivals_people: People | None = None
    waiting_people: ByStage | None = None
    observed_wait_minutes: Minutes | None = None
    booked_people: Annotated[tuple[People, ...], MinLen(BOOKING_BINS), MaxLen(BOOKING_BINS)] | None = None
    no_show: NoShowHistory | None = None
    walk_in_share: Share | None = None
    doses_given: Doses | None = None
    doses_given_past_weeks: Annotated[tuple[Doses | None, ...], MaxLen(PAST_WEEKS)] | None = None
    staff: Annotated[tuple[StaffGroup, ...], MaxLen(64)] | None = None
    fatigue: Annotated[tuple[Fatigue, ...], MaxLen(4)] | None = None
    stations: Stations | None = None
    seats: Seats | None = None
    lots: Annotated[tuple[LotOnHand, ...], MaxLen(200)] | None = None
    fridges: Annotated[tuple[FridgeReading, ...], MaxLen(50)] | None = None
    surroundings: Surroundings | None = None
    source: Identifier | None = None


@dataclass(frozen=True, slots=True)
class ReceivedReport:
    """A report that was accepted, and when."""

    report: SiteReport
    received_at: datetime
