"""
The index planner: what one person more or fewer saves or costs by the fluid queue, and the exchange that gains most.

References
----------
P. Whittle, Restless bandits: activity allocation in a changing world, Journal of Applied Probability 25A, 1988,
doi:10.2307/3214163: a price for one unit more at each place, in place of the joint problem. H. Chen and A. Mandelbaum,
Discrete flow networks: bottleneck analysis and fluid approximations, Mathematics of Operations Research 16(2), 1991,
doi:10.1287/moor.16.2.408: the stages in series as fluid.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from doseflow.domain.decisions import StaffMove
from doseflow.policy.exchange import ExchangeParams, exchange_moves, least_people
from doseflow.policy.look_ahead import LookAheadParams
from doseflow.policy.person_values import PersonValues
from doseflow.policy.situation import Situation


@dataclass(frozen=True, slots=True)
class IndexParams:
    """When a move is worth it."""

    look_ahead: LookAheadParams = field(default_factory=LookAheadParams)
    least_gain_minutes: float = 300.0
    """Person-minutes that a new move must save, each person; people may be moved once a shift, so it has its price."""
    kept_gain_minutes: float = 0.0
    """Person-minutes that a move sent before must still save to stand."""
    worst_wait_first: bool = True
    """Whether nobody is taken from where people are seen to wait longer."""

    def __post_init__(self) -> None:
        for name in ("least_gain_minutes", "kept_gain_minutes"):
            if not 0 <= getattr(self, name) <= 10_000:
                raise ValueError(f"{name}: must lie in 0..10000, got {getattr(self, name)}")
        if not self.least_gain_minutes > self.kept_gain_minutes:
            raise ValueError("least_gain_minutes: must be more than kept_gain_minutes, or plans would flap")

    def exchange(self) -> ExchangeParams:
        """The same as the exchange takes it."""
        return ExchangeParams(
            least_net=self.least_gain_minutes,
            kept_net=self.kept_gain_minutes,
            worst_wait_first=self.worst_wait_first,
            is_in_minutes=True,
        )


def index_moves(situation: Situation, params: IndexParams) -> list[StaffMove]:
    """Moves that save the most waiting until the end of the shift, by the fluid queue."""
    values = PersonValues(situation, params.look_ahead, params.least_gain_minutes)
    return exchange_moves(situation, values, params.exchange(), kept_people=least_people(situation))
