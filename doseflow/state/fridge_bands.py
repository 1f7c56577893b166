"""Which band a fridge should keep, and how far its temperature is outside."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.state import CityState

COLD_BAND_CELSIUS = (2.0, 8.0)
"""The usual band of vaccine fridges, taken where no product of the city fits a fridge's set-point."""


def fridge_bands_celsius(state: CityState) -> FloatArray:
    """
    Lower and upper bound of every fridge, (rows, 2).

    It is the narrowest band of the products whose own band holds the fridge's set-point.
    """
    set_points = np.nan_to_num(state.fridges.set_point_celsius, nan=5.0)[:, None]
    lows = np.array([product.storage_low_celsius for product in state.city.products])[None, :]
    highs = np.array([product.storage_high_celsius for product in state.city.products])[None, :]
    fits = (lows <= set_points) & (set_points <= highs)
    low = np.where(fits, lows, -np.inf).max(axis=1)
    high = np.where(fits, highs, np.inf).min(axis=1)
    low = np.where(np.isfinite(low), low, COLD_BAND_CELSIUS[0])
    high = np.where(np.isfinite(high), high, COLD_BAND_CELSIUS[1])
    return np.stack([low, high], axis=1)


def degrees_outside_band(state: CityState) -> FloatArray:
    """Degrees above (positive) or below (negative) the band of every fridge, (rows,); 0 inside, NaN unknown."""
    bands = fridge_bands_celsius(state)
    temperature = state.fridges.temperature_celsius
    above = np.maximum(0.0, temperature - bands[:, 1])
    below = np.minimum(0.0, temperature - bands[:, 0])
    return np.asarray(above + below)
