"""How long what lies in a fridge that does not cool is still good."""

from __future__ import annotations

import math
from dataclasses import dataclass

from doseflow.domain.city import FloatArray
from doseflow.domain.state import CityState
from doseflow.units import MINUTES_PER_HOUR


@dataclass(frozen=True, slots=True)
class Warming:
    """
    How a fridge without cooling warms up.

    Parameters
    ----------
    celsius_per_hour
        Steady warming; 1 is assumed, as in the rules of the cold chain.
    holdover_minutes
        What the maker or a trial says of this fridge: time until the contents leave the band; it goes before the rate.
    """

    celsius_per_hour: float = 1.0
    holdover_minutes: float | None = None

    def minutes_to_edge(self, celsius: float, high_celsius: float) -> float:
        """Time until the upper edge of a band; 0 past it, and 0 where the temperature is unknown: no time is sure."""
        if math.isnan(celsius) or celsius >= high_celsius:
            return 0.0
        if self.holdover_minutes is not None:
            return self.holdover_minutes
        return (high_celsius - celsius) / self.celsius_per_hour * MINUTES_PER_HOUR


def minutes_to_loss(state: CityState, warming: Warming) -> FloatArray:
    """
    Minutes until each lot is lost where it lies, were its fridge to stop cooling now, (lots,).

    The way to the edge of the band, and then what is left of the product's excursion budget; NaN in no known fridge. An
    unknown excursion counts as nothing left.
    """
    lots, fridges, products = state.lots, state.fridges, state.city.products
    minutes: FloatArray = lots.expires_epoch_minutes.astype("float64") * math.nan
    for row, fridge_row in enumerate(lots.fridge_row.tolist()):
        if fridge_row < 0:
            continue
        product = products[int(lots.product_idx[row])]
        to_edge = warming.minutes_to_edge(float(fridges.temperature_celsius[fridge_row]), product.storage_high_celsius)
        spent = float(fridges.excursion_minutes[fridge_row])
        left = 0.0 if math.isnan(spent) else max(0.0, product.excursion_budget_minutes - spent)
        minutes[row] = to_edge + left
    return minutes
