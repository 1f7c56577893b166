"""The baseline forecaster as a whole."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doseflow.domain.forecast import MEDIAN_IDX, QUANTILE_LEVELS, ForecastBasis
from doseflow.forecast.last_value import LastValue
from doseflow.forecast.seasonal_naive import SeasonalNaive


def _bookings(num_sites=3, per_bin=12.0):
    return {
        "booked_people": np.full((num_sites, 8), per_bin),
        "no_show_share": np.zeros(num_sites),
        "mean_early_minutes": np.zeros(num_sites),
        "walk_in_share": np.zeros(num_sites),
    }


def test_rests_on_past_weeks_then_bookings_then_the_latest_arrivals_then_nothing(make_state):
    past = np.full((4, 4, 24), np.nan)
    past[0] = 5.0
    bookings = _bookings(4)
    bookings["booked_people"][2:] = np.nan
    latest = np.array([9.0, 9.0, 9.0, np.nan])
    state = make_state(4, arrivals_past_weeks_people=past, arrivals_people=latest, **bookings)
    forecast = SeasonalNaive()(state)
    assert forecast.basis.tolist() == [
        ForecastBasis.PAST_WEEKS,
        ForecastBasis.BOOKINGS,
        ForecastBasis.LAST_PERIODS,
        ForecastBasis.NOTHING,
    ]
    medians = forecast.arrivals_people[:, :, MEDIAN_IDX].mean(axis=1)
    assert medians[0] == pytest.approx(5, abs=0.5)
    assert medians[1] == pytest.approx(4, abs=0.5)
    assert medians[2] == pytest.approx(9, abs=1)
    assert np.isnan(forecast.arrivals_people[3]).all()
    assert np.isnan(forecast.doses_rest_of_day[3]).all()


def test_the_basis_of_a_site_is_the_weakest_of_its_open_periods(make_state):
    past = np.full((3, 4, 24), 5.0)
    past[1, :, 3] = np.nan
    state = make_state(3, arrivals_past_weeks_people=past, **_bookings())
    assert SeasonalNaive()(state).basis.tolist() == [0, ForecastBasis.BOOKINGS, 0]


def test_closed_hours_are_a_known_zero(make_state):
    state = make_state(
        2,
        arrivals_past_weeks_people=np.full((2, 4, 24), 5.0),
        is_open=np.array([True, False]),
        open_minutes_left=np.array([60.0, 0.0]),
        as_of=datetime(2021, 6, 8, 15, 0, tzinfo=UTC),
    )
    forecast = SeasonalNaive()(state)
    assert (forecast.arrivals_people[0, 12:] == 0).all()
    assert (forecast.arrivals_people[0, :12, MEDIAN_IDX] > 0).all()
    assert (forecast.arrivals_people[1, 12:] == 0).all()


def test_a_site_nobody_knows_is_still_a_known_zero_while_it_is_closed(make_state):
    state = make_state(
        1,
        is_open=np.array([False]),
        open_minutes_left=np.array([0.0]),
        as_of=datetime(2021, 6, 8, 20, 0, tzinfo=UTC),
    )
    forecast = SeasonalNaive()(state)
    assert (forecast.arrivals_people == 0).all()
    assert (forecast.doses_rest_of_day == 0).all()


def test_a_site_that_opens_within_the_horizon_is_forecast_from_its_opening_on(make_state):
    # 07:30 in Prague, doors at 08:00.
    state = make_state(
        1,
        arrivals_past_weeks_people=np.full((1, 4, 24), 5.0),
        is_open=np.array([False]),
        open_minutes_left=np.array([0.0]),
        as_of=datetime(2021, 6, 8, 5, 30, tzinfo=UTC),
    )
    medians = SeasonalNaive()(state).arrivals_people[0, :, MEDIAN_IDX]
    assert (medians[:6] == 0).all()
    assert (medians[6:] > 0).all()


def test_doses_of_the_rest_of_the_day_are_the_mean_rate_until_closing_and_those_waiting(make_state):
    waiting = np.array([[7.0, 2.0, 1.0, 30.0]])
    state = make_state(
        1,
        arrivals_past_weeks_people=np.full((1, 4, 24), 5.0),
        open_minutes_left=np.array([300.0]),
        waiting_people=waiting,
    )
    doses = SeasonalNaive()(state).doses_rest_of_day[0]
    assert doses[MEDIAN_IDX] == pytest.approx(5 * 60 + 10, rel=0.02)
    assert doses[0] < 0.95 * doses[MEDIAN_IDX] < doses[-1]


def test_doses_of_a_day_that_begins_after_the_horizon_are_unknown(make_state):
    state = make_state(
        1,
        arrivals_past_weeks_people=np.full((1, 4, 24), 5.0),
        is_open=np.array([False]),
        open_minutes_left=np.array([0.0]),
        as_of=datetime(2021, 6, 8, 2, 0, tzinfo=UTC),
    )
    assert np.isnan(SeasonalNaive()(state).doses_rest_of_day).all()


@pytest.mark.parametrize("rate_variance", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("mean_people", [3.0, 8.0, 25.0])
def test_the_80_per_cent_interval_holds_about_80_per_cent_of_what_comes(
    make_state, past_weeks_of, mean_people, rate_variance
):
    past, coming = past_weeks_of(np.full(400, mean_people), rate_variance, seed=3)
    quantiles = SeasonalNaive()(make_state(400, arrivals_past_weeks_people=past)).arrivals_people
    low, high = quantiles[..., 0], quantiles[..., -1]
    # A whole number stands for the half person around it, as the continuous quantiles do.
    rng = np.random.default_rng(4)
    spread = coming + rng.uniform(-0.5, 0.5, coming.shape)
    covered = ((spread >= low) & (spread <= high)) | ((coming == 0) & (low == 0))
    assert covered.mean() == pytest.approx(0.8, abs=0.04)


@pytest.mark.parametrize("level_idx", range(5))
def test_each_quantile_is_exceeded_about_as_often_as_it_says(make_state, past_weeks_of, level_idx):
    past, coming = past_weeks_of(np.full(400, 8.0), 0.1, seed=5)
    quantile = SeasonalNaive()(make_state(400, arrivals_past_weeks_people=past)).arrivals_people[..., level_idx]
    below = (coming + np.random.default_rng(6).uniform(-0.5, 0.5, coming.shape) <= quantile).mean()
    assert below == pytest.approx(QUANTILE_LEVELS[level_idx], abs=0.03)


@given(seed=st.integers(0, 10_000), unknown_share=st.floats(0, 1))
def test_quantiles_never_fall_and_are_never_negative_whatever_is_unknown(make_state, seed, unknown_share):
    rng = np.random.default_rng(seed)

    def holed(values):
        return np.where(rng.random(values.shape) < unknown_share, np.nan, values)

    state = make_state(
        6,
        arrivals_past_weeks_people=holed(rng.poisson(3, (6, 4, 24)).astype(float)),
        booked_people=holed(rng.poisson(9, (6, 8)).astype(float)),
        arrivals_people=holed(rng.poisson(3, 6).astype(float)),
        no_show_share=holed(rng.random(6)),
        walk_in_share=holed(rng.random(6)),
        mean_early_minutes=holed(rng.normal(10, 20, 6)),
        waiting_people=holed(rng.poisson(5, (6, 4)).astype(float)),
        is_open=rng.random(6) < 0.7,
        open_minutes_left=rng.uniform(0, 600, 6),
    )
    for forecast in (SeasonalNaive()(state), LastValue()(state)):
        for quantiles in (forecast.arrivals_people, forecast.doses_rest_of_day):
            known = quantiles[np.isfinite(quantiles)]
            assert (known >= 0).all()
            steps = np.diff(quantiles, axis=-1)
            assert (steps[np.isfinite(steps)] >= 0).all()
        nothing = np.isnan(forecast.arrivals_people).any(axis=(1, 2))
        assert ((forecast.basis == ForecastBasis.NOTHING) == nothing).all()


def test_last_value_holds_the_latest_arrivals(make_state):
    state = make_state(2, arrivals_people=np.array([40.0, np.nan]))
    forecast = LastValue()(state)
    assert forecast.arrivals_people[0, :, MEDIAN_IDX] == pytest.approx(40, abs=1)
    assert forecast.basis.tolist() == [ForecastBasis.LAST_PERIODS, ForecastBasis.NOTHING]
