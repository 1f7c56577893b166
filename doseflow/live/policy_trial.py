"""PolicyTrial: after each cycle, the other model plans it too, beside the flow, and the two plans are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from doseflow.circuit_breaker import BreakerState, FailureKind
from doseflow.domain.cycle import Cycle
from doseflow.domain.decisions import Decision
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.plan import Infeasible, Proposal
from doseflow.domain.state import CityState
from doseflow.errors import ModelInvalid
from doseflow.feasible.referee import referee
from doseflow.live.beside import Beside
from doseflow.live.released_policy import ReleasedPolicy, ServedProposal, timed_proposal
from doseflow.ports import Feasible, Policy
from doseflow.serve.guarded_engine import GuardedEngine
from doseflow.serve.net_slot import Standing
from doseflow.serve.release_desk import ReleaseDesk
from doseflow.serve.release_gates import Answered, CyclePair

LEAST_AT_STAKE_SHARE = 0.01
"""Of the cost of doing nothing: plans that change less are not worth telling apart."""
PlanCost = Callable[[CityState, ArrivalForecast, Sequence[Decision]], float]


class PolicyTrial:
    """
    Compares what champion and challenger would do with every cycle, as long as there is a challenger.

    Parameters
    ----------
    plan_cost
        What a plan is predicted to cost, the lower the better.
    """

    def __init__(
        self,
        released: ReleasedPolicy,
        desk: ReleaseDesk[Policy],
        feasible: Feasible,
        plan_cost: PlanCost,
        beside: Beside,
    ) -> None:
        self._released, self._desk = released, desk
        self._feasible, self._plan_cost, self._beside = feasible, plan_cost, beside

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

    def _compare(self, served: ServedProposal, cycle: Cycle) -> None:
        standing = served.standing
        other_model = standing.champion if served.by_challenger else standing.challenger
        if other_model is None:
            return
        other_proposal, other_milliseconds = timed_proposal(other_model, cycle.state, cycle.forecast)
        mine = self._answered(cycle, served.proposal, served.milliseconds)
        other = self._answered(cycle, other_proposal, other_milliseconds)
        champion, challenger = (other, mine) if served.by_challenger else (mine, other)
        hard_failure = challenger.hard_failure or self._hard_failure(standing)
        self._desk.take(
            standing,
            CyclePair(
                champion,
                replace(challenger, hard_failure=hard_failure),
                champion_served=not served.by_challenger,
                challenger_served=served.by_challenger,
                cost_scale=self._at_stake(cycle, champion.cost, challenger.cost),
            ),
        )

    def _at_stake(self, cycle: Cycle, *costs: float) -> float:
        """
        The most that either plan changes the cost of doing nothing.

        Most waiting is beyond any plan of one cycle: a share of all of it would hide that one model plans in vain.
        """
        nothing = self._plan_cost(cycle.state, cycle.forecast, ())
        return max(*(abs(nothing - cost) for cost in costs), LEAST_AT_STAKE_SHARE * nothing)

    def _hard_failure(self, standing: Standing[Policy]) -> str:
        return "" if standing.challenger is None else what_no_model_may_do(standing.challenger.engine)

    def _answered(self, cycle: Cycle, proposal: Proposal, milliseconds: float) -> Answered:
        if proposal.why_this_planner:
            return Answered(milliseconds, failure=proposal.why_this_planner)
        state, forecast = cycle.state, cycle.forecast
        objections = sum(one.hard for one in referee(state, forecast, proposal.decisions))
        try:
            plan = self._feasible(state, forecast, proposal)
        except ModelInvalid as error:
            return Answered(milliseconds, objections=objections, hard_failure=f"its plan cannot be allowed: {error}")
        if isinstance(plan, Infeasible):
            return Answered(milliseconds, objections=objections)
        decisions = [planned.decision for planned in plan.decisions]
        broken = [one.sentence for one in referee(state, forecast, decisions) if one.hard]
        hard_failure = f"its plan breaks a rule: {broken[0]}" if broken else ""
        return Answered(milliseconds, self._plan_cost(state, forecast, decisions), objections, "", hard_failure)


def what_no_model_may_do(engine: GuardedEngine) -> str:
    """Why a challenger is rolled back at once, by what its engine has done so far; empty where it is not."""
    view = engine.breaker.view()
    invalid = view.failures_by_kind[FailureKind.INVALID_OUTPUT]
    if invalid:
        return f"answered what cannot be right, {invalid} times"
    if view.state is not BreakerState.CLOSED:
        failed = ", ".join(f"{number} {kind}" for kind, number in view.failures_by_kind.items() if number)
        return f"its breaker is {view.state} after {failed}"
    return ""
