"""Samples for the programmes: tiny fluid cities, and a city followed person-minute by person-minute in plain Python."""

from __future__ import annotations

from itertools import product

import numpy as np

from doseflow.domain.roles import NUM_ROLES
from doseflow.policy.mpc.arcs import Arcs
from doseflow.policy.mpc.fluid_city import FluidCity
from doseflow.policy.mpc.givers import Givers
from doseflow.policy.mpc.margins import Margins
from doseflow.policy.mpc.programme import FluidProgramme, Stakes
from doseflow.policy.mpc.time_grid import TimeGrid

SERVICE_MINUTES = (4.0, 3.0, 4.0, 1.0)


def tiny_city(grid, people, waiting, arrivals_per_minute, *, most=None, futures=1, rng=None):
    """`people` (S, R), `waiting` by stage (S, 3), `arrivals_per_minute` (S,); futures differ only where `rng` is."""
    people, waiting = np.asarray(people, dtype=float), np.asarray(waiting, dtype=float)
    blocks = len(grid.lengths)
    rate = np.broadcast_to(np.asarray(arrivals_per_minute, dtype=float)[None, :, None], (futures, len(people), blocks))
    if rng is not None:
        rate = rate * rng.uniform(0.4, 1.6, rate.shape)
    per_minute = 1 / np.array(SERVICE_MINUTES)
    served = np.broadcast_to(per_minute[None, :, None] * grid.lengths, (*people.shape, blocks)).copy()
    return FluidCity(
        grid=grid,
        known=np.ones(len(people), dtype=bool),
        queue_people=np.cumsum(waiting, axis=1),
        arrivals_people=rate * grid.lengths,
        present_people=np.repeat(people[..., None], blocks, axis=2),
        most_people=np.full(people.shape, 50.0) if most is None else np.asarray(most, dtype=float),
        served_per_person=served,
    )


def all_arcs(city, travel_minutes=5.0, roles=(0, 1, 2)):
    """Everybody may go everywhere, in their own role."""
    num = len(city.known)
    rows = [(i, role, j, role) for i in range(num) for j in range(num) if i != j for role in roles]
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return Arcs(*table.T, np.full(len(rows), float(travel_minutes)), np.full(len(rows), 50.0))


def all_may_go(city, keep=0.0):
    """Every site may let go all but `keep` people of each role."""
    people = np.maximum(np.floor(city.present_people[..., 0] - keep), 0.0)
    qualified = people[..., None] * np.eye(NUM_ROLES)
    return Givers(people, people, qualified, np.full(qualified.shape, 300.0))


def stakes_of(city, arcs, *, move_minutes=1.0, terminal_minutes=10.0, missing_minutes=None, targets=None, most=60.0):
    """What counts; without margins unless they are given."""
    lengths = city.grid.lengths
    waiting = (lengths + np.append(lengths[1:], 0.0)) / 2
    waiting[-1] += terminal_minutes
    # Sites differ in what counts, as they differ in when they close.
    waiting = waiting * np.linspace(1.0, 0.7, len(city.known))[:, None]
    shape = (1, *city.most_people.shape)
    return Stakes(
        move_minutes=np.full(len(arcs), move_minutes),
        waiting_minutes=waiting,
        margins=Margins(
            np.zeros(shape) if targets is None else targets,
            np.zeros((1, NUM_ROLES)) if missing_minutes is None else missing_minutes,
        ),
        city_people=most,
    )


def whole_programme(city, arcs, givers, stakes):
    """The programme of every cell, nothing left out."""
    return FluidProgramme(city, arcs, givers, np.ones(city.most_people.shape, dtype=bool), stakes)


def plain_minutes(city, arcs, stakes, sent):
    """
    Person-minutes that moves cost and leave, followed one site, future and block at a time without arrays.

    `sent` is (K, J, D). Here people queue stage by stage, unlike in the programme, which adds the stages up.
    """
    total = 0.0
    for future in range(len(city.arrivals_people)):
        for site in range(len(city.known)):
            total += _site_minutes(city, arcs, stakes, sent[future], future, site)
        total += sum(sent[future, arc].sum() * stakes.move_minutes[arc] for arc in range(len(arcs)))
    return total / len(city.arrivals_people)


def _site_minutes(city, arcs, stakes, sent, future, site):
    total, queues = 0.0, [city.queue_people[site, 0], *np.diff(city.queue_people[site])]
    for block, length in enumerate(city.grid.block_minutes):
        can = []
        for role in range(NUM_ROLES):
            people = city.present_people[site, role, block] + _change(city.grid, arcs, sent, site, role, block)
            can.append(min(people, city.most_people[site, role]) * length / SERVICE_MINUTES[role])
        can[2] = min(can[2], can[3])
        coming = city.arrivals_people[future, site, block]
        for stage in range(3):
            waiting = queues[stage] + coming
            coming = min(waiting, can[stage])
            queues[stage] = waiting - coming
        total += sum(queues) * stakes.waiting_minutes[site, block]
    return total


def _change(grid, arcs, sent, site, role, block):
    """People whom moves have brought to a site and role in a block, less those whom they took away."""
    change = 0.0
    for arc, position in product(range(len(arcs)), range(len(grid.decision_blocks))):
        decided = sum(grid.block_minutes[: grid.decision_blocks[position]])
        out_at = decided + (grid.set_out_minutes if grid.has_delays else 0.0)
        in_at = out_at + (arcs.travel_minutes[arc] + grid.begin_minutes if grid.has_delays else 0.0)
        if (arcs.from_idx[arc], arcs.role_idx[arc]) == (site, role):
            change -= sent[arc, position] * _share_after(grid, block, out_at)
        if (arcs.to_idx[arc], arcs.as_idx[arc]) == (site, role):
            change += sent[arc, position] * _share_after(grid, block, in_at)
    return change


def _share_after(grid, block, minutes):
    start = sum(grid.block_minutes[:block])
    length = grid.block_minutes[block]
    return min(max(start + length - minutes, 0.0), length) / length


GRID = TimeGrid((5.0, 5.0, 5.0), (0, 1), set_out_minutes=0.0, begin_minutes=0.0)
"""Three periods; who leaves now is there one period later when the way takes five minutes."""
