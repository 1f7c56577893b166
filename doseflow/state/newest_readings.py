"""Which report speaks for each class of each site: the newest one, and only if it is newer than what is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.feature_classes import NUM_FEATURE_CLASSES, FeatureClass
from doseflow.domain.state import CityState
from doseflow.state.report_batch import ReportBatch


@dataclass(frozen=True)
class NewestReadings:
    """
    What a batch adds to the state.

    Parameters
    ----------
    row
        Position in the batch of the report that speaks for each class of each site, (S, 17); -1 where the previous
        state stands.
    is_new
        Whether each report tells something newer than the previous state, by class, (reports, 17).
    valid_epoch_minutes, received_epoch_minutes
        Of the reading that stands after the fold, (S, 17); NaN where nothing was ever read.
    """

    row: IntArray
    is_new: BoolArray
    valid_epoch_minutes: FloatArray
    received_epoch_minutes: FloatArray

    def sites_of(self, feature_class: FeatureClass) -> tuple[IntArray, IntArray]:
        """Sites with a newer reading of a class, and the batch positions of the reports that tell it."""
        sites = np.flatnonzero(self.row[:, feature_class] >= 0)
        return sites, self.row[sites, feature_class]


def newest_readings(previous: CityState, batch: ReportBatch) -> NewestReadings:
    """Find what is newer; of two readings valid at the same moment the one received later counts."""
    known_valid, known_received = previous.valid_epoch_minutes, previous.received_epoch_minutes
    if not batch.reports:
        nothing = np.full(known_valid.shape, -1, dtype=np.int64)
        return NewestReadings(nothing, batch.given, known_valid.copy(), known_received.copy())
    valid, received = batch.valid_epoch_minutes[:, None], batch.received_epoch_minutes[:, None]
    site_valid, site_received = known_valid[batch.site_idx], known_received[batch.site_idx]
    is_later = np.isnan(site_valid) | (valid > site_valid) | ((valid == site_valid) & (received > site_received))
    is_new = batch.given & is_later
    newest_row = np.full(known_valid.size, -1, dtype=np.int64)
    report_idx, class_idx = np.nonzero(is_new)
    np.maximum.at(newest_row, batch.site_idx[report_idx] * NUM_FEATURE_CLASSES + class_idx, report_idx)
    row = newest_row.reshape(known_valid.shape)
    return NewestReadings(
        row=row,
        is_new=is_new,
        valid_epoch_minutes=np.where(row >= 0, batch.valid_epoch_minutes[row], known_valid),
        received_epoch_minutes=np.where(row >= 0, batch.received_epoch_minutes[row], known_received),
    )
