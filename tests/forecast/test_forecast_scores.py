from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.forecast.scores import (
    coverage_share,
    crps_of_quantiles,
    crps_of_samples,
    pinball_loss,
    quadrature_weights,
    scaled_errors,
    seasonal_scale,
    weighted_absolute_error,
    weighted_quantile_loss,
)


def _pinball_by_hand(actual: float, quantile: float, level: float) -> float:
    return level * (actual - quantile) if actual >= quantile else (1 - level) * (quantile - actual)


def test_pinball_loss_is_the_two_sided_price_written_out():
    rng = np.random.default_rng(0)
    actual = rng.normal(size=7)
    quantiles = np.sort(rng.normal(size=(7, 5)), axis=1)
    by_hand = [
        [_pinball_by_hand(y, q, level) for q, level in zip(row, QUANTILE_LEVELS, strict=True)]
        for y, row in zip(actual, quantiles, strict=True)
    ]
    np.testing.assert_allclose(pinball_loss(actual, quantiles), by_hand)


def test_the_true_quantiles_have_the_least_expected_pinball_loss():
    rng = np.random.default_rng(1)
    actual = rng.normal(size=200_000)
    true = np.broadcast_to(norm.ppf(QUANTILE_LEVELS), (actual.size, 5))
    loss = pinball_loss(actual, true).mean(axis=0)
    for shift in (-0.2, 0.2):
        assert (pinball_loss(actual, true + shift).mean(axis=0) > loss).all()


def test_the_loss_of_the_median_alone_is_the_wape():
    rng = np.random.default_rng(2)
    actual, median = rng.poisson(5, (3, 4)).astype(float), rng.poisson(5, (3, 4)).astype(float)
    actual[0, 0] = np.nan
    loss = weighted_quantile_loss(actual, median[..., None], [0.5])
    known = np.isfinite(actual)
    by_hand = sum(abs(a - m) for a, m in zip(actual[known], median[known], strict=True)) / actual[known].sum()
    assert loss == pytest.approx(by_hand)
    assert weighted_absolute_error(actual, median) == pytest.approx(by_hand)


def test_an_unknown_value_is_not_scored_and_nothing_known_has_no_loss():
    actual = np.array([1.0, np.nan])
    quantiles = np.array([[1.0] * 5, [99.0] * 5])
    assert weighted_quantile_loss(actual, quantiles) == 0.0
    assert np.isnan(weighted_quantile_loss(np.array([np.nan]), quantiles[:1]))
    assert np.isnan(weighted_quantile_loss(np.zeros(1), quantiles[:1]))
    assert np.isnan(coverage_share(np.array([np.nan]), np.zeros(1), np.ones(1)))


def test_crps_of_samples_is_the_area_between_the_step_functions():
    rng = np.random.default_rng(3)
    samples, actual = rng.normal(size=9), 0.4
    knots = np.sort(np.append(samples, actual))
    area = sum(
        quad(lambda x: ((samples <= x).mean() - (actual <= x)) ** 2, low, high)[0] for low, high in pairwise(knots)
    )
    assert crps_of_samples(np.array(actual), samples) == pytest.approx(area, abs=1e-9)


def test_crps_of_many_quantiles_comes_to_the_closed_form_of_the_normal_distribution():
    levels = np.linspace(0.0005, 0.9995, 1000)
    for actual in (-1.0, 0.0, 2.3):
        closed = actual * (2 * norm.cdf(actual) - 1) + 2 * norm.pdf(actual) - 1 / np.sqrt(np.pi)
        found = crps_of_quantiles(np.array(actual), norm.ppf(levels), levels)
        assert found == pytest.approx(closed, rel=2e-3)
        samples = np.random.default_rng(4).normal(size=20_000)
        assert crps_of_samples(np.array(actual), samples) == pytest.approx(closed, rel=0.03)


def test_the_levels_share_the_unit_interval():
    assert quadrature_weights(QUANTILE_LEVELS).sum() == pytest.approx(1)
    np.testing.assert_allclose(quadrature_weights(QUANTILE_LEVELS), [0.175, 0.2, 0.25, 0.2, 0.175])


def test_coverage_counts_both_ends():
    actual = np.array([0.0, 1.0, 2.0, 3.0, np.nan])
    assert coverage_share(actual, np.full(5, 1.0), np.full(5, 2.0)) == 0.5


def test_the_seasonal_naive_forecast_has_a_scaled_error_of_one_on_its_own_past():
    rng = np.random.default_rng(5)
    values = rng.poisson(20, (3, 200)).astype(float)
    values[1, 30:50] = np.nan
    scale = seasonal_scale(values, 7)
    errors = scaled_errors(values[:, 7:], values[:, :-7], scale)
    np.testing.assert_allclose(np.nanmean(errors, axis=1), 1.0)


def test_a_series_that_never_differs_has_no_scale_and_is_left_out():
    scale = seasonal_scale(np.ones((2, 20)), 7)
    assert np.isnan(scale).all()
    assert np.isnan(scaled_errors(np.ones((2, 3)), np.zeros((2, 3)), scale)).all()
