"""Which band of temperature a fridge should keep, from its set-point and the products that a city gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.products import VaccineProduct

COLD_BAND_CELSIUS = (2.0, 8.0)
"""The usual band of vaccine fridges, taken where no product of the city fits a fridge's set-point."""
USUAL_SET_POINT_CELSIUS = 5.0
"""Taken where nobody knows a fridge's set-point."""


def storage_bands_celsius(products: Sequence[VaccineProduct], set_points_celsius: FloatArray) -> FloatArray:
    """
    Lower and upper bound of every fridge, (rows, 2), from set-points, (rows,), NaN unknown.

    It is the narrowest band of the products whose own band holds the fridge's set-point.
    """
    set_points = np.nan_to_num(set_points_celsius, nan=USUAL_SET_POINT_CELSIUS)[:, None]
    lows = np.array([product.storage_low_celsius for product in products])[None, :]
    highs = np.array([product.storage_high_celsius for product in products])[None, :]
    fits = (lows <= set_points) & (set_points <= highs)
    low = np.where(fits, lows, -np.inf).max(axis=1)
    high = np.where(fits, highs, np.inf).min(axis=1)
    low = np.where(np.isfinite(low), low, COLD_BAND_CELSIUS[0])
    high = np.where(np.isfinite(high), high, COLD_BAND_CELSIUS[1])
    return np.stack([low, high], axis=1)
