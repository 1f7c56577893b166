"""
CityState: what is known of every site at one moment, as arrays.

Axes: S sites, R roles or stages, T periods of five minutes, W past weeks. NaN is UNKNOWN, never 0. Moments in arrays
are minutes since 1970 in UTC (`units.epoch_minutes_from_datetime`). The tables of staff, lots, fridges and vans have a
row a thing and a `site_idx` column. Arrays are never written to after the state is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from doseflow.domain.city import BoolArray, City, FloatArray, IntArray
from doseflow.domain.limits import OperatingLimits
from doseflow.domain.orders import Commitments
from doseflow.domain.playbooks import relaxed_limits
from doseflow.domain.recent_periods import RecentPeriods

_BETWEEN_ALARMS = "\n"


@dataclass(frozen=True)
class StaffTable:
    """
    People on duty by site, role and end of shift; a row a group.

    `reserved_people` are already promised to an order that a site has acknowledged and its report does not show yet.
    `qualified` is (rows, R): the roles the group may fill.
    """

    site_idx: IntArray
    role_idx: IntArray
    people: IntArray
    shift_ends_epoch_minutes: FloatArray
    moves_today: IntArray
    qualified: BoolArray
    reserved_people: IntArray


@dataclass(frozen=True)
class FridgeTable:
    """
    A row a fridge. `power_on` and `door_open` are 1, 0 or NaN (unknown).

    `alarms` are the codes that stand, as `alarm_text` writes them, None where nobody says. The three moments tell how
    old a row's temperature, its power and what only a logger of its own tells are; the last one is NaN for a fridge of
    which only whole lists of the site have told.
    """

    site_idx: IntArray
    fridge_id: tuple[str, ...]
    temperature_celsius: FloatArray
    set_point_celsius: FloatArray
    excursion_minutes: FloatArray
    power_on: FloatArray
    volume_used_litres: FloatArray
    volume_possible_litres: FloatArray
    ambient_celsius: FloatArray
    door_open: FloatArray
    door_open_minutes: FloatArray
    holdover_hours: FloatArray
    alarms: tuple[str | None, ...]
    temperature_epoch_minutes: FloatArray
    power_epoch_minutes: FloatArray
    logger_epoch_minutes: FloatArray


def unknown_of_loggers(num_fridges: int) -> dict[str, Any]:
    """The columns that loggers of their own fill, by name, for fridges that have none."""
    names = ("ambient_celsius", "door_open", "door_open_minutes", "holdover_hours")
    moments = ("temperature_epoch_minutes", "power_epoch_minutes", "logger_epoch_minutes")
    unknown = np.full(num_fridges, np.nan)
    return dict.fromkeys((*names, *moments), unknown) | {"alarms": (None,) * num_fridges}


def alarm_text(codes: Sequence[str] | None) -> str | None:
    """Codes of alarms as one text, empty for none, None for nobody says."""
    return None if codes is None else _BETWEEN_ALARMS.join(codes)


def alarm_codes(text: str | None) -> tuple[str, ...] | None:
    """The codes of such a text."""
    return None if text is None else tuple(text.split(_BETWEEN_ALARMS)) if text else ()


@dataclass(frozen=True)
class LotTable:
    """
    A row a lot in a fridge. `fridge_row` points into the FridgeTable.

    `reserved_doses` are already promised to an acknowledged order that the report does not show yet.
    """

    site_idx: IntArray
    fridge_row: IntArray
    product_idx: IntArray
    lot_number: tuple[str, ...]
    unopened_doses: IntArray
    open_vial_doses: IntArray
    expires_epoch_minutes: FloatArray
    reserved_doses: IntArray


@dataclass(frozen=True)
class VanTable:
    """A row a van of the city, in the city's order. `site_idx` is -1 where nobody knows where it stands."""

    site_idx: IntArray
    free_epoch_minutes: FloatArray


@dataclass(frozen=True)
class CityState:
    """
    The whole city at `as_of`.

    Parameters
    ----------
    arrivals_people
        Arrivals in the last period, (S,). Class 1.
    waiting_people
        People waiting for each stage, (S, R); in the last column those sitting out their observation. Class 2.
    observed_wait_minutes
        Wait as observed at the site, (S,). Class 3.
    booked_people
        Appointments in the next 8 bins of 15 minutes, (S, 8). Class 4.
    no_show_share, mean_early_minutes
        (S,). Class 5.
    walk_in_share
        (S,). Class 6.
    doses_given
        Doses given in the last period, (S,). Class 7.
    doses_given_past_weeks
        The same period of past weeks, (S, W). Class 8.
    arrivals_past_weeks_people
        Arrivals in the coming 24 periods of past weeks, (S, W, T): what a seasonal forecast repeats. Class 8.
    recent
        The last two hours period by period: arrivals, bookings, and the same periods of past weeks. Classes 1, 4 and 8.
    staff
        Class 9.
    worked_hours, breaks_due_people
        By role, (S, R). Class 10.
    stations_open, stations_possible
        By stage, (S, R). Class 11.
    seats_taken, seats_possible
        (S,). Class 12.
    lots
        Classes 13 and 14.
    fridges
        Classes 15 and 16.
    vans, weather_idx, incidents
        Vans; weather as position in `report.Weather`, -1 unknown, (S,); incident flags, (S, len(Incident)). Class 17.
    is_open
        Whether the site's hours hold `as_of`, (S,).
    open_minutes_left
        Minutes until closing, 0 when closed, (S,).
    weekday, is_holiday
        Of the city's local day; Monday is 0; None where the calendar is not published.
    valid_epoch_minutes, received_epoch_minutes, changed_epoch_minutes
        The three times of every class at every site, (S, 17); NaN where nothing was ever read.
    source
        `ReadingSource` of every class at every site, (S, 17).
    commitments
        Orders that are in force, and the wishes of people in command: what the plan must respect.
    """

    city: City
    as_of: datetime
    arrivals_people: FloatArray
    waiting_people: FloatArray
    observed_wait_minutes: FloatArray
    booked_people: FloatArray
    no_show_share: FloatArray
    mean_early_minutes: FloatArray
    walk_in_share: FloatArray
    doses_given: FloatArray
    doses_given_past_weeks: FloatArray
    arrivals_past_weeks_people: FloatArray
    recent: RecentPeriods
    staff: StaffTable
    worked_hours: FloatArray
    breaks_due_people: FloatArray
    stations_open: FloatArray
    stations_possible: FloatArray
    seats_taken: FloatArray
    seats_possible: FloatArray
    lots: LotTable
    fridges: FridgeTable
    vans: VanTable
    weather_idx: IntArray
    incidents: BoolArray
    is_open: BoolArray
    open_minutes_left: FloatArray
    weekday: int
    is_holiday: bool | None
    valid_epoch_minutes: FloatArray
    received_epoch_minutes: FloatArray
    changed_epoch_minutes: FloatArray
    source: IntArray
    commitments: Commitments

    @property
    def limits(self) -> OperatingLimits:
        """The city's limits as they hold now: those of churn are wider in a surge."""
        return relaxed_limits(self.city.limits, self.commitments.incidents.surge_factor)
