"""What a site needs."""

from dataclasses import replace

import numpy as np
import pytest
from rules_city import calm_state, city_of

from doseflow.policy.site_needs import NeedParams, rate_per_minute, site_needs
from doseflow.policy.site_standing import site_standing

LEVELS = NeedParams(beta_call=0.0, beta_target=1.0, beta_give=2.0, beta_open=3.0)


def _needs(state, rate, params=LEVELS):
    return site_needs(state, site_standing(state), np.full(state.city.num_sites, rate), params)


def test_each_level_is_load_and_its_share_of_the_square_root():
    # 1 person a minute: loads of 2, 2, 4 people and 15 seats.
    needs = _needs(calm_state(city_of(1)), 1.0)
    assert needs.call_people[0].tolist() == [2, 2, 4, 1]
    assert needs.target_people[0].tolist() == [4, 4, 6, 2]
    assert needs.give_people[0].tolist() == [5, 5, 8, 2]
    assert needs.open_people[0].tolist() == [6, 6, 10, 2]


def test_the_queue_of_the_moment_is_worked_off_in_time_at_every_stage_still_ahead():
    waiting = np.array([[0.0, 35.0, 0.0, 0.0]])
    state = calm_state(city_of(1), waiting_people=waiting)
    params = replace(LEVELS, clear_queue_minutes=20.0, tolerated_wait_minutes=5.0)
    # 30 too many, of 2 minutes at screening and 4 at vaccination, in 20 minutes: 3 and 6 people more.
    assert _needs(state, 1.0, params).call_people[0].tolist() == [2, 5, 10, 1]


def test_no_more_than_the_stations_and_no_fewer_than_the_minimum_team():
    state = calm_state(city_of(1), stations_possible=np.array([[1.0, 3.0, 3.0, 3.0]]))
    assert _needs(state, 1.0).open_people[0].tolist() == [1, 3, 3, 2]
    assert _needs(state, 0.0).open_people[0].tolist() == [1, 1, 1, 1]


def test_observers_watch_the_seats_taken_now_where_those_are_more():
    state = calm_state(city_of(1), seats_taken=np.array([61.0]))
    assert _needs(state, 1.0).call_people[0, 3] == 5
    crowded = calm_state(city_of(1), seats_taken=np.array([61.0]), seats_possible=np.array([30.0]))
    assert _needs(crowded, 1.0).call_people[0, 3] == 2


def test_with_unknown_arrivals_a_site_gives_nobody_and_calls_for_its_minimum_team():
    needs = _needs(calm_state(city_of(1)), np.nan)
    assert (needs.call_people == 1).all()
    assert (needs.target_people == 1).all()
    assert np.isinf(needs.give_people).all()
    assert np.isinf(needs.open_people).all()


def test_a_closed_site_needs_nobody_but_observers_for_those_who_sit_there():
    state = calm_state(city_of(1), is_open=np.array([False]), seats_taken=np.array([16.0]))
    needs = _needs(state, 1.0)
    for people in (needs.call_people, needs.target_people, needs.give_people, needs.open_people):
        assert people[0].tolist() == [0, 0, 0, 2]


def test_the_rate_before_closing_counts_only_the_minutes_until_then():
    arrivals = np.zeros((1, 24))
    arrivals[0, :4] = 10.0
    assert rate_per_minute(arrivals, np.array([20.0])) == pytest.approx(2.0)
    assert rate_per_minute(arrivals, np.array([300.0])) == pytest.approx(40 / 60)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"beta_call": -0.1}, "beta_call"),
        ({"beta_call": 2.0, "beta_target": 1.0}, "beta_call"),
        ({"planning_level": 0.6}, "planning_level"),
        ({"clear_queue_minutes": 0.0}, "clear_queue_minutes"),
        ({"tolerated_wait_minutes": 61.0}, "tolerated_wait_minutes"),
    ],
)
def test_a_parameter_out_of_range_is_named(changes, named):
    with pytest.raises(ValueError, match=f"^{named}: must"):
        NeedParams(**changes)
