"""Intervals: they cover what they claim, they pair planners, and a second library agrees."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from doseflow.evaluate.resampling import interval95, resampled_mean


def test_the_interval_of_a_mean_covers_it_about_95_times_in_100():
    rng, num_tries = np.random.default_rng(1), 400
    covered = 0
    for stream in range(num_tries):
        values = rng.normal(10.0, 3.0, (1, 40, 1))
        low, high = interval95(resampled_mean(values, stream, 1000).draws[:, 0, 0])
        covered += low <= 10.0 <= high
    # Binomial with 400 tries: two standard errors are 0.022; percentile intervals of 40 days cover a little less.
    assert 0.91 <= covered / num_tries <= 0.98


def test_scipy_finds_the_same_interval():
    values = np.random.default_rng(2).gamma(2.0, 5.0, 30)
    ours = interval95(resampled_mean(values[None, :, None], 0).draws[:, 0, 0])
    theirs = bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=3).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), rel=0.03)


def test_scipy_finds_the_same_interval_of_a_paired_ratio():
    rng = np.random.default_rng(4)
    luck = rng.gamma(4.0, 3.0, 30)
    mine, theirs = luck + rng.normal(0, 0.5, 30), 1.5 * luck + rng.normal(0, 0.5, 30)
    draws = resampled_mean(np.stack([mine, theirs])[..., None], 0).draws[..., 0]
    ours = interval95(1 - draws[:, 0] / draws[:, 1])

    def reduction(one, other, axis=-1):
        return 1 - one.mean(axis=axis) / other.mean(axis=axis)

    expected = bootstrap((mine, theirs), reduction, paired=True, n_resamples=20_000, method="percentile", rng=5)
    assert ours == pytest.approx(tuple(expected.confidence_interval), abs=0.004)


def test_what_planners_share_falls_out_of_their_difference():
    luck = np.random.default_rng(6).normal(50, 20, 30)
    draws = resampled_mean(np.stack([luck, luck + 2.0])[..., None], 0).draws[..., 0]
    assert interval95(draws[:, 1] - draws[:, 0]) == pytest.approx((2.0, 2.0))


def test_one_day_has_a_mean_and_no_interval():
    one = resampled_mean(np.full((2, 1, 3), 7.0), 0)
    assert (one.point == 7.0).all()
    assert interval95(one.draws[:, 0, 0]) is None
