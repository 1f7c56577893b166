"""What the arrival net is fed: shapes, masks, scales, and that padding is no site."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from doseflow.domain.recent_periods import RecentPeriods
from doseflow.encoding.city_features import encode_city
from doseflow.forecast.booked_arrivals import BookingParams
from doseflow.forecast.booked_curve import booked_curve
from doseflow.forecast.net_inputs import (
    AHEAD_CHANNELS,
    BUCKETS,
    CANDIDATES,
    NEIGHBOURS,
    NUM_SITE_FEATURES,
    RECENT_CHANNELS,
    bucket_of,
    net_inputs,
)
from doseflow.simulate.synthetic_city import synthetic_city
from doseflow.state.unknown import unknown_state

PARAMS = BookingParams()
BY_SITE = ("recent", "ahead", "candidates", "candidates_known", "site", "rest_doses", "site_mask")
TOPOLOGY = ("neighbour_idx", "neighbour_travel", "neighbour_known")


def recent_of(num_sites, **given):
    return replace(RecentPeriods.unknown(num_sites), **given)


def channel(inputs, array, name):
    names = {"recent": RECENT_CHANNELS, "ahead": AHEAD_CHANNELS, "candidates": CANDIDATES}
    names["candidates_known"] = CANDIDATES
    return inputs[array][0, ..., names[array].index(name)]


@pytest.fixture(scope="module")
def told(make_state):
    """Three sites of which everything is told that the net is fed."""
    rng = np.random.default_rng(3)
    return make_state(
        3,
        arrivals_people=np.array([4.0, 0.0, 2.0]),
        waiting_people=rng.integers(0, 9, (3, 4)).astype(float),
        booked_people=rng.integers(0, 30, (3, 8)).astype(float),
        mean_early_minutes=np.array([10.0, -5.0, 0.0]),
        no_show_share=np.full(3, 0.1),
        walk_in_share=np.full(3, 0.2),
        arrivals_past_weeks_people=rng.poisson(5, (3, 4, 24)).astype(float),
        recent=RecentPeriods(
            arrivals_people=rng.poisson(5, (3, 24)).astype(float),
            booked_people=rng.integers(0, 9, (3, 24)).astype(float),
            past_weeks_people=rng.poisson(5, (3, 4, 24)).astype(float),
        ),
    )


def test_arrays_have_the_widths_of_their_channels_and_one_replica(told):
    inputs = net_inputs(told, PARAMS)
    shapes = {name: array.shape for name, array in inputs.items()}
    assert shapes == {
        "recent": (1, 16, 24, len(RECENT_CHANNELS)),
        "ahead": (1, 16, 24, len(AHEAD_CHANNELS)),
        "candidates": (1, 16, 24, len(CANDIDATES)),
        "candidates_known": (1, 16, 24, len(CANDIDATES)),
        "site": (1, 16, NUM_SITE_FEATURES),
        "rest_doses": (1, 16),
        "site_mask": (1, 16),
        "neighbour_idx": (1, 16, NEIGHBOURS),
        "neighbour_travel": (1, 16, NEIGHBOURS),
        "neighbour_known": (1, 16, NEIGHBOURS),
    }
    assert {name for name, array in inputs.items() if array.dtype != np.float32} == {"neighbour_idx"}
    assert inputs["neighbour_idx"].dtype == np.int64


def test_the_net_reads_whether_a_period_is_open_where_it_is_written():
    arrival_net = pytest.importorskip("doseflow.networks.arrival_net", reason="torch is not installed")
    assert AHEAD_CHANNELS[arrival_net.OPEN_CHANNEL] == "is_open"


def test_its_inputs_have_the_names_that_the_net_takes(told):
    arrival_net = pytest.importorskip("doseflow.networks.arrival_net", reason="torch is not installed")
    assert set(net_inputs(told, PARAMS)) == set(arrival_net.input_names())


@pytest.mark.parametrize("moment", [datetime(2021, 6, 8, hour, 0, tzinfo=UTC) for hour in (0, 2, 8, 15, 23)])
@pytest.mark.parametrize("num_sites", [1, 20])
def test_of_a_city_that_told_nothing_all_numbers_are_finite_and_all_masks_are_off(moment, num_sites):
    inputs = net_inputs(unknown_state(synthetic_city(num_sites, seed=1), moment), PARAMS)
    assert all(np.isfinite(array).all() for array in inputs.values())
    assert not inputs["candidates_known"].any()
    assert not inputs["recent"].any()
    for name in ("booked_known", "past_weeks_known"):
        assert not channel(inputs, "ahead", name).any()


def test_masks_say_what_is_known_and_unknown_values_are_0(make_state):
    arrived, booked, past = np.full((3, 24), np.nan), np.full((3, 24), np.nan), np.full((3, 4, 24), np.nan)
    arrived[0, 5:9], booked[0, 7:], past[0, 2, :8] = 3.0, 2.0, 4.0
    coming = np.full((3, 4, 24), np.nan)
    coming[1, 3, 10:] = 7.0
    ahead = np.full((3, 8), np.nan)
    ahead[0] = 6.0
    state = make_state(
        3,
        booked_people=ahead,
        arrivals_past_weeks_people=coming,
        recent=RecentPeriods(arrived, booked, past),
    )
    inputs = net_inputs(state, PARAMS)
    known = np.isfinite(arrived)
    np.testing.assert_array_equal(channel(inputs, "recent", "arrivals_known")[:3], known)
    against_booked = known & np.isfinite(booked)
    np.testing.assert_array_equal(channel(inputs, "recent", "against_booked_known")[:3], against_booked)
    against_past = known & np.isfinite(past).any(axis=1)
    np.testing.assert_array_equal(channel(inputs, "recent", "against_past_weeks_known")[:3], against_past)
    assert against_booked.sum() == 2
    assert against_past.sum() == 3
    expected = {
        "booked": np.repeat(np.isfinite(ahead), 3, axis=1),
        "past_weeks": np.isfinite(coming).any(axis=1),
        "lately": np.zeros((3, 24), dtype=bool),
    }
    for name, is_known in expected.items():
        np.testing.assert_array_equal(channel(inputs, "candidates_known", name)[:3], is_known)
        assert not channel(inputs, "candidates", name)[:3][~is_known].any()
        assert (channel(inputs, "candidates", name)[:3][is_known] > 0).all()
    for name in ("booked", "past_weeks"):
        np.testing.assert_array_equal(channel(inputs, "ahead", f"{name}_known")[:3], expected[name])
        assert not channel(inputs, "ahead", f"{name}_log")[:3][~expected[name]].any()
    for mask, value in (("arrivals_known", "arrivals_log"), ("against_booked_known", "against_booked")):
        assert not channel(inputs, "recent", value)[channel(inputs, "recent", mask) == 0].any()


def test_a_true_nobody_is_known_and_0(make_state):
    inputs = net_inputs(make_state(2, recent=recent_of(2, arrivals_people=np.zeros((2, 24)))), PARAMS)
    assert channel(inputs, "recent", "arrivals_known")[0].all()
    assert channel(inputs, "candidates_known", "lately")[0].all()
    assert not channel(inputs, "candidates", "lately").any()


def test_lately_is_the_mean_of_the_known_periods_of_the_last_hour(make_state):
    arrived = np.full((3, 24), np.nan)
    arrived[:, :12] = 50.0
    arrived[0, [13, 20, 23]] = [3, 4, 8]
    state = make_state(3, arrivals_people=np.array([99.0, 6.0, np.nan]), recent=recent_of(3, arrivals_people=arrived))
    inputs = net_inputs(state, PARAMS)
    lately = channel(inputs, "candidates", "lately")[:3]
    np.testing.assert_allclose(lately, np.repeat([[5.0], [6.0], [0.0]], 24, axis=1))
    assert channel(inputs, "candidates_known", "lately")[:3].all(axis=1).tolist() == [True, True, False]


def test_the_booked_expectation_is_the_curve_and_a_surprise_is_in_standard_deviations(told):
    inputs, curve = net_inputs(told, PARAMS), booked_curve(told, PARAMS)
    np.testing.assert_allclose(channel(inputs, "candidates", "booked")[:3], curve[:, 24:], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(3 * channel(inputs, "ahead", "booked_log")[:3], np.log1p(curve[:, 24:]), atol=1e-5)
    surprise = (told.recent.arrivals_people - curve[:, :24]) / np.sqrt(curve[:, :24] + 1)
    np.testing.assert_allclose(channel(inputs, "recent", "against_booked")[:3], np.clip(surprise, -6, 6), atol=1e-5)


def test_absurd_readings_stay_in_bounds(make_state):
    state = make_state(
        2,
        arrivals_people=np.full(2, 1e6),
        booked_people=np.full((2, 8), 1e6),
        arrivals_past_weeks_people=np.full((2, 4, 24), 1e6),
        recent=RecentPeriods(np.full((2, 24), 1e6), np.zeros((2, 24)), np.zeros((2, 4, 24))),
    )
    inputs = net_inputs(state, PARAMS)
    for name in ("recent", "ahead", "site"):
        assert np.abs(inputs[name]).max() <= 8


def test_nobody_is_expected_in_closed_periods(make_state):
    state = make_state(
        2,
        booked_people=np.full((2, 8), 9.0),
        arrivals_people=np.full(2, 5.0),
        arrivals_past_weeks_people=np.full((2, 4, 24), 4.0),
        open_minutes_left=np.array([60.0, 480.0]),
        as_of=datetime(2021, 6, 8, 15, 0, tzinfo=UTC),
    )
    inputs = net_inputs(state, PARAMS)
    assert channel(inputs, "ahead", "is_open")[0].tolist() == [1.0] * 12 + [0.0] * 12
    assert not inputs["candidates"][0, 0, 12:].any()
    assert inputs["candidates"][0, 0, :12].all()
    assert inputs["candidates"][0, 1].all()


def test_doses_of_the_rest_of_the_day_are_who_waits_and_who_comes_until_closing(make_state):
    waiting = np.array([[2.0, 1.0, 3.0, 40.0], [np.nan, 1.0, np.nan, np.nan], [0, 0, 0, 0]])
    state = make_state(
        3,
        arrivals_people=np.array([4.0, 4.0, np.nan]),
        waiting_people=waiting,
        open_minutes_left=np.array([300.0, 60.0, 300.0]),
    )
    rest = net_inputs(state, PARAMS)["rest_doses"][0, :3]
    # Four every five minutes for five hours, and for one; those under observation have their dose.
    assert rest == pytest.approx([240 + 6, 48 + 1, 0])


def test_the_day_turns_with_the_local_clock(make_state):
    inputs = net_inputs(make_state(2, as_of=datetime(2021, 6, 8, 4, 0, tzinfo=UTC)), PARAMS)
    # Six in the morning in Prague is a quarter of the day.
    assert channel(inputs, "ahead", "day_sine")[0, 0] == pytest.approx(1, abs=1e-6)
    assert channel(inputs, "ahead", "day_cosine")[0, 12] == pytest.approx(np.cos(2 * np.pi * 7 / 24), abs=1e-6)
    assert channel(inputs, "ahead", "ahead_share")[0, [0, 23]] == pytest.approx([1 / 24, 1])


def test_classes_stand_beside_whether_they_are_known_and_their_age(told):
    encoded, site = encode_city(told), net_inputs(told, PARAMS)["site"][0, :3]
    parts = np.split(site, [encoded.values.shape[1], 2 * encoded.values.shape[1]], axis=1)
    for part, expected in zip(parts, (encoded.values, encoded.known, encoded.age), strict=True):
        np.testing.assert_array_equal(part, expected)


def test_a_bucket_is_the_smallest_that_holds_the_city():
    assert [bucket_of(num) for num in (1, 16, 17, 64, 65, 200, 513, 4096)] == [16, 16, 32, 64, 96, 208, 640, 4096]
    assert bucket_of(4097) == 4097
    assert all(bucket_of(bucket) == bucket for bucket in BUCKETS)


def test_the_inputs_of_a_site_do_not_depend_on_the_padding_which_is_empty(told):
    small, large = net_inputs(told, PARAMS), net_inputs(told, PARAMS, num_padded=40)
    for name in BY_SITE:
        np.testing.assert_array_equal(large[name][:, :16], small[name])
        assert not large[name][:, 3:].any()
    for name in TOPOLOGY:
        np.testing.assert_array_equal(large[name][:, :16], small[name])
        assert not large[name][:, 3:].any()
    assert small["site_mask"][0].tolist() == [1.0] * 3 + [0.0] * 13


def test_neighbours_are_the_nearest_with_their_travel_times():
    city = synthetic_city(30, seed=2)
    inputs = net_inputs(unknown_state(city, datetime(2021, 6, 8, 8, 0, tzinfo=UTC)), PARAMS)
    known = inputs["neighbour_known"][0, :30] > 0
    idx = inputs["neighbour_idx"][0, :30]
    assert (idx < 30).all()
    assert not (idx[known] == np.repeat(np.arange(30)[:, None], NEIGHBOURS, axis=1)[known]).any()
    for site_idx in range(30):
        told_idx = [other for other in city.neighbour_idx[site_idx] if other >= 0][:NEIGHBOURS]
        assert idx[site_idx][known[site_idx]].tolist() == told_idx
        minutes = city.neighbour_travel_minutes[site_idx][: len(told_idx)]
        np.testing.assert_allclose(30 * inputs["neighbour_travel"][0, site_idx][known[site_idx]], minutes, rtol=1e-5)


def test_a_city_with_fewer_neighbours_than_the_net_looks_at_has_the_rest_unknown(told):
    inputs = net_inputs(told, PARAMS)
    assert inputs["neighbour_known"][0].sum(axis=1).tolist() == [2.0] * 3 + [0.0] * 13
    assert inputs["neighbour_idx"][0, :3, :2].tolist() == [[1, 2], [0, 2], [0, 1]]


def test_a_site_alone_has_no_neighbour():
    inputs = net_inputs(unknown_state(synthetic_city(1, seed=1), datetime(2021, 6, 8, 8, 0, tzinfo=UTC)), PARAMS)
    assert not inputs["neighbour_known"].any()
    assert inputs["neighbour_idx"].shape == (1, 16, NEIGHBOURS)
