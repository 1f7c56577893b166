"""Sums of the state's tables by site, with UNKNOWN kept apart from 0."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.roles import NUM_ROLES
from doseflow.domain.state import CityState


def staff_by_role(state: CityState) -> FloatArray:
    """People on duty by role, (S, R); NaN where the site's staff is unknown."""
    staff = state.staff
    people = np.zeros((state.city.num_sites, NUM_ROLES))
    np.add.at(people, (staff.site_idx, staff.role_idx), staff.people)
    people[state.source[:, FeatureClass.STAFF_ON_DUTY] == ReadingSource.UNKNOWN] = np.nan
    return people


def doses_on_hand(state: CityState) -> FloatArray:
    """Doses of all products, unopened and in open vials, (S,); NaN where the site's stock is unknown."""
    lots = state.lots
    per_lot = (lots.unopened_doses + lots.open_vial_doses).astype(float)
    doses = np.bincount(lots.site_idx, weights=per_lot, minlength=state.city.num_sites).astype(float)
    doses[state.source[:, FeatureClass.DOSES_ON_HAND] == ReadingSource.UNKNOWN] = np.nan
    return doses


def sum_or_unknown(values: FloatArray) -> FloatArray:
    """Sum of what is known along the last axis; NaN where nothing is."""
    return np.where(np.isnan(values).all(axis=-1), np.nan, np.nansum(values, axis=-1))


def worst_by_site(row_score: FloatArray, site_idx: IntArray, num_sites: int) -> tuple[IntArray, FloatArray]:
    """Row with the highest score of each site, -1 where the site has none, and that score, 0 where none; both (S,)."""
    worst_row = np.full(num_sites, -1, dtype=np.int64)
    worst_score = np.zeros(num_sites)
    rising = np.argsort(row_score, kind="stable")
    # Later writes win, so that rows in rising order leave the highest one standing.
    worst_row[site_idx[rising]] = rising
    worst_score[site_idx[rising]] = row_score[rising]
    return worst_row, worst_score
