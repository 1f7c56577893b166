"""Orders out of whole people: which group of staff goes, as far as the staff pool lets them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from doseflow.domain.city import IntArray
from doseflow.domain.decisions import StaffMove, Why
from doseflow.domain.roles import ROLES
from doseflow.policy.move_desk import MoveDesk
from doseflow.policy.mpc.arcs import Arcs
from doseflow.units import datetime_from_epoch_minutes


def send_people(desk: MoveDesk, arcs: Arcs, people: IntArray) -> list[StaffMove]:
    """Book people, (J,), with the pool, which has the last word, and make moves of them, the largest first."""
    moves: dict[tuple[str, ...], StaffMove] = {}
    taken_keys = {*desk.situation.orders.barred_keys, *(move.key for move in desk.kept)}
    for arc in np.argsort(-people, kind="stable")[: int((people > 0).sum())].tolist():
        for move in _moves_over(desk, arcs, arc, int(people[arc]), taken_keys):
            before = moves.get(move.key)
            moves[move.key] = replace(move, people=move.people + (before.people if before else 0))
    return list(moves.values())


def _moves_over(
    desk: MoveDesk, arcs: Arcs, arc: int, people: int, taken_keys: set[tuple[str, ...]]
) -> Iterator[StaffMove]:
    """One move for each group of the arc's own role that goes; the desk itself would take any role that may help."""
    state = desk.situation.state
    from_idx, works_as, travel = int(arcs.from_idx[arc]), int(arcs.as_idx[arc]), float(arcs.travel_minutes[arc])
    for row in desk.pool.rows_for(from_idx, works_as, travel):
        if people < 1:
            return
        if state.staff.role_idx[row] != arcs.role_idx[arc]:
            continue
        move = StaffMove(
            from_site_id=state.city.sites[from_idx].site_id,
            to_site_id=state.city.sites[int(arcs.to_idx[arc])].site_id,
            role=ROLES[arcs.role_idx[arc]],
            works_as=ROLES[works_as],
            shift_ends_at=datetime_from_epoch_minutes(float(state.staff.shift_ends_epoch_minutes[row])),
            people=0,
            travel_minutes=travel,
            why=Why("understaffed"),
        )
        taken = 0 if move.key in taken_keys else desk.pool.take_up_to(row, from_idx, people)
        if taken:
            people -= taken
            yield replace(move, people=taken)
