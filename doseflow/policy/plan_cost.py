"""
What a plan is predicted to cost people, by the same yardstick whoever made it.

The yardstick is the fluid line of the look-ahead: waiting until the end of the shift, with staff and walk-ins where the
plan sends them, and the time of those who are sent. What changes neither, as orders about doses and fridges, costs
nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import Decision, SendWalkIns, StaffMove
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.roles import ROLE_TO_IDX
from doseflow.domain.state import CityState
from doseflow.policy.fluid_line import FluidLine
from doseflow.policy.look_ahead import LookAheadParams, look_ahead
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.situation import survey
from doseflow.policy.time_ahead import GRID_ENDS_MINUTES, share_after
from doseflow.policy.walk_in_worth import BIN_MINUTES

_WALK_IN_MINUTES = 2.0 * BIN_MINUTES
"""Walk-ins are sent on over the next half hour."""


def plan_cost_minutes(state: CityState, forecast: ArrivalForecast, decisions: Sequence[Decision]) -> float:
    """
    Person-minutes of waiting to come under a plan, and of the ways that it sends people.

    What binds already from earlier plans counts as given, once.
    """
    situation = survey(state, forecast, NeedParams())
    params = LookAheadParams()
    ahead = look_ahead(situation, params)
    binding = {decision.key for decision in situation.orders.binding}
    fresh = [decision for decision in decisions if decision.key not in binding]
    people, come = ahead.people.copy(), ahead.come_people.copy()
    way_minutes = 0.0
    site_to_idx = state.city.site_to_idx
    for decision in fresh:
        if not isinstance(decision, StaffMove | SendWalkIns):
            continue
        from_idx, to_idx = site_to_idx[decision.from_site_id], site_to_idx[decision.to_site_id]
        way_minutes += decision.people * decision.travel_minutes
        if isinstance(decision, StaffMove):
            leaves, arrives = params.departure_minutes, params.departure_minutes + decision.travel_minutes
            people[:, ROLE_TO_IDX[decision.role], from_idx] -= decision.people * _after(leaves)
            people[:, ROLE_TO_IDX[decision.works_as], to_idx] += decision.people * _after(arrives)
        else:
            come[:, :, from_idx] -= decision.people * _come_by(0.0)[:, None]
            come[:, :, to_idx] += decision.people * _come_by(decision.travel_minutes)[:, None]
    line = FluidLine(replace(ahead, come_people=np.maximum(come, 0.0)), np.arange(state.city.num_sites), people)
    return float(line.waiting_minutes.sum() + way_minutes)


def _after(minutes: float) -> FloatArray:
    share: FloatArray = share_after(np.array([minutes]))[:, 0]
    return share


def _come_by(delay_minutes: float) -> FloatArray:
    """Share of the walk-ins of the next half hour who have come by the end of each step, (G,)."""
    share: FloatArray = np.clip((GRID_ENDS_MINUTES - delay_minutes) / _WALK_IN_MINUTES, 0.0, 1.0)
    return share
