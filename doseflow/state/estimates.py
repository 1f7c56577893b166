"""What stands in for readings that are missing or old, by the rules in `reading_rules`."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import BoolArray, City, FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.state.flows_since import FlowsSince
from doseflow.state.lot_rows import LotRows
from doseflow.units import PERIOD_MINUTES

BIN_MINUTES = 15
"""Length of a booking bin."""


def waiting_after_flows(waiting_people: FloatArray, flows: FlowsSince, city: City) -> FloatArray:
    """
    People waiting by stage after the flows since their last reading, (S, R).

    People before the needle change by arrivals - doses, spread over the stages as they were; who sits out the
    observation leaves after the mean stay and is joined by those who got a dose.
    """
    before_needle = waiting_people[:, :OBSERVATION_IDX]
    total = before_needle.sum(axis=1)
    moved_total = np.maximum(total + flows.arrivals_people - flows.doses, 0.0)
    all_at_the_door = np.eye(1, OBSERVATION_IDX)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where((total > 0)[:, None], before_needle / total[:, None], all_at_the_door)
    stay_minutes = city.service_minutes[OBSERVATION_IDX]
    staying_share = np.maximum(1.0 - flows.periods * PERIOD_MINUTES / stay_minutes, 0.0)
    observed = waiting_people[:, OBSERVATION_IDX] * staying_share + flows.doses
    return np.column_stack([shares * moved_total[:, None], observed])


def wait_by_littles_law(waiting_people: FloatArray, doses_given: FloatArray) -> FloatArray:
    """
    Minutes until the needle for somebody who comes now, (S,); NaN where unknown or where no dose was given.

    References
    ----------
    J. D. C. Little (1961), "A Proof for the Queuing Formula L = lambda W", Operations Research 9(3), 383-387.
    """
    doses_per_minute = np.where(doses_given > 0, doses_given, np.nan) / PERIOD_MINUTES
    wait_minutes: FloatArray = waiting_people[:, :OBSERVATION_IDX].sum(axis=1) / doses_per_minute
    return wait_minutes


def booked_moved_up(booked_people: FloatArray, bins: IntArray) -> FloatArray:
    """Bookings, (S, 8), after so many whole bins have passed, (S,); bins beyond what was told are UNKNOWN."""
    if not bins.any():
        return booked_people
    source_bin = np.arange(BOOKING_BINS) + bins[:, None]
    moved = np.take_along_axis(booked_people, np.minimum(source_bin, BOOKING_BINS - 1), axis=1)
    return np.where(source_bin < BOOKING_BINS, moved, np.nan)


def bins_passed(valid_epoch_minutes: FloatArray, as_of_epoch_minutes: float) -> IntArray:
    """Whole booking bins between a reading and a moment, 0 where there is no reading, at most all of them."""
    bins = np.floor((as_of_epoch_minutes - valid_epoch_minutes) / BIN_MINUTES)
    whole_bins: IntArray = np.clip(np.nan_to_num(bins), 0, BOOKING_BINS).astype(np.int64)
    return whole_bins


def stock_after_doses(lots: LotRows, doses: FloatArray, city: City) -> LotRows:
    """Lots after so many doses were given at each site, (S,): opened vials first, then whole vials by first expiry."""
    unopened, opened = lots.unopened_doses.copy(), lots.open_vial_doses.copy()
    by_expiry = np.lexsort((lots.expires_epoch_minutes, lots.site_idx))
    starts = np.searchsorted(lots.site_idx[by_expiry], np.arange(len(doses) + 1))
    for site_idx in np.flatnonzero(doses > 0).tolist():
        rows = by_expiry[starts[site_idx] : starts[site_idx + 1]].tolist()
        left = _take_opened(opened, rows, int(doses[site_idx]))
        for row in rows:
            doses_per_vial = city.products[lots.product_idx[row]].doses_per_vial
            left = _open_vials(unopened, opened, row, left, doses_per_vial)
    return LotRows(
        lots.site_idx,
        lots.fridge_id,
        lots.product_idx,
        lots.lot_number,
        unopened,
        opened,
        lots.expires_epoch_minutes,
    )


def newer_than(valid_epoch_minutes: FloatArray, one: FeatureClass, other: FeatureClass) -> BoolArray:
    """Where the reading of one class is newer than that of another, or the other was never read, (S,)."""
    one_valid, other_valid = valid_epoch_minutes[:, one], valid_epoch_minutes[:, other]
    is_newer: BoolArray = (one_valid > other_valid) | (~np.isnan(one_valid) & np.isnan(other_valid))
    return is_newer


def _take_opened(opened: IntArray, rows: list[int], left: int) -> int:
    for row in rows:
        taken = min(left, int(opened[row]))
        opened[row] -= taken
        left -= taken
    return left


def _open_vials(unopened: IntArray, opened: IntArray, row: int, left: int, doses_per_vial: int) -> int:
    vials = -(-left // doses_per_vial)
    out = min(vials * doses_per_vial, int(unopened[row]))
    used = min(left, out)
    unopened[row] -= out
    opened[row] += out - used
    return left - used
