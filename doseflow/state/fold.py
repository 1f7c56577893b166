"""fold(): the previous state and new reports become the next state."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.orders import Commitments
from doseflow.domain.report import PAST_WEEKS, ReceivedReport
from doseflow.domain.state import CityState
from doseflow.state.changed_times import changed_times
from doseflow.state.fill_gaps import fill_gaps
from doseflow.state.lot_rows import lot_table
from doseflow.state.newest_readings import newest_readings
from doseflow.state.opening_hours import local_day
from doseflow.state.readings import read_all
from doseflow.state.recent_periods import recent_periods
from doseflow.state.report_batch import batch_of
from doseflow.state.reservations import reserve_lots, reserve_staff
from doseflow.state.van_positions import van_positions
from doseflow.units import epoch_minutes_from_datetime


def fold(
    previous: CityState,
    reports: Sequence[ReceivedReport],
    arrivals_past_weeks_people: FloatArray,
    commitments: Commitments,
    as_of: datetime,
) -> CityState:
    """
    Apply reports to a state; neither is changed, and the order of the reports does not matter.

    Of every class of every site the reading with the newest `valid_at` stands, whatever came last. A class that no
    report tells keeps its reading, which ages; `reading_rules` says for how long, and what stands in for it.

    Parameters
    ----------
    arrivals_past_weeks_people
        Arrivals in the coming 24 periods of past weeks, (S, W, T), NaN unknown.
    as_of
        The moment of the next state, aware.

    Raises
    ------
    ValueError
        `arrivals_past_weeks_people` has another shape.
    """
    city = previous.city
    shape = (city.num_sites, PAST_WEEKS, HORIZON_PERIODS)
    if arrivals_past_weeks_people.shape != shape:
        raise ValueError(f"arrivals_past_weeks_people: must be {shape}, got {arrivals_past_weeks_people.shape}")
    as_of_epoch_minutes = epoch_minutes_from_datetime(as_of)
    batch = batch_of(reports, city)
    newest = newest_readings(previous, batch)
    told = read_all(previous, batch, newest)
    filled = fill_gaps(previous, batch, newest, told, as_of_epoch_minutes)
    readings, day = filled.readings, local_day(city, as_of)
    lots = lot_table(readings.lots, readings.fridges)
    return CityState(
        city=city,
        as_of=as_of,
        **readings.arrays,
        arrivals_past_weeks_people=arrivals_past_weeks_people,
        recent=recent_periods(previous, batch, newest, told.arrays["arrivals_people"], as_of),
        staff=reserve_staff(readings.staff, commitments, city),
        lots=reserve_lots(lots, readings.fridges, commitments, city),
        fridges=readings.fridges,
        vans=van_positions(previous, batch, commitments, as_of_epoch_minutes),
        weather_idx=readings.weather_idx,
        incidents=readings.incidents,
        is_open=day.is_open,
        open_minutes_left=day.open_minutes_left,
        weekday=day.weekday,
        is_holiday=day.is_holiday,
        valid_epoch_minutes=newest.valid_epoch_minutes,
        received_epoch_minutes=newest.received_epoch_minutes,
        changed_epoch_minutes=changed_times(previous, batch, newest, told),
        source=filled.source,
        commitments=commitments,
    )
