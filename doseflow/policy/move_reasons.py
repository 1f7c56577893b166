"""Why a move is proposed: the figures behind it, for people to read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.decisions import StaffMove, Why
from doseflow.domain.roles import NUM_ROLES, OBSERVATION_IDX, ROLE_TO_IDX
from doseflow.policy.queueing import fluid_queue_people, wait_of_queue_minutes
from doseflow.policy.situation import Situation, serving_people
from doseflow.units import PERIOD_MINUTES


def serving_now(situation: Situation) -> FloatArray:
    """People who serve at this moment, (S, R), NaN where unknown."""
    state = situation.state
    return serving_people(situation.heads.now_people, state.stations_open, situation.standing.staff_fresh)


def with_reasons(situation: Situation, relief_wait_minutes: float, moves: list[StaffMove]) -> list[StaffMove]:
    """
    The same moves with the figures behind them; what people wait is the wait now, not the one that is feared.

    From `relief_wait_minutes` on a move is said to relieve a queue, below that to fill a gap if the rules see one.
    """
    if not moves:
        return []
    waits = _waits_now(situation)
    sites = situation.state.city.site_to_idx
    cells = np.array([(sites[move.to_site_id], ROLE_TO_IDX[move.works_as]) for move in moves])
    to_idx, role_idx = cells.T
    wait = waits[to_idx, role_idx].round(1).tolist()
    giver_wait = waits[[sites[move.from_site_id] for move in moves]].max(axis=1).round(1).tolist()
    saving = (
        _saved_person_minutes(situation, to_idx, role_idx, np.array([move.people for move in moves])).round(1).tolist()
    )
    needed = situation.needs.target_people[to_idx, role_idx].tolist()
    on_duty = situation.heads.staying_people[to_idx, role_idx].tolist()
    reasoned = []
    for position, move in enumerate(moves):
        has_enough = on_duty[position] >= needed[position]
        if has_enough or waits[to_idx[position], role_idx[position]] >= relief_wait_minutes:
            facts = {"wait_minutes": wait, "giver_wait_minutes": giver_wait, "expected_saving_minutes": saving}
            code = "queue_relief"
        else:
            facts, code = {"needed_people": needed, "on_duty_people": on_duty}, "understaffed"
        reasoned.append(replace(move, why=Why(code, {name: values[position] for name, values in facts.items()})))
    return reasoned


def _saved_person_minutes(situation: Situation, to_idx: IntArray, role_idx: IntArray, arriving: IntArray) -> FloatArray:
    """
    Waiting of the coming two hours that so many more people save, the area between two fluid queues, (moves,).

    It is 0 for observers, since nobody queues for a seat, and where the queue is unknown.
    """
    stage_idx = np.minimum(role_idx, OBSERVATION_IDX - 1)
    queue = np.cumsum(situation.state.waiting_people[to_idx], axis=1)[np.arange(len(to_idx)), stage_idx]
    servers = serving_now(situation)[to_idx, stage_idx]
    per_period = PERIOD_MINUTES / np.array(situation.state.city.service_minutes)[stage_idx]
    arrivals = situation.arrivals_people[to_idx]
    before, after = (
        fluid_queue_people(queue, arrivals, people * per_period).sum(axis=-1) * PERIOD_MINUTES
        for people in (servers, servers + arriving)
    )
    return np.where(role_idx < OBSERVATION_IDX, np.nan_to_num(before - after), 0.0)


def _waits_now(situation: Situation) -> FloatArray:
    """Wait of who joins the queue of each stage now, (S, R); 0 for observation and where it is unknown."""
    waits = np.zeros((situation.state.city.num_sites, NUM_ROLES))
    queue = np.cumsum(situation.state.waiting_people[:, :OBSERVATION_IDX], axis=1)
    service_minutes = np.array(situation.state.city.service_minutes[:OBSERVATION_IDX])
    servers = serving_now(situation)[:, :OBSERVATION_IDX]
    waits[:, :OBSERVATION_IDX] = np.nan_to_num(wait_of_queue_minutes(queue, servers / service_minutes))
    return waits
