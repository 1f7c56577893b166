"""
MaxPressure over sites with travel: people go where pressure will be highest, from where it will be lowest.

The pressure of a stage is its queue less the next stage's, times how fast one person serves it. Queues are those
projected to when somebody sent now has been at work for a while; who is on the way counts.

References
----------
L. Tassiulas and A. Ephremides, Stability properties of constrained queueing systems and scheduling policies for maximum
throughput in multihop radio networks, IEEE Transactions on Automatic Control 37(12), 1992, doi:10.1109/9.182479.
J. G. Dai and W. Lin, Maximum pressure policies in stochastic processing networks, Operations Research 53(2), 2005,
doi:10.1287/opre.1050.0199.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import StaffMove
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.policy.exchange import ExchangeParams, exchange_moves
from doseflow.policy.look_ahead import LookAheadParams
from doseflow.policy.projected_queues import ProjectedWorth
from doseflow.policy.situation import Situation


@dataclass(frozen=True, slots=True)
class MaxPressureParams:
    """When a difference in pressure is worth a move."""

    look_ahead: LookAheadParams = field(default_factory=LookAheadParams)
    review_minutes: float = 30.0
    """Time at work after which the queue is looked at."""
    least_pressure: float = 5.0
    """Difference in pressure, people times people served a minute, from which on somebody is sent."""
    kept_pressure: float = 0.0
    """Difference above which a move sent before stands."""

    def __post_init__(self) -> None:
        if not 0 <= self.review_minutes <= 240:
            raise ValueError(f"review_minutes: must lie in 0..240, got {self.review_minutes}")
        if not 0 <= self.kept_pressure < self.least_pressure:
            raise ValueError(f"kept_pressure: must lie in 0..least_pressure, got {self.kept_pressure}")


def max_pressure_moves(situation: Situation, params: MaxPressureParams) -> list[StaffMove]:
    """Moves from low pressure to high."""
    per_minute = 1.0 / np.array(situation.state.city.service_minutes[:OBSERVATION_IDX])

    def price(queues: FloatArray) -> FloatArray:
        return pressure(queues, per_minute)

    worth = ProjectedWorth(situation, params.look_ahead, price, params.review_minutes)
    return exchange_moves(situation, worth, ExchangeParams(params.least_pressure, params.kept_pressure))


def pressure(queues_people: FloatArray, per_minute: FloatArray) -> FloatArray:
    """
    Pressure of each stage, (..., R - 1, N), at least 0, from its queues of the same shape.

    `per_minute` is what one person serves at each stage, (R - 1,); behind vaccination nobody queues.
    """
    downstream = np.zeros_like(queues_people)
    downstream[..., :-1, :] = queues_people[..., 1:, :]
    pressures: FloatArray = np.maximum(queues_people - downstream, 0.0) * per_minute[:, None]
    return pressures
