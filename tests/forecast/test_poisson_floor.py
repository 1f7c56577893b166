import numpy as np
import pytest
from scipy.stats import poisson

from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.forecast.poisson_floor import expected_pinball, floor_weighted_quantile_loss, smoothed_rate
from doseflow.forecast.scores import pinball_loss, weighted_quantile_loss


@pytest.mark.parametrize("rate", [0.05, 0.7, 3.0, 12.5, 180.0])
def test_the_closed_form_is_the_sum_over_all_counts(rate):
    counts = np.arange(0, int(rate + 20 * np.sqrt(rate) + 30))
    quantiles = np.broadcast_to(poisson.ppf(QUANTILE_LEVELS, rate), (counts.size, 5))
    summed = poisson.pmf(counts, rate) @ pinball_loss(counts.astype(float), quantiles)
    np.testing.assert_allclose(expected_pinball(np.array(rate)), summed, rtol=1e-9)


def test_nobody_coming_for_certain_costs_nothing_and_an_unknown_rate_is_unknown():
    assert (expected_pinball(np.zeros(2)) == 0).all()
    assert np.isnan(expected_pinball(np.array([np.nan]))).all()


def _world(mean_rate: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rates that rise and fall over a day of 144 steps, and counts drawn from them, (20, 1440)."""
    steps = np.arange(1440)
    rates = mean_rate * (1 + 0.8 * np.sin(2 * np.pi * steps / 144)) * np.ones((20, 1))
    return rates, np.random.default_rng(seed).poisson(rates).astype(float)


@pytest.mark.parametrize(("mean_rate", "within"), [(1.0, 0.06), (3.0, 0.03), (30.0, 0.02)])
def test_the_floor_read_off_counts_is_what_the_knower_of_the_rates_really_loses(mean_rate, within):
    rates, counts = _world(mean_rate, seed=6)
    knower = np.moveaxis(poisson.ppf(np.array(QUANTILE_LEVELS)[:, None, None], rates), 0, -1)
    real = weighted_quantile_loss(counts, knower)
    with_rates = floor_weighted_quantile_loss(counts, rates)
    read_off = floor_weighted_quantile_loss(counts, smoothed_rate(counts, lag_steps=1))
    assert with_rates == pytest.approx(real, rel=0.015)
    assert read_off < 1.01 * real, "what is left of the noise in the rates lowers the floor, so that it is never easy"
    assert read_off == pytest.approx(real, rel=within)


def test_days_of_the_week_are_smoothed_over_weeks_and_not_over_days():
    rng = np.random.default_rng(7)
    rates = np.tile([40.0, 40, 40, 40, 40, 0, 0], 30)[None, :] * np.ones((10, 1))
    counts = rng.poisson(rates).astype(float)
    real = floor_weighted_quantile_loss(counts, rates)
    assert floor_weighted_quantile_loss(counts, smoothed_rate(counts, 7)) == pytest.approx(real, rel=0.03)
    assert floor_weighted_quantile_loss(counts, smoothed_rate(counts, 1)) > 1.1 * real


def test_a_gap_leaves_its_neighbours_a_rate():
    counts = np.array([[4.0, np.nan, 6.0, 5.0]])
    rate = smoothed_rate(counts, 1)
    assert np.isnan(rate[0, 1])
    assert rate[0, 0] == pytest.approx((3 * 4 + 1 * 6) / 4)


def test_with_three_arrivals_a_step_the_noise_alone_is_about_45_per_cent_of_the_arrivals():
    """E|Y - median| / rate of a Poisson of rate 3."""
    assert 2 * expected_pinball(np.array(3.0), [0.5])[0] / 3 == pytest.approx(0.45, abs=0.02)
