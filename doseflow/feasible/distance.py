"""How far a plan is from a proposal: the weighted sum of what was changed."""

from __future__ import annotations

from doseflow.domain.decisions import Decision, DecisionKind, PreCool, SetPoint, StationChange
from doseflow.domain.roles import STAGE_TO_IDX
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup

WEIGHT: dict[DecisionKind, float] = {
    DecisionKind.STAFF_MOVE: 10.0,  # a person
    DecisionKind.STATION_CHANGE: 4.0,  # a station
    DecisionKind.DOSE_TRANSFER: 1.0,  # a dose
    DecisionKind.FRIDGE_MOVE: 2.0,  # a dose: what stays in a failing fridge is lost
    DecisionKind.PRE_COOL: 20.0,  # a fridge
    DecisionKind.MARK_UNUSABLE: 2.0,  # a dose: what is not taken out of use may be given
    DecisionKind.SET_POINT: 20.0,  # a fridge
    DecisionKind.RELEASE_SLOTS: 1.0,  # an appointment
    DecisionKind.HOLD_SLOTS: 1.0,  # an appointment
    DecisionKind.TELL_ARRIVAL_TIME: 0.5,  # a person
    DecisionKind.SEND_WALK_INS: 1.5,  # a person
}
"""What it costs to change a proposal by one unit: how much worse off the city is without it, as an order of size."""


def asked_quantity(decision: Decision) -> int:
    """What a sound decision asks for in its own unit; a setting counts as one, whatever its temperature."""
    return 1 if isinstance(decision, SetPoint | PreCool) else int(decision.quantity)


def present_quantity(lookup: StateLookup, decision: Decision) -> int:
    """What holds without the decision: the stations open now, and 0 of everything else."""
    if not isinstance(decision, StationChange):
        return 0
    site_idx, stage_idx = lookup.city.site_to_idx.get(decision.site_id), STAGE_TO_IDX.get(decision.stage)
    now = None if site_idx is None or stage_idx is None else lookup.open_now(site_idx, stage_idx)
    return now or 0


def distance(proposed: Ledger, planned: Ledger) -> float:
    """
    Weighted sum, over everything asked for or ordered, of the difference in quantity.

    A proposed decision that means nothing, names nothing known, or was asked for before counts as one unit.
    """
    lookup, total = proposed.lookup, 0.0
    for position, decision in enumerate(proposed.decisions):
        if not proposed.counts(position):
            total += WEIGHT[decision.kind]
            continue
        kept = planned.position_of_same(proposed, position)
        total += _cost(lookup, decision, None if kept is None else planned.decisions[kept])
    for position, decision in enumerate(planned.decisions):
        if proposed.position_of_same(planned, position) is None:
            total += WEIGHT[decision.kind] * abs(asked_quantity(decision) - present_quantity(lookup, decision))
    return total


def _cost(lookup: StateLookup, decision: Decision, kept: Decision | None) -> float:
    """What it costs that of a proposed decision only `kept` is planned."""
    if kept is decision:
        return 0.0
    weight = WEIGHT[decision.kind]
    if kept is None:
        return weight * abs(asked_quantity(decision) - present_quantity(lookup, decision))
    if isinstance(decision, SetPoint | PreCool):
        return weight * (kept.quantity != decision.quantity)
    return weight * abs(asked_quantity(decision) - asked_quantity(kept))
