"""
ForecastScore: past forecasts against what came.

Each cycle the period that ended five minutes before is scored once at each lead, so that reports which come a little
late still count. A lead of 30 minutes is the sixth period of the forecast made half an hour before it ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.state import CityState
from doseflow.forecast.scores import pinball_loss
from doseflow.units import PERIOD_MINUTES, epoch_minutes_from_datetime

LEADS_MINUTES = (30, 60, 120)
SETTLED_PERIODS = 1
"""Periods that late reports are waited for."""
KEPT_FORECASTS = max(LEADS_MINUTES) // PERIOD_MINUTES + SETTLED_PERIODS
WINDOW_CYCLES = 24
"""Cycles of the moving mean: two hours."""


@dataclass(frozen=True, slots=True)
class LeadScore:
    """
    Sums over sites of one period, or over the periods of a window.

    `loss_people` is the pinball loss, mean of the levels; `width_people` the width of the 80 % interval; `covered` the
    number of arrivals that lay within it.
    """

    num_scored: int = 0
    loss_people: float = 0.0
    arrivals_people: float = 0.0
    width_people: float = 0.0
    covered: int = 0

    def __add__(self, other: LeadScore) -> LeadScore:
        return LeadScore(
            self.num_scored + other.num_scored,
            self.loss_people + other.loss_people,
            self.arrivals_people + other.arrivals_people,
            self.width_people + other.width_people,
            self.covered + other.covered,
        )

    @property
    def pinball_people(self) -> float:
        """Mean pinball loss of one period at one site; NaN where nothing was scored."""
        return self.loss_people / self.num_scored if self.num_scored else float("nan")

    @property
    def weighted_loss_share(self) -> float:
        """Twice the loss over all arrivals; NaN where nobody came."""
        return 2 * self.loss_people / self.arrivals_people if self.arrivals_people else float("nan")

    @property
    def coverage_share(self) -> float:
        """Share of arrivals within the 80 % interval, ends included; NaN where nothing was scored."""
        return self.covered / self.num_scored if self.num_scored else float("nan")

    @property
    def loss_over_width(self) -> float:
        """Loss over the width that the forecasts gave themselves: grows when they go stale, whatever the hour."""
        return self.loss_people / self.width_people if self.width_people else float("nan")


def score_period(arrivals_people: FloatArray, quantiles_people: FloatArray) -> LeadScore:
    """
    Score the arrivals of one period, (S,), by their quantiles, (S, Q).

    What is unknown is left out, and so is a forecast without any width: a closed site has nothing to foresee.
    """
    width = quantiles_people[:, -1] - quantiles_people[:, 0]
    is_scored = np.isfinite(arrivals_people) & (width > 0)
    actual, quantiles = arrivals_people[is_scored], quantiles_people[is_scored]
    return LeadScore(
        num_scored=len(actual),
        loss_people=float(pinball_loss(actual, quantiles).mean(axis=-1).sum()),
        arrivals_people=float(actual.sum()),
        width_people=float(width[is_scored].sum()),
        covered=int(((actual >= quantiles[:, 0]) & (actual <= quantiles[:, -1])).sum()),
    )


class ForecastScore:
    """Keeps the forecasts of the last two hours, and the scores of the last two."""

    def __init__(self) -> None:
        self._forecasts: dict[int, FloatArray] = {}
        self._recent: dict[int, deque[LeadScore]] = {lead: deque(maxlen=WINDOW_CYCLES) for lead in LEADS_MINUTES}

    def look(self, state: CityState, forecast: ArrivalForecast) -> Mapping[int, LeadScore]:
        """Scores of the period that has just settled, by lead in minutes; none where no forecast of it is kept."""
        now = int(epoch_minutes_from_datetime(state.as_of) // PERIOD_MINUTES)
        settled = now - 1 - SETTLED_PERIODS
        arrivals = state.recent.arrivals_people[:, -1 - SETTLED_PERIODS]
        scores: dict[int, LeadScore] = {}
        # Two cycles of one period score it once.
        for lead in LEADS_MINUTES if now not in self._forecasts else ():
            ahead = lead // PERIOD_MINUTES - 1
            told = self._forecasts.get(settled - ahead)
            if told is not None:
                scores[lead] = score_period(arrivals, told[:, ahead])
                self._recent[lead].append(scores[lead])
        self._forecasts[now] = forecast.arrivals_people
        self._forecasts = {made: each for made, each in self._forecasts.items() if made > now - KEPT_FORECASTS - 1}
        return scores

    def window(self, lead_minutes: int) -> LeadScore:
        """Sums of the last two hours at a lead."""
        return sum(self._recent[lead_minutes], LeadScore())
