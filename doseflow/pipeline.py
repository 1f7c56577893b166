"""
plan_once(): reports -> state -> forecast -> proposal -> feasible plan -> orders.

The sentence that doseflow is, on one page. It has no clock and no I/O of its own: the same state gives the same plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from doseflow.dispatch.order_difference import orders_from_difference
from doseflow.domain.city import FloatArray
from doseflow.domain.cycle import Cycle
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.orders import Commitments, Order
from doseflow.domain.plan import Infeasible, Plan, Proposal, RepairPath
from doseflow.domain.report import ReceivedReport
from doseflow.domain.state import CityState
from doseflow.ports import Feasible, Forecaster, Policy
from doseflow.state.fold import fold
from doseflow.telemetry.stopwatch import Stopwatch


@dataclass(frozen=True)
class Planner:
    """What answers the three questions of a cycle: who will come, what would be good, what is allowed."""

    forecaster: Forecaster
    policy: Policy
    feasible: Feasible


def plan_once(
    previous: CityState,
    reports: Sequence[ReceivedReport],
    arrivals_past_weeks_people: FloatArray,
    commitments: Commitments,
    open_orders: Sequence[Order],
    *,
    cycle_id: str,
    as_of: datetime,
    planner: Planner,
    stopwatch: Stopwatch,
) -> Cycle:
    """
    Fold the reports into the state and plan the city once.

    Parameters
    ----------
    arrivals_past_weeks_people
        Arrivals in the coming 24 periods of past weeks, (S, W, T), NaN unknown.
    open_orders
        Orders not in a final state; what the plan is compared with.
    as_of
        The moment planned for, aware.
    """
    with stopwatch.stage("state"):
        state = fold(previous, reports, arrivals_past_weeks_people, commitments, as_of)
    return plan_state(state, open_orders, cycle_id=cycle_id, planner=planner, stopwatch=stopwatch)


def plan_state(
    state: CityState, open_orders: Sequence[Order], *, cycle_id: str, planner: Planner, stopwatch: Stopwatch
) -> Cycle:
    """Plan a state that is already folded: what `doseflow replay` and `doseflow plan` do."""
    with stopwatch.stage("forecast"):
        forecast = planner.forecaster(state)
    with stopwatch.stage("policy"):
        proposal, failure = propose(planner.policy, state, forecast)
    with stopwatch.stage("feasible"):
        outcome = planner.feasible(state, forecast, proposal)
        plan = outcome if isinstance(outcome, Plan) else hold_everything(state, outcome)
        why = plan.why_this_planner or failure or proposal.why_this_planner
        plan = replace(plan, why_this_planner=why, made_by=_made_by(plan.planner, why, proposal.made_by))
    with stopwatch.stage("orders"):
        new_orders, withdrawn = orders_from_difference(plan, open_orders, cycle_id)
    return Cycle(
        cycle_id=cycle_id,
        started_at=state.as_of,
        state=state,
        forecast=forecast,
        proposal=proposal,
        plan=plan,
        infeasible=outcome if isinstance(outcome, Infeasible) else None,
        new_orders=new_orders,
        withdrawn_order_ids=withdrawn,
        stage_milliseconds=stopwatch.stage_milliseconds,
    )


def propose(policy: Policy, state: CityState, forecast: ArrivalForecast) -> tuple[Proposal, str]:
    """What the policy would like; where it fails, nothing, and the reason, which stands on the plan."""
    try:
        return policy(state, forecast), ""
    except Exception as error:  # noqa: BLE001 - the boundary of the policy: a city gets an answer every cycle
        return Proposal("hold", ()), f"{policy.name} failed: {type(error).__name__}: {error}"


def _made_by(planner: str, why_another: str, model: str) -> str:
    if why_another:
        return f"{planner}, since {why_another}" + (f" (asked: {model})" if model else "")
    return f"{planner}, which the settings choose" + (f", with {model}" if model else "")


def hold_everything(state: CityState, infeasible: Infeasible) -> Plan:
    """The plan that changes nothing, saying why."""
    return Plan(
        planner="hold",
        as_of=state.as_of,
        decisions=(),
        repair_path=RepairPath.HELD,
        distance=0.0,
        why_this_planner="no plan is allowed: " + "; ".join(infeasible.sentences),
    )
