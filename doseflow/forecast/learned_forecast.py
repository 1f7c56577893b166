"""LearnedForecast: a trained net says who will come; where it cannot, another forecaster does, and that is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import HORIZON_PERIODS, QUANTILE_LEVELS, ArrivalForecast, ForecastBasis
from doseflow.domain.state import CityState
from doseflow.errors import EngineFailed
from doseflow.forecast.opening_periods import open_periods, opening_window_minutes
from doseflow.ports import Engine, Forecaster

Inputs = Mapping[str, NDArray[Any]]

KNOWN_INPUT = "candidates_known"
"""The input that says which plain expectations of each period can be had, (1, P, T, M)."""
ROUNDING_PEOPLE = 1e-3
"""What the net's arithmetic may be below 0, or a quantile below the one before."""


class LearnedForecast:
    """
    Asks a net about the whole city at once.

    An engine that fails, or an answer that cannot be right, gives the forecast of `fallback` for the whole city, under
    its name and with the reason in `why_this_forecaster`.

    Parameters
    ----------
    inputs_of
        Makes the arrays that the net takes, with one replica, B = 1, and sites padded to P of a bucket.
    max_sites
        Sites that the net was made for; a larger city is forecast by `fallback`. None is any number.
    """

    name = "learned"

    def __init__(
        self,
        engine: Engine,
        fallback: Forecaster,
        inputs_of: Callable[[CityState], Inputs],
        max_sites: int | None = None,
    ) -> None:
        self._engine, self._fallback = engine, fallback
        self._inputs_of, self._max_sites = inputs_of, max_sites

    def __call__(self, state: CityState) -> ArrivalForecast:
        """Quantiles for every site; NaN where no plain expectation of an open period can be had."""
        try:
            return self._asked(state)
        except Exception as error:  # noqa: BLE001 - the boundary of the net: a city gets a forecast every cycle
            reason = f"{self.name} failed: {type(error).__name__}: {error}"
            return replace(self._fallback(state), why_this_forecaster=reason)

    def _asked(self, state: CityState) -> ArrivalForecast:
        num_sites = state.city.num_sites
        if self._max_sites is not None and num_sites > self._max_sites:
            raise EngineFailed(f"{self._engine.name}: sites must be at most {self._max_sites}, got {num_sites}")
        inputs = self._inputs_of(state)
        outputs = self._engine.run(inputs)
        num_levels = len(QUANTILE_LEVELS)
        people = checked_quantiles(outputs, "arrivals_people", num_sites, (HORIZON_PERIODS, num_levels))
        doses = checked_quantiles(outputs, "doses_rest_of_day", num_sites, (num_levels,))
        return _within_hours(state, people, doses, inputs[KNOWN_INPUT][0, :num_sites])


def checked_quantiles(outputs: Inputs, name: str, num_sites: int, shape: tuple[int, ...]) -> FloatArray:
    """
    An output without its padding, (S, ...), not negative and not falling along Q, the last axis.

    Raises
    ------
    EngineFailed
        The output cannot be right.
    """
    output = outputs.get(name)
    if output is None:
        raise EngineFailed(f"{name}: must be among the outputs, got {', '.join(outputs) or 'none'}")
    if output.ndim != 2 + len(shape) or len(output) != 1 or output.shape[1] < num_sites or output.shape[2:] != shape:
        expected = ", ".join(map(str, ("1", f"at least {num_sites}", *shape)))
        raise EngineFailed(f"{name}: must be ({expected}), got {output.shape}")
    values: FloatArray = output[0, :num_sites].astype(np.float64)
    if not np.isfinite(values).all():
        raise EngineFailed(f"{name}: must be finite, got {np.count_nonzero(~np.isfinite(values))} values that are not")
    if values.min(initial=0.0) < -ROUNDING_PEOPLE:
        raise EngineFailed(f"{name}: must be at least 0, got {values.min():.3g}")
    if np.diff(values, axis=-1).min(initial=0.0) < -ROUNDING_PEOPLE:
        raise EngineFailed(f"{name}: must not fall along its quantiles")
    risen: FloatArray = np.maximum.accumulate(np.maximum(values, 0.0), axis=-1)
    return risen


def _within_hours(
    state: CityState, people: FloatArray, doses: FloatArray, is_known: NDArray[np.generic]
) -> ArrivalForecast:
    """The forecast: nobody in closed periods, and NaN where the net was told nothing it could start from."""
    starts, ends = opening_window_minutes(state)
    is_open = open_periods(starts, ends)
    is_unknown = is_open & ~is_known.any(axis=-1)
    people = np.where(is_open[..., None], people, 0.0)
    people[is_unknown] = np.nan
    knows_nothing = is_unknown.any(axis=1)
    # Nothing is known of a day that begins after the horizon.
    opens_later = ~is_open.any(axis=1) & np.isfinite(ends)
    return ArrivalForecast(
        made_at=state.as_of,
        forecaster=LearnedForecast.name,
        arrivals_people=people,
        doses_rest_of_day=np.where((knows_nothing | opens_later)[:, None], np.nan, doses),
        basis=np.where(knows_nothing, ForecastBasis.NOTHING, ForecastBasis.NETWORK).astype(np.int64),
    )
