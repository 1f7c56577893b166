"""
One decision period of many cities: `transition(world, decision, draws, params, around)`.

It is pure: the same arguments give the same world. A period of five minutes is lived in steps of a minute or less.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from doseflow.simulate.arrays import at_least_zero, namespace
from doseflow.simulate.decision_arrays import DecisionArrays, Neighbourhood
from doseflow.simulate.draws import Array, Draws
from doseflow.simulate.duty import people_at_work
from doseflow.simulate.people_asked import with_people_sent
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.table import Table
from doseflow.simulate.transition import step
from doseflow.simulate.vials_asked import with_vials_sent
from doseflow.simulate.world import World
from doseflow.units import PERIOD_MINUTES

WALK_INS_FOR_MINUTES = 30.0


def transition(
    world: World, decision: DecisionArrays, draws: Draws, params: StepParams, around: Neighbourhood
) -> World:
    """The world five minutes later, after the decision has been carried out as far as it can be."""
    world = decided(world, decision, params, around)
    for _ in range(round(PERIOD_MINUTES / params.assumed.step_minutes)):
        world = step(world, draws, params)
    return world


def decided(world: World, decision: DecisionArrays, params: StepParams, around: Neighbourhood) -> World:
    """The world at the same moment with everything begun that was decided."""
    xp = namespace(world.stations_open)
    world = with_people_sent(world, decision.people_asked, around)
    world = with_vials_sent(world, decision.vials_asked, around, params)
    world = _with_walk_ins_sent(xp, world, decision.walk_ins_sent, around)
    wanted = people_at_work(world, params) if decision.stations_open is None else at_least_zero(decision.stations_open)
    world = replace(world, stations_open=xp.minimum(wanted, params.stations_possible + xp.zeros_like(wanted)))
    if decision.set_point_celsius is not None:
        world = replace(world, fridges=replace(world.fridges, set_point_celsius=decision.set_point_celsius))
    return world


def _with_walk_ins_sent(xp: Any, world: World, walk_ins_sent: Array, around: Neighbourhood) -> World:
    """A row for each neighbour that walk-ins are sent to; what an earlier order left over lapses."""
    sent = walk_ins_sent * (walk_ins_sent > 0) * (around.neighbour_idx >= 0)
    if not bool(xp.any(sent > 0)):
        return world
    at = xp.nonzero(sent)
    site, slot = at[-2:]
    first_site = (at[0] if len(at) > 2 else xp.zeros_like(site)) * around.neighbour_idx.shape[0]
    until = xp.zeros_like(around.travel_minutes[site, slot]) + world.epoch_minutes + WALK_INS_FOR_MINUTES
    rows = Table(
        {
            "from_idx": first_site + site,
            "to_idx": first_site + around.neighbour_idx[site, slot],
            "people": sent[at],
            "until": until,
            "travel_minutes": around.travel_minutes[site, slot],
        }
    )
    return replace(world, diversions=rows)
