"""Days as arrays, which of them are for learning and which for judging, and where they come from."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from train_samples import small_scenario

from doseflow.forecast.net_inputs import NET_INPUTS_VERSION
from doseflow.simulate.scenario_file import packaged_scenarios
from doseflow.train.city_days import live_day
from doseflow.train.forecaster import ForecasterParams
from doseflow.train.forecaster_bundle import GOLDEN_SEED, golden_inputs
from doseflow.train.training_days import TOPOLOGY, DayOrder, day_of_scenario, made_days, seeds_for, training_day
from doseflow.train.training_scenarios import LARGEST_CITY, SMALLEST_CITY, training_scenario


@pytest.fixture(scope="module")
def whole_day():
    """A day as it is learned from, unchanged."""
    return training_day(DayOrder(1, stride=12))


def test_no_day_is_for_learning_and_for_judging():
    most = ForecasterParams(num_days=100_000, num_validation_days=10_000)
    training = set(seeds_for("training", most.num_days))
    validation = set(seeds_for("validation", most.num_validation_days))
    assert (len(training), len(validation)) == (100_000, 10_000)
    assert not training & validation
    assert GOLDEN_SEED not in training | validation


def test_days_come_from_the_training_families_in_cities_that_no_packaged_scenario_has():
    packaged = packaged_scenarios()
    training = {one.family for one in packaged_scenarios("training")}
    held_out = {one.family for one in packaged_scenarios("heldout")} - training
    assert held_out
    seeds = [*range(1, 150), *range(500_000, 500_050), GOLDEN_SEED]
    made = [training_scenario(seed) for seed in seeds]
    assert {one.family for one in made} == training
    assert not {one.city_seed for one in made} & {one.city_seed for one in packaged}
    assert len({one.city_seed for one in made}) == len(seeds)
    assert all(not one.is_real and SMALLEST_CITY <= one.num_sites <= LARGEST_CITY for one in made)
    incidents = {one.family: one.incidents for one in packaged_scenarios("training")}
    assert all(one.incidents == incidents[one.family] for one in made)


def test_a_seed_is_always_the_same_scenario_and_another_seed_another():
    assert training_scenario(5) == training_scenario(5)
    assert training_scenario(5) != training_scenario(6)


def test_a_day_has_finite_arrays_padded_to_the_largest_city(whole_day):
    num_sites = training_scenario(1).num_sites
    cycles = len(whole_day.arrived_people)
    assert cycles == 12
    for name, array in whole_day.inputs.items():
        assert np.isfinite(array).all()
        assert array.shape[:1] == ((LARGEST_CITY,) if name in TOPOLOGY else (cycles,))
    assert whole_day.inputs["site_mask"].sum(axis=1).tolist() == [num_sites] * cycles
    assert not whole_day.arrived_people[:, num_sites:].any()
    assert not whole_day.doses_left[:, num_sites:].any()
    assert (np.diff(whole_day.doses_left, axis=0) <= 0).all()
    assert whole_day.peers == {}


def test_another_process_lives_the_same_day(whole_day):
    (other,) = made_days([DayOrder(1, stride=12)], workers=2)
    for name, array in whole_day.inputs.items():
        assert array.tobytes() == other.inputs[name].tobytes()
    assert whole_day.arrived_people.tobytes() == other.arrived_people.tobytes()


def test_golden_inputs_are_what_the_net_takes(whole_day):
    inputs = golden_inputs(whole_day)
    assert {name for name, array in inputs.items() if array.dtype != np.float32} == {"neighbour_idx"}
    assert all(len(array) == 3 for name, array in inputs.items() if name not in TOPOLOGY)


def test_what_came_after_a_look_stands_beside_what_was_seen_at_it():
    scenario, states = small_scenario(3), []
    truth = live_day(scenario, 3, states.append)
    every = day_of_scenario(scenario, DayOrder(3, stride=1))
    np.testing.assert_array_equal(every.arrived_people[:, :6], truth.arrivals_ahead()[: len(states)])
    np.testing.assert_array_equal(every.doses_left[:, :6], truth.doses_left()[: len(states)])
    third = day_of_scenario(scenario, DayOrder(3, stride=5))
    looks = [cycle for cycle in range(len(states)) if (cycle + 3) % 5 == 0]
    np.testing.assert_array_equal(third.arrived_people, every.arrived_people[looks])
    for name in ("recent", "rest_doses", "site"):
        np.testing.assert_array_equal(third.inputs[name], every.inputs[name][looks])


def test_peers_are_the_plain_forecasts_of_the_same_looks(days):
    for day in days:
        assert set(day.peers) == {"bookings_first", "seasonal_naive"}
        for quantiles in day.peers.values():
            assert quantiles.shape == (*day.arrived_people.shape, 5)
            known = quantiles[:, :6]
            assert np.isfinite(known[12:]).all()
            assert (np.diff(known[12:], axis=-1) >= 0).all()


def test_an_order_says_how_many_reports_are_lost(in_small_cities):
    def told(missing_share):
        day = training_day(DayOrder(3, stride=1, missing_share=missing_share))
        return day.inputs["recent"][-1, :6, -11:, 0].mean()

    assert told(0.0) > 0.95
    assert told(0.5) < 0.7


def test_days_of_other_inputs_are_other_days():
    order = DayOrder(1)
    assert order.inputs_version == NET_INPUTS_VERSION
    assert replace(order, inputs_version=NET_INPUTS_VERSION - 1) != order
