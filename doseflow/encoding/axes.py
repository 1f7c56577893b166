"""The letters of array axes, said once; every shape in a docstring uses them."""

from __future__ import annotations

from doseflow.domain.feature_classes import NUM_FEATURE_CLASSES
from doseflow.domain.forecast import HORIZON_PERIODS, QUANTILE_LEVELS
from doseflow.domain.report import PAST_WEEKS
from doseflow.domain.roles import NUM_ROLES

AXES: dict[str, str] = {
    "B": "replicas: cities computed side by side",
    "S": "sites, in the order of the city file",
    "N": "neighbours of a site, nearest first",
    "R": "roles, or the stages they serve",
    "K": "vaccine products, in the order of the city file",
    "T": "periods of five minutes ahead",
    "W": "past weeks, the last week first",
    "Q": "quantiles, rising",
    "F": "features of a site",
    "A": "actions of a site",
}

AXIS_LENGTHS: dict[str, int] = {
    "R": NUM_ROLES,
    "T": HORIZON_PERIODS,
    "W": PAST_WEEKS,
    "Q": len(QUANTILE_LEVELS),
    "17": NUM_FEATURE_CLASSES,
}
"""Axes whose length is the same in every city."""

PRODUCT_SLOTS = 4
"""Products a net tells apart: the first of the city file; all further ones share the last slot."""
