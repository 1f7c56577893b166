"""From now to the end of the shift: who comes after the forecast ends, and what waiting counts when."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.policy.look_ahead import late_per_minute, shift_minutes
from doseflow.policy.mpc.params import HORIZON_MINUTES, FluidParams
from doseflow.policy.mpc.time_grid import TimeGrid
from doseflow.policy.situation import Situation
from doseflow.units import PERIOD_MINUTES

HORIZON_LENGTH = round(HORIZON_MINUTES / PERIOD_MINUTES)


def until_shift_ends(situation: Situation, arrivals_people: FloatArray) -> FloatArray:
    """
    Arrivals by period over the whole horizon, (K, S, 72), out of those that are forecast, (K, S, T).

    After the forecast the doses of the day that are not accounted for yet come evenly until closing.
    """
    num_forecast = arrivals_people.shape[-1]
    open_minutes = _open_minutes(situation)
    starts = np.arange(num_forecast, HORIZON_LENGTH) * float(PERIOD_MINUTES)
    in_period = np.clip(open_minutes[:, None] - starts, 0.0, PERIOD_MINUTES)
    late = late_per_minute(situation, open_minutes)[:, None] * in_period
    tail = np.broadcast_to(late, (len(arrivals_people), *late.shape))
    return np.concatenate([arrivals_people, tail], axis=-1)


def counted_minutes(situation: Situation, grid: TimeGrid, params: FluidParams) -> FloatArray:
    """
    Minutes for which who waits at the end of each block counts, (S, B), by the trapezoid rule.

    Waiting counts until the shift ends or the site closes, and less the farther it lies ahead.
    """
    last = float(grid.lengths.sum())
    ends = np.minimum(np.minimum(_open_minutes(situation), shift_minutes(situation)), last)
    fade = 0.5 ** ((grid.starts + grid.lengths / 2) / params.fade_minutes)
    counted = (1.0 - grid.in_effect_share(ends)) * grid.lengths * fade
    is_last = (ends[:, None] > grid.starts) & (ends[:, None] <= grid.starts + grid.lengths)
    at_ends = counted / 2 + is_last * fade * params.terminal_minutes
    at_ends[:, :-1] += counted[:, 1:] / 2
    weights: FloatArray = at_ends
    return weights


def _open_minutes(situation: Situation) -> FloatArray:
    minutes: FloatArray = np.where(situation.standing.operating, situation.state.open_minutes_left, 0.0)
    return minutes
