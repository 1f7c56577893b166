"""
The decision matrix as arrays, for whoever steps many cities at once: what each site asks of each of its neighbours.

Axes: B replicas, S sites, K neighbours in the order of `City.neighbour_idx`, R roles, F fridges. Everything else of the
decision matrix (single lots, slots, arrival times) goes through orders, one city at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from doseflow.domain.city import City
from doseflow.simulate.arrays import namespace
from doseflow.simulate.draws import Array
from doseflow.simulate.world import World


@dataclass(frozen=True)
class DecisionArrays:
    """
    One decision for every replica, whole numbers; what cannot be done is left undone, down to the last unit.

    Parameters
    ----------
    people_asked
        People that each site asks of each neighbour, by the role they work as, (B, S, K, R).
    vials_asked
        Vials that each site asks of each neighbour, (B, S, K): the first to expire of those that live long enough, by
        a van that stands there.
    walk_ins_sent
        Walk-ins of the coming half hour that each site sends to each neighbour, (B, S, K).
    stations_open
        Stations wanted open, (B, S, R); None opens one for everybody on duty.
    set_point_celsius
        Set-point of each fridge, (B, S, F); None leaves them.
    """

    people_asked: Array
    vials_asked: Array
    walk_ins_sent: Array
    stations_open: Array | None = None
    set_point_celsius: Array | None = None


@dataclass(frozen=True)
class Neighbourhood:
    """
    Who can help whom, (S, K), and the same seen from the giver.

    `asker` and `asker_slot` are the pairs (site, k) that name a site as their neighbour, (S, J), -1 where there are
    fewer.
    """

    neighbour_idx: Array
    travel_minutes: Array
    asker: Array
    asker_slot: Array
    minimum_team_people: Array
    max_moved_share: float
    min_stay_minutes: float
    min_lot_life_minutes: float
    max_travel_minutes: float


def neighbourhood(city: City) -> Neighbourhood:
    """The neighbourhood of a city, in numpy."""
    pairs: list[list[tuple[int, int]]] = [[] for _ in range(city.num_sites)]
    for site, slot in np.argwhere(city.neighbour_idx >= 0).tolist():
        pairs[int(city.neighbour_idx[site, slot])].append((site, slot))
    width = max(1, *(len(of_giver) for of_giver in pairs))
    table = np.full((city.num_sites, width, 2), -1, dtype=np.int64)
    for giver, of_giver in enumerate(pairs):
        if of_giver:
            table[giver, : len(of_giver)] = of_giver
    limits = city.limits
    return Neighbourhood(
        neighbour_idx=np.asarray(city.neighbour_idx, dtype=np.int64),
        travel_minutes=np.nan_to_num(np.asarray(city.neighbour_travel_minutes, dtype=np.float64), nan=np.inf),
        asker=table[..., 0],
        asker_slot=table[..., 1],
        minimum_team_people=np.asarray(city.minimum_team_people, dtype=np.int64),
        max_moved_share=limits.max_moved_share,
        min_stay_minutes=limits.min_stay_minutes,
        min_lot_life_minutes=limits.min_lot_life_minutes,
        max_travel_minutes=limits.max_travel_minutes,
    )


def no_decision(world: World, around: Neighbourhood) -> DecisionArrays:
    """Ask for nothing; stations open for whoever is on duty."""
    xp: Any = namespace(world.stations_open)
    lead = world.stations_open.shape[:-1]
    nothing = xp.zeros((*lead, around.neighbour_idx.shape[-1]), dtype=xp.int64, device=world.stations_open.device)
    roles = world.stations_open.shape[-1]
    people = xp.zeros((*nothing.shape, roles), dtype=xp.int64, device=world.stations_open.device)
    return DecisionArrays(people_asked=people, vials_asked=nothing, walk_ins_sent=nothing)
