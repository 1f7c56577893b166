"""
World: the whole simulated city at one moment, as arrays. Nothing here moves; `transition.step` makes the next world.

Axes: S sites, R roles or stages, A ages of one step, D steps of the fixed part of a service, E steps until a seat is
free, H shifts, M moves made, L lot places of a site, F fridges, 288 periods and 1,440 minutes of the local day. The
functions of the room read the last axes, so that a batch axis may come before S. Things on their way are tables, a
row a trip. Moments are minutes since 1970 in UTC; a moment that never comes is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.simulate.day_plan import DayPlan

OLDEST_MINUTES = 120
"""Age at which people who wait longer are counted together; sums of waiting stay exact beyond it."""
NUM_SERVED = 3
"""Stages where a station serves: registration, screening, vaccination. Observation is a seat."""
NUM_MOVES = 3
"""Moves made in a shift: none, one, two or more."""

STAFF_TRIP = np.dtype(
    [
        ("to_idx", np.int64),
        ("home_idx", np.int64),
        ("works_as_idx", np.int64),
        ("shift_idx", np.int64),
        ("moves", np.int64),
        ("people", np.int64),
        ("arrives", np.float64),
    ]
)
"""People on their way to another site."""
DOSE_TRIP = np.dtype(
    [
        ("to_idx", np.int64),
        ("fridge_slot", np.int64),
        ("lot_code", np.int64),
        ("product_idx", np.int64),
        ("doses", np.int64),
        ("expires", np.float64),
        ("excursion_minutes", np.float64),
        ("arrives", np.float64),
    ]
)
"""Whole vials on their way to a site."""
DIVERSION = np.dtype(
    [
        ("from_idx", np.int64),
        ("to_idx", np.int64),
        ("people", np.int64),
        ("until", np.float64),
        ("travel_minutes", np.float64),
    ]
)
"""Walk-ins that a site may still send to another."""


@dataclass(frozen=True)
class Lots:
    """
    Lots by place, (S, L); a place without doses is free, and its other columns mean nothing.

    `unopened_doses` are whole vials. `open_doses` are left of opened vials, good until `open_until`.
    """

    code: IntArray
    product_idx: IntArray
    fridge_slot: IntArray
    unopened_doses: IntArray
    open_doses: IntArray
    open_until: FloatArray
    expires: FloatArray
    excursion_minutes: FloatArray

    @property
    def is_free(self) -> BoolArray:
        """Places that hold nothing, (S, L)."""
        free: BoolArray = self.unopened_doses + self.open_doses == 0
        return free


@dataclass(frozen=True)
class Fridges:
    """
    Fridges of each site, (S, F); `volume_litres` is 0 where a site has fewer. A pre-cool target is NaN when there is
    none.
    """

    volume_litres: FloatArray
    temperature_celsius: FloatArray
    set_point_celsius: FloatArray
    pre_cool_celsius: FloatArray
    pre_cool_until: FloatArray

    @property
    def exists(self) -> BoolArray:
        """(S, F)."""
        return self.volume_litres > 0


@dataclass(frozen=True)
class Vans:
    """Where each van stands, -1 while driving; until when it is bound; where it is heading. (V,)."""

    site_idx: IntArray
    busy_until: FloatArray
    heading_to_idx: IntArray


@dataclass(frozen=True)
class Totals:
    """
    What has happened since the world began, by site, (S,), or by stage, (S, R).

    Of the people who `arrived`, some `balked` at the door, some `left` a queue, some were `turned_away` past closing,
    some were `served`, and the rest is inside. `waited_minutes` counts everybody who waits in every step, so it is
    exact whatever became of them; `waited_started_minutes` is the waiting of those who were taken. `busy_minutes` and
    `staffed_minutes` are those of people with a post in the first three stages.
    """

    arrived: IntArray
    walked_in: IntArray
    diverted: IntArray
    balked: IntArray
    left: IntArray
    turned_away: IntArray
    served: IntArray
    started: IntArray
    waited_minutes: FloatArray
    waited_started_minutes: FloatArray
    busy_minutes: FloatArray
    staffed_minutes: FloatArray
    doses_given: IntArray
    doses_wasted: IntArray
    doses_expired: IntArray
    doses_discarded: IntArray


@dataclass(frozen=True)
class World:
    """
    The city at `epoch_minutes`.

    Parameters
    ----------
    waiting_people
        By stage and age, youngest first, (S, R, A); in the last stage they wait for a seat.
    in_fixed_service, in_random_service
        People at a station: in the fixed part by steps left, (S, 3, D), and in the memoryless part, (S, 3).
    seated_people
        By steps until they leave, (S, E).
    coming_people
        Booked people by the minute of the local day at which they will come, (S, 1440).
    booked_people, free_slots
        Appointments taken and offered, (S, 288).
    staff_people
        On duty by role at home, role worked as, shift and moves made, (S, R, R, H, M).
    stations_open
        (S, R).
    lot_numbers
        The name of each lot code.
    """

    epoch_minutes: float
    day: DayPlan
    waiting_people: NDArray[np.int32]
    in_fixed_service: IntArray
    in_random_service: IntArray
    seated_people: IntArray
    coming_people: NDArray[np.int32]
    booked_people: IntArray
    free_slots: IntArray
    staff_people: IntArray
    staff_trips: NDArray[np.void]
    stations_open: IntArray
    lots: Lots
    lot_numbers: tuple[str, ...]
    dose_trips: NDArray[np.void]
    fridges: Fridges
    vans: Vans
    diversions: NDArray[np.void]
    totals: Totals

    @property
    def queued_people(self) -> IntArray:
        """People waiting by stage, (S, R)."""
        # Summed in the narrow type: widening first costs more than the sum, and no queue comes near the limit.
        queued: IntArray = self.waiting_people.sum(axis=-1, dtype=self.waiting_people.dtype).astype(np.int64)
        return queued

    @property
    def in_service_people(self) -> IntArray:
        """People at a station, (S, 3)."""
        in_fixed: IntArray = self.in_fixed_service.sum(axis=-1)
        return in_fixed + self.in_random_service

    @property
    def inside_people(self) -> IntArray:
        """Everybody at the site who is not staff, (S,)."""
        waiting: IntArray = self.queued_people.sum(axis=-1)
        inside: IntArray = waiting + self.in_service_people.sum(axis=-1) + self.seated_people.sum(axis=-1)
        return inside
