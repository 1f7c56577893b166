"""The nearest allowed plan against brute force: every plan of a tiny case is listed, nearest first, until one is allowed."""

from __future__ import annotations

import heapq
import itertools
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "feasible"))

from feasible_city import AS_OF, LIQUID, make_city, make_forecast, make_state, random_proposal, random_state, with_table

from doseflow.domain.decisions import DoseTransfer, FridgeMove, PreCool, SetPoint, StaffMove, StationChange, Why
from doseflow.domain.orders import Commitments
from doseflow.domain.plan import Plan, Proposal, RepairPath
from doseflow.domain.roles import ROLES, STAGES
from doseflow.feasible.distance import WEIGHT
from doseflow.feasible.layer import FeasibleLayer, FeasibleParams
from doseflow.feasible.referee import referee

SOLVER = FeasibleLayer(FeasibleParams(time_limit_milliseconds=10_000, force_path=RepairPath.SOLVER))
MOST_PLANS = 60_000


def per_vial(decision) -> int:
    return 10 if decision.product_id == "frozen" else 5


def options_of(state, decision, wanted, lots_first):
    """Quantities one decision may take, None for not being ordered, each with what it costs."""
    weight = WEIGHT[decision.kind]
    if isinstance(decision, SetPoint | PreCool):
        return [(None, weight if wanted else 0.0), (decision, 0.0)]
    if isinstance(decision, StationChange):
        now = open_now(state, decision.site_id, STAGES.index(decision.stage))
        asked = now if wanted is None else wanted
        return [(replace(decision, open_stations=n), weight * abs(n - asked)) for n in range(max(now, asked) + 1)] + [
            (None, weight * abs(now - asked))
        ]
    most = max(wanted or 0, stock_of(state, decision) if decision.key in lots_first else 0)
    step = per_vial(decision) if isinstance(decision, DoseTransfer | FridgeMove) else 1
    field = "doses" if hasattr(decision, "doses") else "people"
    some = [(replace(decision, **{field: n}), weight * abs(n - (wanted or 0))) for n in range(step, most + 1, step)]
    return [(None, weight * (wanted or 0)), *some]


def open_now(state, site_id, stage_idx):
    value = state.stations_open[state.city.site_to_idx[site_id], stage_idx]
    return 0 if np.isnan(value) else int(value)


def stock_of(state, transfer):
    lots, site = state.lots, state.city.site_to_idx[transfer.from_site_id]
    rows = [r for r in range(lots.site_idx.size) if lots.site_idx[r] == site and lots.lot_number[r] == transfer.lot_number]
    return int(lots.unopened_doses[rows].sum())


def beside(state, decisions):
    """What rules may demand beside a proposal: closing stations that people leave, and sending earlier lots along."""
    keys = {decision.key for decision in decisions}
    extra = {}
    for one in decisions:
        if isinstance(one, StaffMove):
            idx = ROLES.index(one.role)
            now = open_now(state, one.from_site_id, idx)
            closing = StationChange(one.from_site_id, STAGES[idx], now, 0, Why("unstaffed_station"))
            extra.setdefault(closing.key, closing)
        if isinstance(one, DoseTransfer) and one.lot_number == "late":
            first = replace(one, lot_number="early")
            extra.setdefault(first.key, first)
    for site_id in state.commitments.suspended_site_ids:
        for idx, stage in enumerate(STAGES):
            closing = StationChange(site_id, stage, open_now(state, site_id, idx), 0, Why("suspended"))
            extra.setdefault(closing.key, closing)
    return [one for key, one in extra.items() if key not in keys]


def brute_force_distance(state, forecast, decisions):
    """Distance of the nearest allowed plan, None where there are too many plans to list."""
    extra = beside(state, decisions)
    lots_first = {
        replace(one, lot_number="early").key
        for one in decisions
        if isinstance(one, DoseTransfer) and one.lot_number == "late"
    }
    grids = [options_of(state, one, None if isinstance(one, SetPoint | PreCool) else one.quantity, lots_first) for one in decisions]
    grids = [
        [(None, WEIGHT[one.kind]), (one, 0.0)] if isinstance(one, SetPoint | PreCool) else grid
        for one, grid in zip(decisions, grids, strict=True)
    ]
    grids += [options_of(state, one, None, lots_first) for one in extra]
    if np.prod([float(len(grid)) for grid in grids]) > MOST_PLANS:
        return None
    plans = sorted((sum(cost for _, cost in plan), idx, plan) for idx, plan in enumerate(itertools.product(*grids)))
    for cost, _, plan in plans:
        if not any(violation.hard for violation in referee(state, forecast, [one for one, _ in plan if one is not None])):
            return cost
    raise AssertionError("no plan is allowed, not even doing nothing")


def solver_distance(state, forecast, decisions):
    plan = SOLVER(state, forecast, Proposal("oracle", tuple(decisions)))
    assert isinstance(plan, Plan)
    assert plan.repair_path is RepairPath.SOLVER
    return plan.distance
