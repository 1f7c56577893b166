"""Which sites may be asked for anything: open, not to be left alone, and with readings fresh enough to act on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, City
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.report import Incident
from doseflow.domain.state import CityState
from doseflow.units import epoch_minutes_from_datetime

_CLOSED_IDX = list(Incident).index(Incident.CLOSED)


@dataclass(frozen=True, slots=True)
class SiteStanding:
    """
    Flags by site, all (S,).

    `operating`: within its hours, not suspended, and no incident has closed it; `alterable`: not frozen by a person in
    command; `*_fresh`: the reading is known and not older than the city's `max_report_age_minutes`.
    """

    operating: BoolArray
    suspended: BoolArray
    alterable: BoolArray
    staff_fresh: BoolArray
    stations_fresh: BoolArray
    stock_fresh: BoolArray
    fridges_fresh: BoolArray


def site_standing(state: CityState) -> SiteStanding:
    """Read the flags off a state."""
    oldest = epoch_minutes_from_datetime(state.as_of) - state.city.limits.max_report_age_minutes
    fresh = state.valid_epoch_minutes >= oldest
    suspended = _flags(state.city, state.commitments.suspended_site_ids)
    return SiteStanding(
        operating=state.is_open & ~suspended & ~state.incidents[:, _CLOSED_IDX],
        suspended=suspended,
        alterable=~_flags(state.city, state.commitments.frozen_site_ids),
        staff_fresh=fresh[:, FeatureClass.STAFF_ON_DUTY],
        stations_fresh=fresh[:, FeatureClass.STATIONS],
        stock_fresh=fresh[:, FeatureClass.DOSES_ON_HAND],
        fridges_fresh=fresh[:, FeatureClass.FRIDGES],
    )


def _flags(city: City, site_ids: Iterable[str]) -> BoolArray:
    flags = np.zeros(city.num_sites, dtype=bool)
    flags[[city.site_to_idx[site_id] for site_id in site_ids if site_id in city.site_to_idx]] = True
    return flags
