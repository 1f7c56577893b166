"""The nearest allowed plan against brute force: all plans of a tiny case, nearest first, until one is allowed."""

from __future__ import annotations

import itertools
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "feasible"))

from feasible_city import (
    fridge_move,
    hold,
    make_city,
    make_forecast,
    make_state,
    move,
    pre_cool,
    random_proposal,
    release,
    send,
    set_point,
    stations,
    transfer,
)

from doseflow.domain.city import Van
from doseflow.domain.decisions import DoseTransfer, FridgeMove, PreCool, SetPoint, StaffMove, StationChange, Why
from doseflow.domain.limits import OperatingLimits
from doseflow.domain.orders import Commitments
from doseflow.domain.plan import Plan, Proposal, RepairPath
from doseflow.domain.roles import ROLES, STAGES
from doseflow.feasible.distance import WEIGHT
from doseflow.feasible.layer import FeasibleLayer, FeasibleParams
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup
from doseflow.feasible.referee import hard_violations

SOLVER = FeasibleLayer(FeasibleParams(time_limit_milliseconds=10_000, force_path=RepairPath.SOLVER))
MOST_PLANS = 1_200


def per_vial(decision) -> int:
    return 10 if decision.product_id == "frozen" else 5


def options_of(state, decision, asked, may_rise):
    """What one decision may become, None for not being ordered, each with what the change costs."""
    weight = WEIGHT[decision.kind]
    if isinstance(decision, SetPoint | PreCool):
        return [(decision, 0.0), (None, weight)]
    if isinstance(decision, StationChange):
        now = open_now(state, decision.site_id, STAGES.index(decision.stage))
        counts = range(max(now, asked) + 1)
        return [(None, weight * abs(now - asked)), *((changed(decision, n), weight * abs(n - asked)) for n in counts)]
    step = per_vial(decision) if isinstance(decision, DoseTransfer | FridgeMove) else 1
    most = max(asked, stock_of(state, decision) if may_rise else 0)
    amounts = range(step, most + 1, step)
    return [(None, weight * asked), *((changed(decision, n), weight * abs(n - asked)) for n in amounts)]


def changed(decision, quantity):
    field = next(name for name in ("open_stations", "doses", "people") if hasattr(decision, name))
    return replace(decision, **{field: quantity})


def open_now(state, site_id, stage_idx):
    value = state.stations_open[state.city.site_to_idx[site_id], stage_idx]
    return 0 if np.isnan(value) else int(value)


def stock_of(state, transfer):
    lots, site = state.lots, state.city.site_to_idx[transfer.from_site_id]
    rows = [
        r for r in range(lots.site_idx.size) if lots.site_idx[r] == site and lots.lot_number[r] == transfer.lot_number
    ]
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
    goes_first = {
        replace(one, lot_number="early").key
        for one in decisions
        if getattr(one, "van_id", "") and one.lot_number == "late"
    }
    grids = [options_of(state, one, one.quantity, one.key in goes_first) for one in decisions]
    for one in beside(state, decisions):
        grids.append(
            options_of(state, one, one.open_before if isinstance(one, StationChange) else 0, one.key in goes_first)
        )
    if math.prod(len(grid) for grid in grids) > MOST_PLANS:
        return None
    plans = sorted(itertools.product(*grids), key=lambda plan: sum(cost for _, cost in plan))
    lookup = StateLookup(state)
    for plan in plans:
        ordered = [one for one, _ in plan if one is not None]
        if not hard_violations(Ledger(lookup, forecast, ordered)):
            return sum(cost for _, cost in plan)
    raise AssertionError("no plan is allowed, not even doing nothing")


def solver_distance(state, forecast, decisions):
    plan = SOLVER(state, forecast, Proposal("oracle", tuple(decisions)))
    assert isinstance(plan, Plan)
    assert plan.repair_path is RepairPath.SOLVER
    return plan.distance


def tight_state(rng):
    """Three sites where everything is known and nearly everything is short: people, stations, doses, vans, fridges."""
    limits = OperatingLimits(max_city_moved_people=int(rng.integers(1, 5)), max_station_changes=int(rng.integers(1, 3)))
    city = make_city(3, limits)
    vans = tuple(Van(van.van_id, van.home_site_id, float(rng.choice([0.02, 0.05, 0.2]))) for van in city.vans)
    tidy = make_state(replace(city, vans=vans))
    rows = tidy.staff.site_idx.size
    return replace(
        tidy,
        staff=replace(
            tidy.staff, people=rng.integers(0, 3, rows), qualified=tidy.staff.qualified | (rng.random((rows, 4)) < 0.2)
        ),
        lots=replace(tidy.lots, unopened_doses=rng.integers(0, 5, 9) * 5, open_vial_doses=np.zeros(9, dtype=np.int64)),
        fridges=replace(
            tidy.fridges,
            volume_used_litres=tidy.fridges.volume_possible_litres - rng.choice([-0.02, 0.02, 0.05, 0.2], 9),
        ),
        stations_open=rng.integers(0, 4, (3, 4)).astype(float),
        breaks_due_people=rng.integers(0, 2, (3, 4)).astype(float),
        booked_people=np.repeat(rng.integers(0, 2, 3), 8).reshape(3, 8).astype(float),
        seats_possible=rng.integers(4, 20, 3).astype(float),
    )


@pytest.mark.parametrize("seed", range(24))
def test_the_solver_comes_as_near_as_any_plan_can(seed):
    rng = np.random.default_rng(seed)
    state = tight_state(rng)
    if seed % 4 == 0:
        state = replace(state, commitments=Commitments(suspended_site_ids=frozenset({"s1"})))
    forecast = make_forecast(state)
    decisions = list({one.key: one for one in random_proposal(rng, state, 6, wild=0.0)}.values())
    while (nearest := brute_force_distance(state, forecast, decisions)) is None:
        decisions.pop()
    assert solver_distance(state, forecast, decisions) == pytest.approx(nearest)


def short_state(**tables):
    """The tidy state with one vial of each lot, nobody booked, and whatever else a case wants changed."""
    state = make_state(make_city(3))
    lots = replace(state.lots, unopened_doses=np.full(9, 5), open_vial_doses=np.zeros(9, dtype=np.int64))
    state = replace(state, lots=lots, booked_people=np.zeros((3, 8)))
    return replace(state, **{name: replace(getattr(state, name), **columns) for name, columns in tables.items()})


COLLISIONS = {
    "a late lot needs the early one to go first": (short_state(), [transfer(lot="late", doses=5)]),
    "a late lot is cheaper to drop than two early vials to send": (
        short_state(lots={"unopened_doses": np.array([10, 5, 0] * 3)}),
        [transfer(lot="late", doses=5)],
    ),
    "part of an early vial is asked for, and all of it must go": (
        short_state(lots={"unopened_doses": np.array([10, 5, 0] * 3)}),
        [transfer(lot="early", doses=8), transfer(lot="late", doses=5)],
    ),
    "one van, two destinations": (
        short_state(lots={"unopened_doses": np.array([15, 0, 0] * 3)}),
        [transfer(to=1, doses=10, van="v0"), transfer(to=2, doses=5, van="v0")],
    ),
    "a fridge takes more because something leaves it": (
        short_state(fridges={"volume_used_litres": np.array([1.98, 0.2, 0.5] * 3)}),
        [transfer(frm=0, to=1, doses=5), transfer(frm=1, to=2, doses=5), fridge_move(site=1, lot="late", doses=5)],
    ),
    "a set-point and doses that it would spoil": (
        short_state(
            lots={"unopened_doses": np.array([0, 0, 10] * 3), "fridge_row": np.array([0, 0, 2, 3, 3, 4, 6, 6, 8])}
        ),
        [
            set_point(site=1, fridge="cold", celsius=4.0),
            transfer(lot="ice", product="frozen", from_fridge="cold", to_fridge="cold"),
        ],
    ),
    "a team too small unless the site stops": (
        replace(short_state(), stations_open=np.array([[1.0, 1.0, 1.0, 1.0]] * 3)),
        [move(people=8, role="screener"), stations(stage=2, before=1, after=0)],
    ),
    "people and stations want the same people": (
        replace(short_state(), breaks_due_people=np.zeros((3, 4))),
        [stations(stage=2, after=8), move(people=3), move(people=3, to=2)],
    ),
    "two wishes for one booking bin": (
        replace(short_state(), booked_people=np.full((3, 8), 10.0)),
        [release(people=3), hold(people=2)],
    ),
    "walk-ins to two places": (short_state(), [send(frm=1, to=0, people=9), send(frm=1, to=2, people=9)]),
    "settings alone": (short_state(), [set_point(celsius=9.0), pre_cool(celsius=3.0)]),
}


@pytest.mark.parametrize("name", COLLISIONS)
def test_the_solver_comes_as_near_as_any_plan_can_where(name):
    state, decisions = COLLISIONS[name]
    forecast = make_forecast(state)
    nearest = brute_force_distance(state, forecast, decisions)
    assert nearest is not None
    assert solver_distance(state, forecast, decisions) == pytest.approx(nearest)
