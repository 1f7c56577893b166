"""Site values are the net's own answers, of the city as it is after every move so far."""

import re
from dataclasses import replace

import numpy as np
import pytest
from rules_city import calm_staff, calm_state, city_of, forecast_of, random_state, staff_table
from value_engines import SPOILT, Broken, Watched

from doseflow.domain.roles import NUM_ROLES, ROLE_TO_IDX, Role
from doseflow.errors import EngineFailed
from doseflow.policy.look_ahead import LookAheadParams, look_ahead
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.site_values import ADDED_PEOPLE, FEATURES_INPUT, TRAVELS_MINUTES, VALUES_OUTPUT, SiteValues
from doseflow.policy.site_view import site_view, value_scale_minutes, view_features
from doseflow.policy.situation import survey
from doseflow.policy.time_ahead import share_after

VACCINATOR_IDX = ROLE_TO_IDX[Role.VACCINATOR]
PARAMS = LookAheadParams()


def surveyed(state, forecast):
    return survey(state, forecast, NeedParams())


def busy_situation(num_sites=5):
    """The first site has a long queue before too few vaccinators, the last far too many of them."""
    waiting = np.zeros((num_sites, 4))
    waiting[0, 2] = 40.0
    staff = staff_table(calm_staff(num_sites, {(0, Role.VACCINATOR): 2, (num_sites - 1, Role.VACCINATOR): 9}))
    state = calm_state(city_of(num_sites), staff=staff, waiting_people=waiting)
    return surveyed(state, forecast_of(state, 0.5))


def asked_anew(situation, moves, engine):
    """Minutes of every change at every site, (S, V), of a view that is built anew with the moves in it."""
    view = site_view(situation, look_ahead(situation, PARAMS))
    for from_idx, to_idx, role_idx, works_as_idx, travel, people in moves:
        leaves, arrives = PARAMS.departure_minutes, PARAMS.departure_minutes + travel
        view.people[:, role_idx, from_idx] -= people * share_after(np.array([leaves]))[:, 0]
        view.people[:, works_as_idx, to_idx] += people * share_after(np.array([arrives]))[:, 0]
    values = engine.run({FEATURES_INPUT: view_features(view)})[VALUES_OUTPUT].astype(float)
    return values * value_scale_minutes(view)[:, None]


MOVES = [(4, 0, VACCINATOR_IDX, VACCINATOR_IDX, 20.0, 1), (3, 1, 0, 1, 10.0, 2), (4, 2, VACCINATOR_IDX, 3, 30.0, 1)]


@pytest.mark.parametrize("num_moves", [0, 1, 3])
def test_values_are_those_of_a_view_built_anew_after_the_moves(num_moves):
    situation, engine = busy_situation(), Watched()
    values = SiteValues(situation, engine, PARAMS)
    for move in MOVES[:num_moves]:
        values.move(*move)
    expected = asked_anew(situation, MOVES[:num_moves], engine)
    sites = np.arange(5)
    by_travel = -expected[:, : len(TRAVELS_MINUTES) * NUM_ROLES].reshape(5, len(TRAVELS_MINUTES), NUM_ROLES)
    for place, travel in enumerate(TRAVELS_MINUTES):
        np.testing.assert_allclose(values.gain(sites, np.full(5, travel)), by_travel[:, place], rtol=1e-4, atol=1e-3)
    between = values.gain(sites, np.full(5, 20.0))
    np.testing.assert_allclose(between, by_travel[:, 1] * 2 / 3 + by_travel[:, 2] / 3, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(values.loss(sites), expected[:, 16:20], rtol=1e-4, atol=1e-3)
    prices = np.maximum(expected[:, 20:] / ADDED_PEOPLE, 0.0)
    np.testing.assert_allclose(values.arrival_minutes(), prices, rtol=1e-4, atol=1e-3)


def test_the_net_is_asked_once_about_all_and_then_about_those_that_were_touched():
    engine = Watched()
    values = SiteValues(busy_situation(), engine, PARAMS)
    sites = np.arange(5)
    values.gain(sites, np.zeros(5))
    values.loss(sites)
    assert engine.num_rows == [5]
    values.move(*MOVES[0])
    values.gain(np.array([1, 2]), np.zeros(2))
    assert engine.num_rows == [5]
    values.loss(np.array([4, 0, 4]))
    values.gain(sites, np.zeros(5))
    assert engine.num_rows == [5, 2]


def test_where_a_site_is_closed_nobody_is_worth_anything():
    situation = busy_situation()
    minutes = np.array([480.0, 480, 0, 480, 480])
    state = replace(situation.state, is_open=minutes > 0, open_minutes_left=minutes)
    engine = Watched()
    values = SiteValues(surveyed(state, situation.forecast), engine, PARAMS)
    assert engine.num_rows == [4]
    closed = np.array([2])
    assert not values.gain(closed, np.zeros(1)).any()
    assert not values.loss(closed).any()
    assert not values.arrival_minutes()[2].any()
    assert values.may_gain.tolist() == [True] * 5
    assert SiteValues(surveyed(state, situation.forecast), engine, PARAMS, 300.0).may_gain.tolist()[:3:2] == [
        True,
        False,
    ]


def test_a_person_is_worth_much_where_people_wait_and_little_where_nobody_is_short():
    values = SiteValues(busy_situation(), Watched(), PARAMS)
    gain = values.gain(np.arange(5), np.full(5, 15.0))[:, VACCINATOR_IDX]
    loss = values.loss(np.arange(5))[:, VACCINATOR_IDX]
    assert gain[0] > 300
    assert abs(gain[4]) < 100
    assert abs(loss[4]) < 100
    assert loss[0] > gain[0]
    prices = values.arrival_minutes()[:, 0]
    assert prices[0] > 20 > 4 * prices[4]
    later = values.gain(np.zeros(2, dtype=int), np.array([0.0, 60.0]))[:, VACCINATOR_IDX]
    assert later[0] > later[1]


def test_a_city_of_which_little_is_known_has_finite_values():
    for seed in range(3):
        state, forecast = random_state(6, seed, unknown_share=0.3)
        values = SiteValues(surveyed(state, forecast), Watched(), PARAMS)
        assert np.isfinite(values.gain(np.arange(6), np.full(6, 12.0))).all()
        assert np.isfinite(values.arrival_minutes()).all()


@pytest.mark.parametrize("said", [words for words in SPOILT if "must" in words])
@pytest.mark.parametrize("from_question", [0, 1])
def test_an_answer_that_cannot_be_right_is_refused_whenever_it_comes(said, from_question):
    engine, situation = Broken(SPOILT[said], from_question), busy_situation()

    def ask():
        values = SiteValues(situation, engine, PARAMS)
        values.move(*MOVES[0])
        values.loss(np.array([0]))

    with pytest.raises(EngineFailed, match=re.escape(said)):
        ask()
