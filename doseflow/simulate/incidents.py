"""
What goes wrong on a simulated day, said beforehand. The scenario of the demonstration stands here and in its docs
page.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time
from enum import StrEnum

import numpy as np

from doseflow.domain.city import City
from doseflow.domain.report import Weather
from doseflow.domain.roles import Role
from doseflow.simulate.city_days import CityDay


class SurgeShape(StrEnum):
    """How a surge's people spread over its time."""

    FLAT = "flat"
    RAMP = "ramp"
    """Rising from nothing to twice the mean in the middle, and falling again."""


@dataclass(frozen=True, slots=True)
class FridgeFailure:
    """The compressor of one fridge stops at a local time; its power stays on."""

    site_idx: int
    fridge_slot: int
    at: time


@dataclass(frozen=True, slots=True)
class PowerCut:
    """A site has no power from one local time to another."""

    site_idx: int
    starts_at: time
    ends_at: time


@dataclass(frozen=True, slots=True)
class Surge:
    """So many more walk-ins an hour come to a site, from one local time to another."""

    site_idx: int
    starts_at: time
    ends_at: time
    people_per_hour: float
    shape: SurgeShape = SurgeShape.FLAT


@dataclass(frozen=True, slots=True)
class Absence:
    """A share of a site's people of one role does not come to work."""

    site_idx: int
    role: Role
    absent_share: float


@dataclass(frozen=True, slots=True)
class Closure:
    """A site serves nobody from one local time to another, although its staff and its bookings are there."""

    site_idx: int
    starts_at: time
    ends_at: time


@dataclass(frozen=True, slots=True)
class WalkInChange:
    """Walk-ins of a site are multiplied from one local time to another."""

    site_idx: int
    starts_at: time
    ends_at: time
    factor: float


@dataclass(frozen=True, slots=True)
class HabitChange:
    """Booked people of a site behave unlike other days: some stay away, the others come earlier (negative: later)."""

    site_idx: int
    stays_away_share: float = 0.0
    earlier_minutes: float = 0.0


@dataclass(frozen=True, slots=True)
class DeliveryChange:
    """A share of the vials of a site's deliveries does not come today; the rest comes so much later."""

    site_idx: int
    lost_share: float = 0.0
    late_minutes: float = 0.0


@dataclass(frozen=True, slots=True)
class Incidents:
    """
    The incidents of one day.

    Parameters
    ----------
    travel_factor
        Everything on the road takes so many times as long as the city's table says.
    missing_vans
        Positions of vans that are not to be had today.
    weather
        The weather of the day; drawn when not given.
    """

    fridge_failures: tuple[FridgeFailure, ...] = ()
    power_cuts: tuple[PowerCut, ...] = ()
    surges: tuple[Surge, ...] = ()
    absences: tuple[Absence, ...] = ()
    closures: tuple[Closure, ...] = ()
    walk_in_changes: tuple[WalkInChange, ...] = ()
    habit_changes: tuple[HabitChange, ...] = ()
    delivery_changes: tuple[DeliveryChange, ...] = ()
    travel_factor: float = 1.0
    missing_vans: tuple[int, ...] = ()
    weather: Weather | None = None


NONE = Incidents()


def demo_incidents(city: City, today: CityDay) -> Incidents:
    """
    One of each kind, at sites of different size: by rank of today's bookings, so that any city has them.

    A fridge fails at the 6th busiest site at 08:10, a surge meets the 31st from 08:30 to 10:30, half of the
    vaccinators of the 13th stay away, and the 51st has no power from 09:15 to 10:45.
    """
    by_bookings = np.argsort(-today.booked_people, kind="stable")

    def ranked(rank: int) -> int:
        return int(by_bookings[min(rank, city.num_sites) - 1])

    surged = ranked(31)
    extra_per_hour = max(20.0, 0.15 * float(today.booked_people[surged]))
    return Incidents(
        fridge_failures=(FridgeFailure(ranked(6), 0, time(8, 10)),),
        power_cuts=(PowerCut(ranked(51), time(9, 15), time(10, 45)),),
        surges=(Surge(surged, time(8, 30), time(10, 30), extra_per_hour),),
        absences=(Absence(ranked(13), Role.VACCINATOR, 0.5),),
    )
