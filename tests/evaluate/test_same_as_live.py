"""A played day takes the path of a serving city: the same plans, cycle for cycle, as with store, relay and clock."""

from __future__ import annotations

import contextlib

import numpy as np
from evaluate_samples import SMALL

from doseflow.bootstrap import make_planner, open_city
from doseflow.demo.playing import bring_receipts, hand_over_orders, import_past_weeks, join_reports
from doseflow.evaluate.past_weeks import history_of
from doseflow.evaluate.played_day import DayPlay
from doseflow.live.clocks import SimulatedClock
from doseflow.settings import Settings, StoreSettings
from doseflow.simulate.scenario_city import simulated_city_of
from doseflow.simulate.step_params import step_params

NUM_CYCLES = 30


def served(folder) -> tuple[list, object]:
    settings = Settings(store=StoreSettings(url=f"sqlite:///{folder / 'served.sqlite'}"))
    city = simulated_city_of(SMALL, 1)
    clock, plans = SimulatedClock(city.now), []
    opened = open_city(settings, clock=clock, city=city.city)
    with contextlib.closing(opened):
        import_past_weeks(opened, city)
        for _ in range(NUM_CYCLES):
            city.advance(5)
            clock.set(city.now)
            bring_receipts(opened, city)
            opened.live.submit(join_reports(city.reports()))
            plans.append(decided(opened.live.run_cycle()))
            hand_over_orders(opened, city)
    return plans, city


def played() -> tuple[list, object]:
    city, settings = simulated_city_of(SMALL, 1), Settings()
    history = history_of(city.city, city.past_weeks_arrivals(), city.now)
    params = step_params(city.city, SMALL.simulation_params())
    play = DayPlay(city, make_planner(settings), history, params, settings.intake)
    return [decided(play.play_period()) for _ in range(NUM_CYCLES)], city


def decided(cycle) -> tuple:
    return [planned.decision for planned in cycle.plan.decisions], cycle.state.commitments


def test_a_played_day_and_a_serving_city_decide_the_same(tmp_path):
    (live_plans, live_city), (our_plans, our_city) = served(tmp_path), played()
    assert our_plans == live_plans
    assert sum(len(decisions) for decisions, _ in our_plans) > 10
    np.testing.assert_array_equal(our_city.world.totals.joined, live_city.world.totals.joined)
