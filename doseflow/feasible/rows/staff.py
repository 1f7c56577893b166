"""Rows of the rules about people."""

from __future__ import annotations

from collections.abc import Sequence

from doseflow.domain.roles import VACCINATION_IDX
from doseflow.feasible.entries import MoveEntry
from doseflow.feasible.model import NearestModel
from doseflow.feasible.rules.staff import (
    movable_share_people,
    rested_people,
    role_sets,
    team_needed_people,
    teams_touched,
    working_as,
)


def _positions(moves: Sequence[MoveEntry]) -> list[int]:
    return [move.position for move in moves]


def staff_on_hand(model: NearestModel) -> None:
    """People leaving a group are at most its free people."""
    for rows, moves in model.ledger.moves_by_group.items():
        model.sum_at_most(_positions(moves), model.ledger.lookup.group_people(rows))


def staff_qualified(model: NearestModel) -> None:
    """People leaving a group to work as any of some roles are at most its people qualified for one of them."""
    lookup = model.ledger.lookup
    for rows, moves in model.ledger.moves_by_group.items():
        for works_as in role_sets(moves):
            qualified = lookup.qualified_people(rows, works_as, may_still_move=False)
            if qualified < lookup.group_people(rows):
                model.sum_at_most(_positions(working_as(moves, works_as)), qualified)


def moves_per_shift(model: NearestModel) -> None:
    """The same, counting only people who have a move left in their shift."""
    lookup = model.ledger.lookup
    for rows, moves in model.ledger.moves_by_group.items():
        for works_as in role_sets(moves):
            movable = lookup.qualified_people(rows, works_as, may_still_move=True)
            if movable < lookup.qualified_people(rows, works_as, may_still_move=False):
                model.sum_at_most(_positions(working_as(moves, works_as)), movable)


def break_protected(model: NearestModel) -> None:
    """People of a role leaving a site are at most those whose break is not due."""
    for (site_idx, role_idx), moves in model.ledger.moves_out.items():
        model.sum_at_most(_positions(moves), rested_people(model.ledger.lookup, site_idx, role_idx))


def churn_per_role(model: NearestModel) -> None:
    """People of a role leaving a site are at most the share that may, or one."""
    for (site_idx, role_idx), moves in model.ledger.moves_out.items():
        model.sum_at_most(_positions(moves), movable_share_people(model.ledger.lookup, site_idx, role_idx))


def churn_city(model: NearestModel) -> None:
    """All people travelling are at most the city's limit."""
    model.sum_at_most(_positions(model.ledger.moves), model.ledger.lookup.limits.max_city_moved_people)


def minimum_team(model: NearestModel) -> None:
    """Where vaccination stations are open, people leaving and people needed are at most people on duty."""
    lookup, ledger = model.ledger.lookup, model.ledger
    for site_idx, role_idx in teams_touched(ledger):
        moves = _positions(ledger.moves_out.get((site_idx, role_idx), []))
        on_duty = lookup.on_duty[site_idx][role_idx]
        needed = team_needed_people(lookup, site_idx, role_idx)
        position, now = model.stations(site_idx, VACCINATION_IDX)
        if position is not None:
            leaving = [(move, 1.0) for move in moves]
            model.at_most([*leaving, (model.switch([position]), float(needed))], on_duty)
        elif now != 0:
            model.sum_at_most(moves, on_duty - needed)
