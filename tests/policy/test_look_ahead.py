"""What the look-ahead takes from a situation."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules_city import AS_OF, NOW_MINUTES, calm_state, city_of, forecast_of, random_state

from doseflow.domain.decisions import StaffMove, Why
from doseflow.domain.orders import Commitments
from doseflow.domain.roles import Role
from doseflow.policy.look_ahead import EXPECTED_CASE, LookAheadParams, look_ahead
from doseflow.policy.reach import Reach
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.situation import survey
from doseflow.policy.time_ahead import FORECAST_STEPS, GRID_ENDS_MINUTES, GRID_MINUTES, on_grid, share_after


def _ahead(state, per_minute=0.4, doses=200.0, **params):
    return look_ahead(survey(state, forecast_of(state, per_minute, doses), NeedParams()), LookAheadParams(**params))


def test_the_grid_is_fine_for_an_hour_and_covers_the_forecast_exactly():
    assert set(GRID_MINUTES[GRID_ENDS_MINUTES <= 60]) == {5.0}
    assert GRID_ENDS_MINUTES[FORECAST_STEPS - 1] == 120.0


@given(st.floats(0, 500))
def test_the_share_after_a_moment_adds_up_to_the_time_that_is_left(moment):
    left = (share_after(np.array([moment]))[:, 0] * GRID_MINUTES).sum()
    assert left == pytest.approx(max(GRID_ENDS_MINUTES[-1] - moment, 0.0))


def test_the_grid_loses_nobody_and_nobody_comes_after_closing():
    rng = np.random.default_rng(1)
    arrivals, open_minutes = rng.poisson(3, (3, 24)).astype(float), np.array([100.0, 200.0, 900.0])
    people = on_grid(arrivals, np.array([0.5, 0.5, 0.5]), open_minutes)
    late_minutes = np.minimum(np.maximum(open_minutes - 120, 0), GRID_ENDS_MINUTES[-1] - 120)
    assert people.sum(axis=0) == pytest.approx(arrivals.sum(axis=1) + 0.5 * late_minutes)
    assert people[:12].sum(axis=0) == pytest.approx(arrivals[:, :12].sum(axis=1))


def test_who_comes_late_is_what_the_doses_of_the_day_leave_over():
    # 0.4 a minute for two hours are 48 of 200 doses, the other 152 fall into the 360 minutes after them.
    come = _ahead(calm_state(city_of(1))).come_people[:, EXPECTED_CASE, 0]
    last = (GRID_ENDS_MINUTES[-1] - 120) * 152 / 360
    assert come[-1] == pytest.approx(48 + last, rel=0.03)


def test_few_and_many_lie_round_the_expected_number_wider_where_fewer_come():
    come = _ahead(calm_state(city_of(2)), np.array([0.1, 2.0])).come_people[-1]
    spread = (come[2] - come[0]) / come[1]
    assert (np.diff(come, axis=0) > 0).all()
    assert spread[0] > spread[1]


def test_after_closing_and_after_the_shift_no_waiting_counts():
    state = calm_state(city_of(2), open_minutes_left=np.array([45.0, 480.0]))
    state = replace(state, staff=replace(state.staff, shift_ends_epoch_minutes=np.full(8, NOW_MINUTES + 90.0)))
    counted = _ahead(state, fade_minutes=100_000.0).counted_minutes
    assert counted.sum(axis=0) == pytest.approx([45.0, 90.0], rel=0.001)


def test_who_waits_at_the_end_counts_once_more():
    state = calm_state(city_of(2), open_minutes_left=np.array([45.0, 480.0]))
    last = _ahead(state, fade_minutes=100_000.0, tail_minutes=20.0).last_minutes
    assert last.sum(axis=0) == pytest.approx([20.0, 20.0], rel=0.01)
    assert np.flatnonzero(last[:, 0]).tolist() == [8]


def test_waiting_counts_half_after_the_fading_time():
    counted = _ahead(calm_state(city_of(1)), fade_minutes=57.5).counted_minutes
    assert counted[11, 0] == pytest.approx(2.5)


def test_a_suspended_site_has_no_waiting_to_save():
    state = calm_state(city_of(2), commitments=Commitments(suspended_site_ids=frozenset({"s0"})))
    ahead = _ahead(state)
    assert ahead.counted_minutes[:, 0].sum() == ahead.last_minutes[:, 0].sum() == 0.0
    assert ahead.counted_minutes[:, 1].sum() > 0


@pytest.mark.parametrize(("kind", "from_minute"), [("acknowledged", 30.0), ("under_way", 10.0)])
def test_who_is_on_the_way_is_there_from_when_they_arrive(kind, from_minute):
    move = StaffMove(
        "s1", "s0", Role.SCREENER, Role.VACCINATOR, AS_OF + timedelta(hours=6), 2, 20.0, Why("understaffed")
    )
    before = _ahead(calm_state(city_of(2))).people
    after = _ahead(calm_state(city_of(2), commitments=Commitments(**{kind: (move,)}))).people
    minutes = ((after - before)[:, 2, 0] * GRID_MINUTES).sum() / 2
    assert minutes == pytest.approx(GRID_ENDS_MINUTES[-1] - from_minute)


def test_breaks_take_people_away_as_reported_and_later_as_usual():
    breaks = np.zeros((1, 4))
    breaks[0, 2] = 2.0
    state = calm_state(city_of(1), breaks_due_people=breaks, worked_hours=np.full((1, 4), 2.5))
    vaccinators = _ahead(state, break_after_hours=3.0, break_window_hours=2.0).people[:, 2, 0]
    # Two breaks of half an hour in the coming hour, and then a quarter of an hour's time for 2.5 - 1 hours more.
    assert vaccinators[:12] == pytest.approx(4 - 2 * 0.5)
    assert vaccinators[13] == pytest.approx(4 * (1 - 0.25))
    assert vaccinators[-1] == 4.0


def test_what_is_unknown_makes_no_number_unknown():
    for seed in range(5):
        ahead = _ahead(random_state(12, seed, unknown_share=0.5)[0], np.nan, np.nan)
        for values in (ahead.queue_people, ahead.come_people, ahead.people, ahead.counted_minutes, ahead.last_minutes):
            assert np.isfinite(values).all()


def test_pairs_are_all_trips_with_a_known_travel_time_by_name():
    city = city_of(12)
    pairs = Reach(city).pairs
    listed = dict(zip(zip(pairs.from_idx, pairs.to_idx, strict=True), pairs.travel_minutes, strict=True))
    assert listed == city.travel_by_pair
    names = [(f"s{to}", f"s{start}") for start, to in zip(pairs.from_idx, pairs.to_idx, strict=True)]
    assert names == sorted(names)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("departure_minutes", 61.0),
        ("break_minutes", -1.0),
        ("break_window_hours", 0.0),
        ("level_error_share", 0.6),
        ("tail_minutes", 300.0),
        ("fade_minutes", 5.0),
    ],
)
def test_a_look_ahead_out_of_range_is_refused_by_name(field, value):
    with pytest.raises(ValueError, match=f"^{field}: "):
        LookAheadParams(**{field: value})
