"""The model and its solution: bounds, switches, what goes to the solver, and what the solver says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from feasible_city import make_forecast, make_state, move, release, stations, transfer, with_table

from doseflow.errors import ModelInvalid
from doseflow.feasible import nearest
from doseflow.feasible.highs import NoSolution, Programme, Solver
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup
from doseflow.feasible.model import NearestModel
from doseflow.feasible.nearest import nearest_values
from doseflow.feasible.row_book import model_of
from doseflow.feasible.universe import make_universe

STATE = make_state()


def universe_of(*decisions, state=STATE, pins=()):
    return make_universe(Ledger(StateLookup(state), make_forecast(state), decisions), pins)


def programme(costs, upper, rows, bounds):
    rows = [np.asarray(row, dtype=float) for row in rows]
    positions = [np.flatnonzero(row).astype(np.int32) for row in rows]
    return Programme(
        costs=np.asarray(costs, dtype=float),
        lower=np.zeros(len(costs)),
        upper=np.asarray(upper, dtype=float),
        positions=np.concatenate(positions),
        coefficients=np.concatenate([row[where] for row, where in zip(rows, positions, strict=True)]),
        starts=np.cumsum([0, *(len(where) for where in positions)]).astype(np.int32),
        bounds=np.asarray(bounds, dtype=float),
    )


def test_a_decision_alone_never_needs_the_solver(monkeypatch):
    monkeypatch.setattr(nearest, "Solver", None)
    model = model_of(universe_of(release(people=9), transfer(doses=500), stations(3, after=40)))
    assert nearest_values(model, 1.0)[:3] == [3, 20, 8]


def test_only_what_broken_rows_tie_together_goes_to_the_solver(monkeypatch):
    sizes = []

    class Watched(Solver):
        def __init__(self, given, time_limit_seconds):
            sizes.append(len(given.costs))
            super().__init__(given, time_limit_seconds)

    monkeypatch.setattr(nearest, "Solver", Watched)
    model = model_of(universe_of(move(people=3), move(to=2, people=3), move(2, 3), stations(3), release(3)))
    values = nearest_values(model, 1.0)
    assert sum(values[:2]) == 4
    assert values[2:5] == [1, 5, 3]
    assert sizes[0] < 8


def test_part_of_a_vial_is_rounded_down_where_nothing_asks_for_more():
    model = model_of(universe_of(transfer(doses=13)))
    assert nearest_values(model, 1.0)[0] == 2


def test_a_switch_is_on_where_any_of_its_choices_is():
    model = NearestModel(universe_of(move(), move(to=2)))
    switch = model.switch([0, 1])
    assert model.switch([0, 1]) == switch
    assert model.with_switches([0] * model.num_choices)[switch] == 0
    assert model.with_switches([0, 2, *[0] * (model.num_choices - 2)])[switch] == 1


def test_a_sum_bounds_each_of_its_choices_by_what_the_others_leave():
    model = NearestModel(universe_of(move(people=5), move(to=2, people=5)))
    model.restrict(0, 2, 5)
    model.at_most([(0, 1.0), (1, 2.0)], 5.0)
    assert (model.upper[0], model.upper[1]) == (5, 1)


def test_bounds_that_leave_nothing_make_the_model_impossible():
    model = NearestModel(universe_of(move(people=5)))
    model.restrict(0, 3, 2)
    assert nearest_values(model, 1.0) is NoSolution.IMPOSSIBLE


def test_the_solver_gives_whole_numbers_only_when_asked():
    solver = Solver(programme([-3.0, -2.0], [5, 5], [[2, 1], [1, 3]], [6, 7]), 10.0)
    assert solver.relaxed() == pytest.approx([2.2, 1.6])
    assert solver.whole() == pytest.approx([3.0, 0.0])


def test_an_impossible_programme_is_an_answer():
    impossible = replace(programme([1.0, 1.0], [1, 1], [[-1, -1]], [-3]))
    assert Solver(impossible, 10.0).relaxed() is NoSolution.IMPOSSIBLE
    assert Solver(impossible, 10.0).whole() is NoSolution.IMPOSSIBLE


def test_no_time_is_an_answer():
    assert Solver(programme([-1.0, -1.0], [1, 1], [[1, 1]], [1]), 0.0).relaxed() is NoSolution.OUT_OF_TIME


def test_a_programme_that_makes_no_sense_raises():
    wrong = replace(programme([-1.0, -1.0], [1, 1], [[1, 1]], [1]), positions=np.array([0, 7], dtype=np.int32))
    with pytest.raises(ModelInvalid, match="HiGHS refused the model"):
        Solver(wrong, 10.0)


def test_the_universe_adds_only_closings_and_lots_that_must_go_first():
    state = with_table(STATE, "lots", "unopened_doses", 0, 5)
    universe = universe_of(move(), transfer(lot="late"), stations(2), state=state)
    added = [choice.decision for choice in universe.choices[3:]]
    assert [
        (one.kind, getattr(one, "lot_number", one.site_id if hasattr(one, "site_id") else "")) for one in added
    ] == [
        ("station_change", "s0"),
        ("dose_transfer", "early"),
    ]
    assert [choice.asked for choice in universe.choices[3:]] == [4, 0]


def test_a_pin_takes_the_place_of_its_like_and_may_reach_what_it_demands():
    pin = replace(release(people=3), why=move().why)
    universe = universe_of(release(people=1), pins=(pin,))
    (choice,) = universe.choices
    assert (choice.decision, choice.asked, choice.upper) == (pin, 1, 3)
