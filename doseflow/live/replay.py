"""Plan a kept cycle again from its stored inputs, and say whether the same plan comes out."""

from __future__ import annotations

from dataclasses import dataclass

from doseflow.domain.plan import Plan
from doseflow.pipeline import Planner, plan_state
from doseflow.ports import Clock, PlanStore
from doseflow.telemetry.stopwatch import Stopwatch


@dataclass(frozen=True)
class Replay:
    """A cycle planned again: the plan, its digest, and the digest that was kept."""

    cycle_id: str
    plan: Plan
    digest: str
    kept_digest: str

    @property
    def is_same(self) -> bool:
        """Whether the plan came out the same."""
        return self.digest == self.kept_digest


def replay(plans: PlanStore, cycle_id: str, planner: Planner, clock: Clock) -> Replay:
    """
    Plan a kept cycle again.

    Raises
    ------
    CycleNotFound
    """
    state, record = plans.cycle_inputs(cycle_id)
    cycle = plan_state(state, (), cycle_id=cycle_id, planner=planner, stopwatch=Stopwatch(clock))
    return Replay(cycle_id, cycle.plan, plans.digest_of(cycle.plan), record["plan_digest"])
