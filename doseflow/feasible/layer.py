"""The door of the room: a proposal goes in, a plan or `Infeasible` comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.plan import Infeasible, Plan, PlannedDecision, Proposal, RepairPath, Violation
from doseflow.domain.state import CityState
from doseflow.errors import ModelInvalid
from doseflow.feasible.clash import find_clash, mandatory_decisions
from doseflow.feasible.distance import distance
from doseflow.feasible.explanations import explain, explain_change, explain_drop
from doseflow.feasible.highs import NoSolution
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup
from doseflow.feasible.referee import hard_violations, soft_violations
from doseflow.feasible.repair import nearest_decisions
from doseflow.feasible.trimming import trimmed_decisions

MILLISECONDS_PER_SECOND = 1000
REPLAY_SECONDS = 60.0
"""Time limit of a replay that must take the solver's path again, however slow its machine."""


@dataclass(frozen=True)
class FeasibleParams:
    """
    How long the repair may take.

    Parameters
    ----------
    time_limit_milliseconds
        Of the solver, 0..10,000; at 0 it is never asked and proposals are trimmed.
    force_path
        Take this path of repair, whatever the time: what a replay does with the path on record.
    """

    time_limit_milliseconds: float = 30.0
    force_path: RepairPath | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.time_limit_milliseconds <= 10_000:
            raise ValueError(f"time_limit_milliseconds: must lie in 0..10000, got {self.time_limit_milliseconds}")


@dataclass(frozen=True, slots=True)
class _Repaired:
    planned: Ledger
    path: RepairPath


class FeasibleLayer:
    """Turns a proposal into the nearest allowed plan; the same state and proposal give the same plan."""

    def __init__(self, params: FeasibleParams | None = None) -> None:
        self.params = params or FeasibleParams()

    def __call__(self, state: CityState, forecast: ArrivalForecast, proposal: Proposal) -> Plan | Infeasible:
        """
        The nearest allowed plan, or the rules that clash.

        Raises
        ------
        ModelInvalid
            Our own programme was refused by the solver, or the plan by the referee: a defect.
        """
        asked = Ledger(StateLookup(state), forecast, proposal.decisions)
        found = hard_violations(asked)
        outcome = self._repair(asked, found)
        if isinstance(outcome, Infeasible):
            return outcome
        return _plan(proposal.planner, asked, found, outcome)

    def _repair(self, asked: Ledger, found: Sequence[Violation]) -> _Repaired | Infeasible:
        forced = self.params.force_path
        if not found and forced in {None, RepairPath.UNTOUCHED}:
            return _Repaired(asked, RepairPath.UNTOUCHED)
        if forced not in {RepairPath.TRIMMED, RepairPath.HELD} and self._solver_seconds > 0:
            nearest = nearest_decisions(asked, found, asked.lookup.state.commitments.pinned, self._solver_seconds)
            if nearest is NoSolution.IMPOSSIBLE:
                return find_clash(asked.lookup, asked.forecast)
            if not isinstance(nearest, NoSolution):
                planned = Ledger(asked.lookup, asked.forecast, nearest)
                if not hard_violations(planned):
                    return _Repaired(planned, RepairPath.SOLVER)
        return _trimmed(asked)

    @property
    def _solver_seconds(self) -> float:
        if self.params.force_path is RepairPath.SOLVER:
            return REPLAY_SECONDS
        return self.params.time_limit_milliseconds / MILLISECONDS_PER_SECOND


def _trimmed(asked: Ledger) -> _Repaired | Infeasible:
    mandatory = mandatory_decisions(asked.lookup, asked.forecast)
    if isinstance(mandatory, Infeasible):
        return mandatory
    planned = Ledger(
        asked.lookup, asked.forecast, trimmed_decisions(asked.lookup, asked.forecast, asked.decisions, mandatory)
    )
    objections = hard_violations(planned)
    if objections:
        raise ModelInvalid(f"the referee refuses a trimmed plan: {objections[0].rule}: {objections[0].sentence}")
    return _Repaired(planned, RepairPath.TRIMMED)


def _plan(planner: str, asked: Ledger, found: Sequence[Violation], repaired: _Repaired) -> Plan:
    state, planned, path = asked.lookup.state, repaired.planned, repaired.path
    return Plan(
        planner=planner,
        as_of=state.as_of,
        decisions=tuple(_planned(asked, planned, position) for position in range(len(planned.decisions))),
        repair_path=path,
        distance=0.0 if path is RepairPath.UNTOUCHED else distance(asked, planned),
        dropped=() if path is RepairPath.UNTOUCHED else tuple(_dropped(asked, found, planned)),
        soft_violations=tuple(soft_violations(planned)),
    )


def _planned(asked: Ledger, planned: Ledger, position: int) -> PlannedDecision:
    decision = planned.decisions[position]
    reasons = explain(decision, asked.lookup.state, asked.forecast)
    asked_at = asked.position_of_same(planned, position)
    wanted = None if asked_at is None else float(asked.decisions[asked_at].quantity)
    if wanted is not None and wanted != decision.quantity:
        reasons = explain_change(reasons, wanted, decision.quantity)
    return PlannedDecision(decision, *reasons, wanted)


def _dropped(asked: Ledger, found: Sequence[Violation], planned: Ledger) -> list[PlannedDecision]:
    """Proposed decisions that the plan does not hold, each with the rule that stopped it."""
    gone = [
        position
        for position in range(len(asked.decisions))
        if not asked.counts(position) or planned.position_of_same(asked, position) is None
    ]
    stopped_by = _first_named(found)
    unnamed = [position for position in gone if position not in stopped_by]
    stopped_by |= _in_the_way(planned, asked, unnamed)
    return [_explained_drop(asked, position, stopped_by.get(position)) for position in gone]


def _explained_drop(asked: Ledger, position: int, violation: Violation | None) -> PlannedDecision:
    decision = asked.decisions[position]
    reasons = explain_drop(decision, asked.lookup.state, violation)
    return PlannedDecision(decision, *reasons, float(decision.quantity))


def _first_named(found: Sequence[Violation]) -> dict[int, Violation]:
    named: dict[int, Violation] = {}
    for violation in found:
        for position in violation.decision_idx:
            named.setdefault(position, violation)
    return named


def _in_the_way(planned: Ledger, asked: Ledger, positions: Sequence[int]) -> dict[int, Violation]:
    """For decisions that no rule objected to in the proposal: the first rule that the plan would break with them."""
    if not positions:
        return {}
    decisions = [*planned.decisions, *(asked.decisions[position] for position in positions)]
    found = _first_named(hard_violations(Ledger(planned.lookup, planned.forecast, decisions)))
    first = len(planned.decisions)
    return {position: found[first + idx] for idx, position in enumerate(positions) if first + idx in found}
