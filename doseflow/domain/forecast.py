"""ArrivalForecast: who will come, as quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from doseflow.domain.city import FloatArray, IntArray

HORIZON_PERIODS = 24
"""Periods of five minutes ahead, axis T: two hours."""
QUANTILE_LEVELS: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Axis Q."""
MEDIAN_IDX = QUANTILE_LEVELS.index(0.5)


class ForecastBasis(IntEnum):
    """What a site's forecast rests on."""

    PAST_WEEKS = 0
    BOOKINGS = 1
    LAST_PERIODS = 2
    """The rate of the latest arrivals, kept."""
    NOTHING = 3
    """Nothing is known of the site: the quantiles are NaN."""
    NETWORK = 4


@dataclass(frozen=True)
class ArrivalForecast:
    """
    Arrivals of the coming 24 periods and doses for the rest of the day.

    Parameters
    ----------
    arrivals_people
        Quantiles of arrivals, (S, T, Q), not negative, not falling along Q; NaN where nothing is known.
    doses_rest_of_day
        Quantiles of doses still to be given today, (S, Q).
    basis
        `ForecastBasis` of each site, (S,).
    paths_people
        Sampled futures of the same arrivals, (K, S, T), each as likely as the others; None where the forecaster draws
        none.
    why_this_forecaster
        Empty unless another forecaster than the chosen one answered.
    made_by
        Which models were asked and why those; empty where the forecaster has none.
    """

    made_at: datetime
    forecaster: str
    arrivals_people: FloatArray
    doses_rest_of_day: FloatArray
    basis: IntArray
    paths_people: FloatArray | None = None
    why_this_forecaster: str = ""
    made_by: str = ""
