"""The forecast of a table keeps its promises on data whose law is known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import nbinom
from series_samples import DISPERSION, counts_of, mean_of, table_of

from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.forecast.series import SeriesForecastParams, forecast_series

QUICK = SeriesForecastParams(rows_per_fit=3000, max_fits=4, tree_examples=4000)
NUM_SERIES, NUM_STEPS, HORIZON = 12, 24 * 7 * 5, 24
LEVELS = np.asarray(QUANTILE_LEVELS)


@pytest.fixture(scope="module")
def mean():
    return mean_of(NUM_SERIES, NUM_STEPS + HORIZON)


@pytest.fixture(scope="module")
def table(mean):
    return table_of(counts_of(mean)[:, :NUM_STEPS])


@pytest.fixture(scope="module")
def made(table):
    return forecast_series(table, HORIZON, QUICK)


def expected_loss(quantiles, mean):
    """Mean pinball loss of quantiles under the true law, by draws of it."""
    draws = np.stack([counts_of(mean, seed) for seed in range(100, 140)])[..., None]
    error = draws - quantiles
    return np.maximum(LEVELS * error, (LEVELS - 1) * error).mean()


def test_the_loss_is_within_six_per_cent_of_the_true_law(made, mean):
    future = mean[:, -HORIZON:]
    truth = nbinom.ppf(LEVELS, DISPERSION, DISPERSION / (DISPERSION + future[..., None]))
    assert expected_loss(made, future) < 1.06 * expected_loss(truth, future)


def test_eighty_per_cent_intervals_cover_eighty_per_cent_of_the_true_law(made, mean):
    draws = np.stack([counts_of(mean[:, -HORIZON:], seed) for seed in range(100, 140)])
    covered = ((draws >= made[..., 0]) & (draws <= made[..., -1])).mean()
    assert 0.77 < covered < 0.84


def test_quantiles_never_fall_and_are_never_negative(made):
    assert (np.diff(made, axis=2) >= 0).all()
    assert (made >= 0).all()


def test_the_same_table_gives_the_same_forecast(table, made):
    assert np.array_equal(forecast_series(table, HORIZON, QUICK), made)


def test_the_order_of_the_series_changes_nothing(table, made):
    order = np.random.default_rng(3).permutation(NUM_SERIES)
    shuffled = replace(table, series_ids=tuple(table.series_ids[idx] for idx in order), values=table.values[order])
    shuffled = replace(shuffled, latitude=table.latitude[order], longitude=table.longitude[order])
    assert np.array_equal(forecast_series(shuffled, HORIZON, QUICK), made[order])


def test_what_comes_after_each_series_last_step_changes_nothing(table, made):
    future = np.random.default_rng(4).permutation(table.values[:, -60:].T).T * 5
    longer = replace(table, values=np.concatenate([table.values, future], axis=1))
    last = np.full(NUM_SERIES, NUM_STEPS - 1)
    assert np.array_equal(forecast_series(longer, HORIZON, QUICK, last_step_idx=last), made)


def test_the_future_of_other_series_does_not_leak_into_one_that_ended(table):
    last = np.full(NUM_SERIES, NUM_STEPS - 1)
    last[3] -= 30
    values = table.values.copy()
    values[3, last[3] + 1 :] = np.nan
    ended = forecast_series(replace(table, values=values), HORIZON, QUICK, last_step_idx=last)
    values[3, last[3] + 1 :] = 9999
    assert np.array_equal(forecast_series(replace(table, values=values), HORIZON, QUICK, last_step_idx=last), ended)


def test_tables_1024_times_larger_get_forecasts_1024_times_larger(table, made):
    # A power of two and its root are exact, so that no tie of a tree is decided by rounding.
    larger = forecast_series(replace(table, values=table.values * 1024), HORIZON, QUICK)
    assert np.allclose(larger, made * 1024, rtol=1e-6)


def test_a_series_that_ended_is_forecast_from_its_own_end(mean):
    counts = counts_of(mean)
    end = NUM_STEPS - 24 * 3 - 7
    counts[0, end:] = np.nan
    last = np.full(NUM_SERIES, NUM_STEPS - 1)
    last[0] = end - 1
    made = forecast_series(table_of(counts[:, :NUM_STEPS]), HORIZON, QUICK, last_step_idx=last)
    assert np.corrcoef(made[0, :, 2], mean[0, end : end + HORIZON])[0, 1] > 0.9


def test_hours_that_are_never_reported_are_closed(mean):
    counts = counts_of(mean)[:, :NUM_STEPS]
    hours = np.arange(NUM_STEPS) % 24
    counts[:, (hours < 6) | (np.arange(NUM_STEPS) // 24 % 7 >= 5)] = np.nan
    made = forecast_series(table_of(counts), 24 * 6, QUICK)
    ahead = np.arange(NUM_STEPS, NUM_STEPS + 24 * 6)
    is_closed = (ahead % 24 < 6) | (ahead // 24 % 7 >= 5)
    assert (made[:, is_closed] == 0).all()
    assert (made[:, ~is_closed, 2] > 0.3 * mean_of(NUM_SERIES, NUM_STEPS + 144)[:, ahead[~is_closed]]).all()


def test_a_gap_is_not_a_zero(table, mean):
    values = table.values.copy()
    values[np.random.default_rng(5).random(values.shape) < 0.3] = np.nan
    made = forecast_series(replace(table, values=values), HORIZON, QUICK)
    assert expected_loss(made, mean[:, -HORIZON:]) < 1.1 * expected_loss(
        forecast_series(table, HORIZON, QUICK), mean[:, -HORIZON:]
    )


def test_a_new_series_with_a_weekend_alone_is_forecast_at_its_size_on_monday(mean):
    counts = counts_of(mean)[:, :NUM_STEPS]
    counts[5, : NUM_STEPS - 48] = np.nan
    made = forecast_series(table_of(counts), HORIZON, QUICK)
    assert 0.75 < made[5, :, 2].sum() / mean[5, -HORIZON:].sum() < 1.3


def test_net_changes_may_be_negative():
    rng = np.random.default_rng(6)
    values = rng.normal(0, 5, (4, 400))
    made = forecast_series(table_of(values), 12, QUICK)
    covered = (rng.normal(0, 5, (200, 4, 12)) > made[..., 0]).mean()
    assert (made[..., 0] < 0).all()
    assert 0.85 < covered < 0.95


def test_a_series_without_any_value_stays_unknown_and_zeros_stay_zero(table):
    values = table.values.copy()
    values[0], values[1] = np.nan, 0.0
    made = forecast_series(replace(table, values=values), HORIZON, QUICK)
    assert np.isnan(made[0]).all()
    assert (made[1] < 1e-6).all()
    assert np.isfinite(made[2:]).all()


@settings(max_examples=25, deadline=None)
@given(
    num_series=st.integers(1, 4),
    num_steps=st.integers(8, 150),
    step_minutes=st.sampled_from([5, 7, 60, 480, 1440, 2880, 10080]),
    horizon=st.integers(1, 60),
    unknown_share=st.floats(0, 0.7),
    seed=st.integers(0, 2**16),
)
def test_any_regular_table_gets_finite_ordered_quantiles(
    num_series, num_steps, step_minutes, horizon, unknown_share, seed
):
    rng = np.random.default_rng(seed)
    values = rng.poisson(rng.gamma(1, 10, (num_series, 1)), (num_series, num_steps)).astype(float)
    values[rng.random(values.shape) < unknown_share] = np.nan
    values[:, 0] = 1.0
    made = forecast_series(table_of(values, step_minutes), horizon, replace(QUICK, rows_per_fit=300))
    assert made.shape == (num_series, horizon, 5)
    assert np.isfinite(made).all()
    assert (made >= 0).all()
    assert (np.diff(made, axis=2) >= 0).all()


def test_a_horizon_of_nothing_is_refused(table):
    with pytest.raises(ValueError, match="horizon: must be at least 1"):
        forecast_series(table, 0)
