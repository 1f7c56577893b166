"""Which band a fridge should keep, and how far its temperature is outside."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.state import CityState
from doseflow.domain.storage_band import storage_bands_celsius


def fridge_bands_celsius(state: CityState) -> FloatArray:
    """Lower and upper bound of every fridge, (rows, 2)."""
    return storage_bands_celsius(state.city.products, state.fridges.set_point_celsius)


def degrees_outside_band(state: CityState) -> FloatArray:
    """Degrees above (positive) or below (negative) the band of every fridge, (rows,); 0 inside, NaN unknown."""
    bands = fridge_bands_celsius(state)
    temperature = state.fridges.temperature_celsius
    above = np.maximum(0.0, temperature - bands[:, 1])
    below = np.minimum(0.0, temperature - bands[:, 0])
    return np.asarray(above + below)
