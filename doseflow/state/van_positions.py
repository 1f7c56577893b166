"""Where the vans stand and from when they are free: sightings at sites, and transfers that bind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from doseflow.domain.decisions import Decision, DoseTransfer
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.orders import Commitments
from doseflow.domain.state import CityState, VanTable
from doseflow.state.report_batch import ReportBatch


def van_positions(
    previous: CityState, batch: ReportBatch, commitments: Commitments, as_of_epoch_minutes: float
) -> VanTable:
    """
    Vans after the fold.

    A van stands where it was seen last; that a site does not list it does not say that it has left. A van bound by a
    transfer that is promised or on its way is free after the way there and back at the earliest.
    """
    site_idx, free = previous.vans.site_idx.copy(), previous.vans.free_epoch_minutes.copy()
    for van_idx, seen_site_idx, free_epoch_minutes in _sightings(previous, batch):
        site_idx[van_idx] = seen_site_idx
        free[van_idx] = free_epoch_minutes
    van_to_idx = previous.city.van_to_idx
    for transfer in _transfers((*commitments.acknowledged, *commitments.under_way)):
        van_idx = van_to_idx.get(transfer.van_id, -1)
        if van_idx >= 0:
            back = as_of_epoch_minutes + 2 * transfer.travel_minutes
            free[van_idx] = np.fmax(free[van_idx], back)
    return VanTable(site_idx, free)


def _sightings(previous: CityState, batch: ReportBatch) -> Iterator[tuple[int, int, float]]:
    """Van, site, and when the van is free, in the order seen; none older than what placed the van before."""
    van_to_idx = previous.city.van_to_idx
    for row in np.flatnonzero(batch.given[:, FeatureClass.PLACE_AND_CALENDAR]).tolist():
        surroundings = batch.reports[row].surroundings
        if surroundings is None or not surroundings.vans:
            continue
        valid = float(batch.valid_epoch_minutes[row])
        for sighting in surroundings.vans:
            van_idx = van_to_idx.get(sighting.van_id, -1)
            if van_idx >= 0 and not valid < _placed_epoch_minutes(previous, van_idx):
                yield van_idx, int(batch.site_idx[row]), valid + sighting.free_in_minutes


def _placed_epoch_minutes(previous: CityState, van_idx: int) -> float:
    """Moment of the newest report of the site where the van stood: nobody can have seen it there later; NaN if none."""
    site_idx = int(previous.vans.site_idx[van_idx])
    return float(previous.valid_epoch_minutes[site_idx, FeatureClass.PLACE_AND_CALENDAR]) if site_idx >= 0 else np.nan


def _transfers(decisions: Iterable[Decision]) -> Iterator[DoseTransfer]:
    return (one for one in decisions if isinstance(one, DoseTransfer))
