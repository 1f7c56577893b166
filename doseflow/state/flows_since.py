"""What came and what was given since a reading that is not told anew: arrivals and doses of the periods in between."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.state import CityState
from doseflow.state.newest_readings import NewestReadings
from doseflow.state.report_batch import ReportBatch
from doseflow.units import PERIOD_MINUTES


@dataclass(frozen=True)
class FlowsSince:
    """
    Flows of a batch that the state's readings do not hold yet.

    Parameters
    ----------
    periods
        Periods told since the reading of the people waiting, (S,); 0 where it was told anew or never.
    is_complete
        Whether these periods leave no gap, (S,).
    arrivals_people, doses
        Sums over these periods, (S,).
    doses_from_stock
        Doses given since the reading of the doses on hand, (S,).
    """

    periods: FloatArray
    is_complete: BoolArray
    arrivals_people: FloatArray
    doses: FloatArray
    doses_from_stock: FloatArray


def flows_since(previous: CityState, batch: ReportBatch, newest: NewestReadings) -> FlowsSince:
    """Sum the flows of reports that come after the standing readings and were not counted in an earlier fold."""
    num_sites = len(newest.row)
    both = batch.given[:, FeatureClass.ARRIVALS] & batch.given[:, FeatureClass.DOSES_GIVEN]
    uncounted = _is_uncounted(previous, batch)
    counts = both & uncounted & _is_after(batch, newest, FeatureClass.WAITING_BY_STAGE)
    from_stock = (
        batch.given[:, FeatureClass.DOSES_GIVEN] & uncounted & _is_after(batch, newest, FeatureClass.DOSES_ON_HAND)
    )
    told = [batch.reports[row] for row in np.flatnonzero(counts).tolist()]
    arrivals = np.array([report.arrivals_people for report in told], dtype=np.float64)
    doses = np.array([report.doses_given for report in told], dtype=np.float64)
    stock_rows = np.flatnonzero(from_stock).tolist()
    stock = np.array([batch.reports[row].doses_given for row in stock_rows], dtype=np.float64)
    sites = batch.site_idx[counts]
    periods = _sum_by_site(sites, np.ones(len(sites)), num_sites)
    last = np.full(num_sites, np.nan)
    np.fmax.at(last, sites, batch.valid_epoch_minutes[counts])
    elapsed_minutes = last - _counted_until(previous, newest)
    return FlowsSince(
        periods=periods,
        is_complete=np.abs(elapsed_minutes / PERIOD_MINUTES - periods) < 0.5,
        arrivals_people=_sum_by_site(sites, arrivals, num_sites),
        doses=_sum_by_site(sites, doses, num_sites),
        doses_from_stock=_sum_by_site(batch.site_idx[from_stock], stock, num_sites),
    )


def _sum_by_site(site_idx: IntArray, values: FloatArray, num_sites: int) -> FloatArray:
    return np.bincount(site_idx, weights=values, minlength=num_sites).astype(np.float64)


def _is_uncounted(previous: CityState, batch: ReportBatch) -> BoolArray:
    counted_until = previous.valid_epoch_minutes[batch.site_idx, FeatureClass.DOSES_GIVEN]
    uncounted: BoolArray = np.isnan(counted_until) | (batch.valid_epoch_minutes > counted_until)
    return uncounted


def _is_after(batch: ReportBatch, newest: NewestReadings, feature_class: FeatureClass) -> BoolArray:
    """Whether a report is valid after its site's standing reading of a class; never where there is none."""
    is_after: BoolArray = batch.valid_epoch_minutes > newest.valid_epoch_minutes[batch.site_idx, feature_class]
    return is_after


def _counted_until(previous: CityState, newest: NewestReadings) -> FloatArray:
    """Moment up to which the people waiting are known or already estimated, (S,)."""
    reading = newest.valid_epoch_minutes[:, FeatureClass.WAITING_BY_STAGE]
    was_estimated = previous.source[:, FeatureClass.WAITING_BY_STAGE] == ReadingSource.ESTIMATED
    estimated_until = previous.valid_epoch_minutes[:, [FeatureClass.ARRIVALS, FeatureClass.DOSES_GIVEN]].min(axis=1)
    stands = was_estimated & (newest.row[:, FeatureClass.WAITING_BY_STAGE] < 0)
    return np.where(stands, np.fmax(reading, estimated_until), reading)
