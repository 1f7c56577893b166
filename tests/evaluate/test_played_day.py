"""A played day: the same day for everybody, the measures of the real world, and what the bounds know."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from evaluate_samples import SMALL

from doseflow.domain.forecast import HORIZON_PERIODS, ArrivalForecast
from doseflow.domain.plan import Proposal
from doseflow.domain.state import CityState
from doseflow.errors import SettingsWrong
from doseflow.evaluate.generator_forecast import GeneratorForecast
from doseflow.evaluate.measures import measures_of_day, waits_by_site
from doseflow.evaluate.past_weeks import history_of
from doseflow.evaluate.perfect_forecast import PerfectForecast, people_by_period_ahead
from doseflow.evaluate.planners import DayKnowledge, check_planners, levers_off, planner_of, policy_of
from doseflow.evaluate.played_day import DayPlay, PlayedDay
from doseflow.feasible.layer import FeasibleLayer
from doseflow.forecast.last_value import LastValue
from doseflow.intake.params import IntakeParams
from doseflow.pipeline import Planner
from doseflow.policy.levers import Lever
from doseflow.policy.rules_policy import RulesParams
from doseflow.settings import Settings
from doseflow.simulate.day_profile import draw_coming
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.scenario_city import simulated_city_of
from doseflow.simulate.step_params import step_params
from doseflow.state.unknown import unknown_state

PARAMS = SMALL.simulation_params()


class Idle:
    """Proposes nothing, under any name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, state: CityState, forecast: ArrivalForecast) -> Proposal:
        return Proposal(self.name, ())


def play(planner_name: str, seed: int = 1, hours: float = 3.0) -> tuple[PlayedDay, SimulatedCity]:
    city = simulated_city_of(SMALL, seed)
    if planner_name.startswith("idle"):
        planner = Planner(LastValue(), Idle(planner_name), FeasibleLayer())
    else:
        planner = planner_of(planner_name, Settings(), DayKnowledge(city, PARAMS, seed))
    history = history_of(city.city, city.past_weeks_arrivals(), city.now)
    params = step_params(city.city, PARAMS)
    return DayPlay(city, planner, history, params, IntakeParams()).play(city.now + timedelta(hours=hours)), city


@pytest.fixture(scope="module")
def rules_day() -> tuple[PlayedDay, SimulatedCity]:
    return play("rules", hours=24)


def test_two_planners_that_do_nothing_have_the_same_day():
    one, other = play("idle one")[0].record, play("idle other")[0].record
    for name in ("joined_people", "gone_people", "busy_minutes", "used_litres_share"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_another_seed_is_another_day():
    assert (play("idle")[0].record.joined_people != play("idle", seed=3)[0].record.joined_people).any()


def test_planners_meet_the_same_people_at_the_door():
    walk_ins = [play(name)[1].world.walk_ins_people for name in ("idle", "rules")]
    np.testing.assert_array_equal(*walk_ins)


def test_a_day_under_the_rules_breaks_no_rule_and_moves_people(rules_day):
    played, city = rules_day
    assert city.is_over
    assert played.planning.referee_violations == 0
    assert played.planning.fallbacks == 0
    assert played.planning.people_moved > 0
    assert played.num_cycles == len(played.planning.decision_milliseconds) > 100


def test_the_measures_agree_with_the_simulators_own_sums(rules_day):
    played, city = rules_day
    measured, summary = measures_of_day(played.record, played.planning, city.city), city.summary()
    # The simulator counts from two hours before the first site opens, the measures from the planner's first minute.
    assert measured["mean_wait_minutes"] == pytest.approx(summary["mean_wait_minutes"], rel=0.1)
    assert measured["served_people"] == pytest.approx(summary["served_people"], rel=0.1)
    assert 0 < measured["dose_utilisation_share"] <= 1
    assert 0 < measured["busy_share"] <= 1


def test_the_waits_of_people_add_up_to_the_waiting_of_queues(rules_day):
    record = rules_day[0].record
    from_people = sum(waits.sum() for waits in waits_by_site(record))
    people = sum(len(waits) for waits in waits_by_site(record))
    # People are followed by whole minutes; the simulator also knows the part of a minute in which a station is free.
    assert abs(from_people - record.waited_minutes.sum()) / people < 1.0
    assert people == record.added["arrived"].sum() + record.queued_people.sum() + record.in_service_people[:, :2].sum()


def test_the_perfect_forecast_is_what_then_comes():
    city = simulated_city_of(SMALL, 2)
    city.advance(60)
    told = people_by_period_ahead(city.world)
    before = city.world.totals.arrived
    city.advance(60)
    came = city.world.totals.arrived - before
    # Later bookings and the two ends of the hour are all that may differ.
    assert abs(told[:, :12].sum() - came.sum()) <= 0.05 * came.sum()


def test_the_perfect_forecast_has_one_future():
    city = simulated_city_of(SMALL, 2)
    forecast = PerfectForecast(city)(unknown_state(city.city, city.now))
    assert forecast.arrivals_people.shape == (6, HORIZON_PERIODS, 5)
    assert (np.ptp(forecast.arrivals_people, axis=-1) == 0).all()
    assert (forecast.doses_rest_of_day[:, 0] >= forecast.arrivals_people[..., 0].sum(axis=-1)).all()


def test_the_generators_futures_are_unbiased_and_do_not_know_the_draws():
    off, spread = [], []
    for seed in range(1, 13):
        city = simulated_city_of(SMALL, seed)
        forecast = GeneratorForecast(city, PARAMS, seed, num_paths=16)(unknown_state(city.city, city.now))
        truth = people_by_period_ahead(city.world)[:, :HORIZON_PERIODS].sum()
        of_path = forecast.paths_people.sum(axis=(1, 2))
        off.append(truth - of_path.mean())
        spread.append(of_path.std())
    # What really comes is one more draw of the same kind: its error is that of a path, not 0 and not far larger.
    assert abs(np.mean(off)) < 3 * np.mean(spread) / np.sqrt(len(off)) + 0.02 * truth
    assert 0.4 < np.std(off) / np.mean(spread) < 2.5


def test_the_generators_quantiles_rise_and_fit_its_paths():
    city = simulated_city_of(SMALL, 5)
    known = GeneratorForecast(city, PARAMS, 5)
    city.advance(90)
    forecast = known(unknown_state(city.city, city.now))
    assert forecast.paths_people.shape == (32, 6, HORIZON_PERIODS)
    assert (np.diff(forecast.arrivals_people, axis=-1) >= 0).all()
    assert np.isfinite(forecast.arrivals_people).all()
    np.testing.assert_allclose(forecast.arrivals_people[..., 2], np.median(forecast.paths_people, axis=0))


def test_the_generators_days_follow_the_simulators_own_rule():
    city = simulated_city_of(SMALL, 4)
    day, booked = city.world.day, np.asarray(city.world.booked_people)
    drawn = GeneratorForecast(city, PARAMS, 4, num_paths=200)._drawn(booked, day)
    rng = np.random.default_rng(9)
    theirs = np.mean([draw_coming(rng, booked, day.habits, PARAMS) for _ in range(200)], axis=0)
    theirs = theirs.reshape(len(booked), -1, 5).sum(axis=-1)
    # Each mean of 200 days is off by about the root of its people over 200; the largest of 1,700 cells by 4 of these.
    assert (np.abs(drawn.mean(axis=0) - theirs) < 0.05 + 6 * np.sqrt(theirs / 100)).all()
    assert drawn.sum(axis=(1, 2)).mean() == pytest.approx(theirs.sum(), rel=0.01)


def test_a_lever_is_taken_off_by_name_and_a_name_without_such_a_lever_is_refused():
    assert policy_of("learned-moves-slots@last_value") == "learned"
    assert levers_off("learned-moves-slots@last_value") == (Lever.MOVES, Lever.SLOTS)
    check_planners(["rules-doses", "learned-prices", "index-moves@last_value"], Settings())
    for wrong in ("rules-nonsense", "rules-", "static-moves", "mpc12_perfect-moves", "nobody-moves"):
        with pytest.raises(SettingsWrong):
            check_planners([wrong], Settings())


def test_what_a_name_takes_off_comes_on_top_of_what_the_settings_leave():
    settings = Settings(rules=RulesParams(without=(Lever.DOSES,)))
    planner = planner_of("rules-moves", settings, None)
    assert planner.policy._params.without == (Lever.DOSES, Lever.MOVES)


def test_what_a_training_has_left_is_a_planner_of_its_own(tmp_path):
    (tmp_path / "learned.toml").write_text("[learned]\nleast_gain_minutes = 450.0\n[learned.weights]\nobserver = 0.5\n")
    planner = planner_of(f"learned={tmp_path}", Settings(), None)
    assert planner.policy._params.least_gain_minutes == 450.0
    assert planner.policy._params.weights.observer == 0.5
    assert policy_of(f"learned={tmp_path}") == "learned"
    (tmp_path / "learned.toml").write_text("[learned]\nleast_gain_minutes = -1\n")
    for wrong in (f"learned={tmp_path}", f"learned={tmp_path / 'none'}", "learned=", f"rules={tmp_path}"):
        with pytest.raises(SettingsWrong):
            check_planners([wrong], Settings())
