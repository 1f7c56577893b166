"""
World: the whole simulated city at one moment, as arrays. Nothing here moves; `transition.step` makes the next world.

Axes: S sites, R roles or stages, N = 3 served stages, H shifts, M moves made, L lot places of a site, F fridges, 288
periods and 1,440 minutes of the local day. The functions of the room read the last axes, so that an axis B of replicas
may come before S, and any library of the array API standard may hold the arrays. Things on their way are tables, a row
a trip. Moments are minutes since 1970 in UTC; a moment that never comes is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from doseflow.simulate.arrays import namespace
from doseflow.simulate.day_plan import DayPlan
from doseflow.simulate.draws import Array
from doseflow.simulate.flow import Flow
from doseflow.simulate.table import Schema, Table

REMEMBERED_MINUTES = 120
"""Waits are told apart up to this; sums of waiting are exact beyond it."""
NUM_SERVED = 3
"""Stages where a station serves: registration, screening, vaccination. Observation is a seat."""
NUM_MOVES = 3
"""Moves made in a shift: none, one, two or more."""

STAFF_TRIP: Schema = {
    "to_idx": int,
    "home_idx": int,
    "works_as_idx": int,
    "shift_idx": int,
    "moves": int,
    "people": int,
    "arrives": float,
}
"""People on their way to another site."""
DOSE_TRIP: Schema = {
    "to_idx": int,
    "fridge_slot": int,
    "lot_code": int,
    "product_idx": int,
    "doses": int,
    "expires": float,
    "excursion_minutes": float,
    "arrives": float,
}
"""Whole vials on their way to a site."""
DIVERSION: Schema = {"from_idx": int, "to_idx": int, "people": int, "until": float, "travel_minutes": float}
"""Walk-ins that a site may still send to another."""


@dataclass(frozen=True)
class Lots:
    """
    Lots by place, (S, L); a place without doses is free, and its other columns mean nothing.

    `unopened_doses` are whole vials. `open_doses` are left of opened vials, good until `open_until`.
    """

    code: Array
    product_idx: Array
    fridge_slot: Array
    unopened_doses: Array
    open_doses: Array
    open_until: Array
    expires: Array
    excursion_minutes: Array

    @property
    def is_free(self) -> Array:
        """Places that hold nothing, (S, L)."""
        return self.unopened_doses + self.open_doses == 0


@dataclass(frozen=True)
class Fridges:
    """
    Fridges of each site, (S, F); `volume_litres` is 0 where a site has fewer. A pre-cool target is NaN when there is
    none.
    """

    volume_litres: Array
    temperature_celsius: Array
    set_point_celsius: Array
    pre_cool_celsius: Array
    pre_cool_until: Array

    @property
    def exists(self) -> Array:
        """(S, F)."""
        return self.volume_litres > 0


@dataclass(frozen=True)
class Vans:
    """Where each van stands, -1 while driving; until when it is bound; where it is heading. (V,)."""

    site_idx: Array
    busy_until: Array
    heading_to_idx: Array


@dataclass(frozen=True)
class SameDayHabits:
    """
    Who books a slot on the day, (S, 288): a uniform number that decides who comes, and how early.

    They are drawn beforehand, so that the same person takes the slot whatever else happens.
    """

    show_chance: Array
    early_minutes: Array


@dataclass(frozen=True)
class Totals:
    """
    What has happened since the world began, by site, (S,), or by served stage, (S, N).

    Of the people who `arrived`, some `balked` at the door, some `left` a queue, some were `turned_away` past closing,
    some were `served` to the end of their observation, and the rest is inside. `waited_minutes` counts everybody who
    waits in every step, whatever became of them. `joined` and `gone` are the two curves of each queue: what lies
    between them waits, first in, first out. `busy_minutes` and `staffed_minutes` are those of people with a post,
    `overtime_minutes` the busy ones after closing.
    """

    arrived: Array
    walked_in: Array
    diverted: Array
    balked: Array
    left: Array
    turned_away: Array
    served: Array
    started: Array
    joined: Array
    gone: Array
    waited_minutes: Array
    busy_minutes: Array
    staffed_minutes: Array
    overtime_minutes: Array
    doses_given: Array
    doses_wasted: Array
    doses_expired: Array
    doses_discarded: Array


@dataclass(frozen=True)
class Readiness:
    """
    What each site can do; `readiness` makes it.

    Parameters
    ----------
    on_duty_people, stations_open, lots
        What it was made from: while the world still has these very arrays, it holds.
    posts
        Stations that are open and staffed, (S, R).
    serving_posts
        Of those, where people are served, inside the hours, (S, N), int32.
    pace
        Service times are multiplied by this, (S, N), float32.
    standing_room
        People who may be at the needle or in their observation, (S,).
    usable_lots, usable_doses
        Lots that may be given, (S, L), and the doses in them, (S,), of which some may be owed.
    balk_share
        Share that turns at the door, (S,), float32.
    """

    on_duty_people: Array
    stations_open: Array
    lots: Lots
    posts: Array
    serving_posts: Array
    pace: Array
    standing_room: Array
    usable_lots: Array
    usable_doses: Array
    balk_share: Array


@dataclass(frozen=True)
class World:
    """
    The city at `epoch_minutes`.

    Parameters
    ----------
    flow
        Everybody inside.
    coming_people
        Booked people, and walk-ins sent on by other sites, by the minute of the local day at which they will come,
        (S, 1440).
    walk_ins_people
        Walk-ins by minute, (S, 1440).
    same_day
        Of those who book on the day itself.
    booked_people, free_slots
        Appointments taken and offered, (S, 288).
    staff_people
        On duty by role at home, role worked as, shift and moves made, (S, R, R, H, M); set with `with_staff` only.
    on_duty_people
        Their sums by role worked as and shift, (S, R, H).
    stations_open
        (S, R).
    owed_doses
        Doses given that are still to be taken out of their vials, (S,).
    fetched_vials
        Vials taken out of each fridge in this period so far, (S, F).
    lot_numbers
        The name of each lot code.
    """

    epoch_minutes: float
    day: DayPlan
    flow: Flow
    coming_people: Array
    walk_ins_people: Array
    same_day: SameDayHabits
    booked_people: Array
    free_slots: Array
    staff_people: Array
    on_duty_people: Array
    staff_trips: Table
    stations_open: Array
    lots: Lots
    owed_doses: Array
    fetched_vials: Array
    lot_numbers: tuple[str, ...]
    dose_trips: Table
    fridges: Fridges
    vans: Vans
    diversions: Table
    totals: Totals
    ready: Readiness | None = None

    @property
    def minute_of_day(self) -> int:
        """Whole minutes since local midnight."""
        return int((self.epoch_minutes - self.day.midnight) // 1)

    @property
    def queued_people(self) -> Array:
        """People waiting by served stage, (S, N)."""
        return self.flow.queued

    @property
    def in_service_people(self) -> Array:
        """People at a station, (S, N)."""
        return self.flow.in_service

    @property
    def seated_people(self) -> Array:
        """People in their observation, (S,)."""
        return self.flow.seated

    @property
    def inside_people(self) -> Array:
        """Everybody at the site who is not staff, (S,)."""
        return self.flow.inside


def with_staff(world: World, staff_people: Array) -> World:
    """The world with other people on duty."""
    xp = namespace(staff_people)
    return replace(world, staff_people=staff_people, on_duty_people=xp.sum(staff_people, axis=(-4, -1)))
