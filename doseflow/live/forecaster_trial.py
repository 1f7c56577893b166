"""
ForecasterTrial: both nets forecast every cycle, and each is held to what then came.

Every cycle tells who came in one period more, and all forecasts of that period, made up to an hour before, are scored
on it. So each pair of costs rests on arrivals that no earlier pair has seen, which the sequential tests need.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.cycle import Cycle
from doseflow.domain.forecast import ArrivalForecast
from doseflow.forecast.scores import crps_of_quantiles
from doseflow.live.beside import Beside
from doseflow.live.policy_trial import what_no_model_may_do
from doseflow.live.released_forecaster import ReleasedForecaster, ServedForecast, TimedForecast, timed_forecast
from doseflow.ports import Forecaster
from doseflow.serve.net_slot import Standing
from doseflow.serve.release_desk import ReleaseDesk
from doseflow.serve.release_gates import Answered, CyclePair
from doseflow.units import PERIOD_MINUTES, epoch_minutes_from_datetime

SCORED_PERIODS = 12
"""Periods ahead that count: the hour that plans lean on most."""


@dataclass(frozen=True)
class _Kept:
    """Two forecasts of one cycle; `period` is the first that they are about."""

    revision: int
    period: int
    champion: ArrivalForecast
    challenger: ArrivalForecast


class ForecasterTrial:
    """Compares the two nets on every site, whoever answers for its district."""

    def __init__(self, released: ReleasedForecaster, desk: ReleaseDesk[Forecaster], beside: Beside) -> None:
        self._released, self._desk, self._beside = released, desk, beside
        self._kept: deque[_Kept] = deque(maxlen=SCORED_PERIODS)

    def after_cycle(self, cycle: Cycle) -> None:
        """Roll back at once what failed for the city; compare the rest beside the flow."""
        served = self._released.latest
        if served is None or served.as_of != cycle.state.as_of or served.standing.challenger is None:
            return
        hard_failure = what_no_model_may_do(served.standing.challenger.engine)
        if hard_failure:
            self._desk.roll_back(served.standing, hard_failure)
            return
        self._beside.offer(lambda: self._compare(served, cycle))

    def _compare(self, served: ServedForecast, cycle: Cycle) -> None:
        standing = served.standing
        if standing.challenger is None:
            return
        challenger = served.challenger or timed_forecast(standing.challenger, cycle.state)
        period = _period(cycle)
        costs = self._costs(standing, cycle.state.recent.arrivals_people[:, -1], period)
        hard_failure = what_no_model_may_do(standing.challenger.engine)
        self._desk.take(
            standing,
            CyclePair(
                _answered(served.champion, costs[0], ""),
                _answered(challenger, costs[1], hard_failure),
                served.champion_served,
                served.challenger_served,
            ),
        )
        forecasts = served.champion.forecast, challenger.forecast
        if not any(one.why_this_forecaster for one in forecasts):
            self._kept.append(_Kept(standing.aliases.revision, period, *forecasts))

    def _costs(self, standing: Standing[Forecaster], came_people: FloatArray, period: int) -> tuple[float, float]:
        """Mean CRPS of both in the period that has just passed; NaN where neither or only one can be scored."""
        sums: FloatArray = np.zeros(2)
        count = 0
        for kept in self._kept:
            ahead = period - 1 - kept.period
            if kept.revision != standing.aliases.revision or not 0 <= ahead < SCORED_PERIODS:
                continue
            scores = np.array(
                [
                    crps_of_quantiles(came_people, one.arrivals_people[:, ahead])
                    for one in (kept.champion, kept.challenger)
                ]
            )
            is_known = np.isfinite(scores).all(axis=0)
            sums += scores[:, is_known].sum(axis=1)
            count += int(is_known.sum())
        if not count:
            return float("nan"), float("nan")
        return float(sums[0] / count), float(sums[1] / count)


def _period(cycle: Cycle) -> int:
    return int(epoch_minutes_from_datetime(cycle.state.as_of) // PERIOD_MINUTES)


def _answered(timed: TimedForecast, cost: float, hard_failure: str) -> Answered:
    return Answered(timed.milliseconds, cost, failure=timed.forecast.why_this_forecaster, hard_failure=hard_failure)
