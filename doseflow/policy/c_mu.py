"""
The c-mu rule over sites with travel: nobody idles while people wait where they could go.

A minute of anybody's waiting costs 1, so that somebody is worth the rate at which they serve a queue, and nothing where
none will wait. With `cost_power` above 1 costs rise with the queue, which makes it the generalised rule.

References
----------
J. A. van Mieghem, Dynamic scheduling with convex delay costs: the generalized c-mu rule, Annals of Applied Probability
5(3), 1995, doi:10.1214/aoap/1177004706.
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
class CMuParams:
    """When a queue is worth a move."""

    look_ahead: LookAheadParams = field(default_factory=LookAheadParams)
    review_minutes: float = 30.0
    """Time at work after which the queue is looked at."""
    least_queue_people: float = 10.0
    """People who must then still wait, for somebody to be sent."""
    cost_power: float = 1.0
    """The cost of a queue is this power of it: 1 is the plain rule."""

    def __post_init__(self) -> None:
        if not 0 <= self.review_minutes <= 240:
            raise ValueError(f"review_minutes: must lie in 0..240, got {self.review_minutes}")
        if not 0 <= self.least_queue_people <= 1000:
            raise ValueError(f"least_queue_people: must lie in 0..1000, got {self.least_queue_people}")
        if not 1 <= self.cost_power <= 3:
            raise ValueError(f"cost_power: must lie in 1..3, got {self.cost_power}")


def c_mu_moves(situation: Situation, params: CMuParams) -> list[StaffMove]:
    """Moves from where somebody would idle to where they serve a queue, the fastest served first."""
    per_minute = 1.0 / np.array(situation.state.city.service_minutes[:OBSERVATION_IDX])

    def price(queues: FloatArray) -> FloatArray:
        return c_mu(queues, per_minute, params)

    worth = ProjectedWorth(situation, params.look_ahead, price, params.review_minutes)
    # Somebody who serves is not taken to serve elsewhere for less than half of the slowest rate.
    return exchange_moves(situation, worth, ExchangeParams(least_net=float(per_minute.min()) / 2))


def c_mu(queues_people: FloatArray, per_minute: FloatArray, params: CMuParams) -> FloatArray:
    """
    Marginal cost times service rate at each stage, (..., R - 1, N), from its queues of the same shape.

    `per_minute` is what one person serves at each stage, (R - 1,).
    """
    waits = queues_people >= max(params.least_queue_people, 1e-9)
    marginal_cost = params.cost_power * np.maximum(queues_people, 1.0) ** (params.cost_power - 1)
    worth: FloatArray = np.where(waits, marginal_cost * per_minute[:, None], 0.0)
    return worth
