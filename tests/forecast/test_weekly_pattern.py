"""What past weeks say."""

import numpy as np
import pytest

from doseflow.forecast.weekly_pattern import weekly_pattern


def _weeks(*per_week):
    return np.array(per_week, dtype=float)[None, :, None].repeat(24, axis=2)


def test_newer_weeks_weigh_more():
    pattern = weekly_pattern(_weeks(10, 0, 0, 0), 0.5, 0.1)
    assert pattern.mean_people == pytest.approx(10 / (1 + 0.5 + 0.25 + 0.125))


def test_unknown_latest_week_is_filled_by_the_older_known_ones():
    pattern = weekly_pattern(_weeks(np.nan, 6, np.nan, 12), 0.5, 0.1)
    assert pattern.mean_people == pytest.approx((6 * 0.5 + 12 * 0.125) / 0.625)


def test_a_vanishing_decay_is_the_textbook_forecast_of_the_latest_known_week():
    assert weekly_pattern(_weeks(7, 1, 2, 3), 1e-9, 0.1).mean_people == pytest.approx(7)
    assert weekly_pattern(_weeks(np.nan, 5, 2, 3), 1e-9, 0.1).mean_people == pytest.approx(5)


def test_a_mean_of_four_equal_weeks_has_a_quarter_of_the_variance_of_one():
    assert weekly_pattern(_weeks(1, 2, 3, 4), 1.0, 0.1).mean_variance_share == pytest.approx(0.25)
    assert weekly_pattern(_weeks(np.nan, np.nan, 3, np.nan), 1.0, 0.1).mean_variance_share == pytest.approx(1.0)


def test_where_no_week_is_known_the_mean_is_unknown():
    past = _weeks(4, 4, 4, 4)
    past[0, :, 5] = np.nan
    mean = weekly_pattern(past, 0.7, 0.1).mean_people[0]
    assert np.isnan(mean[5])
    assert np.isfinite(np.delete(mean, 5)).all()


@pytest.mark.parametrize("rate_variance", [0.0, 0.1, 0.4])
def test_finds_the_rate_variance_that_the_weeks_were_drawn_with(past_weeks_of, rate_variance):
    past, _ = past_weeks_of(np.full(300, 6.0), rate_variance, seed=1)
    assert weekly_pattern(past, 0.7, 0.9).rate_variance.mean() == pytest.approx(rate_variance, abs=0.03)


def test_with_one_week_known_the_rate_variance_is_the_assumed_one():
    past = _weeks(4, np.nan, np.nan, np.nan)
    assert weekly_pattern(past, 0.7, 0.25).rate_variance == pytest.approx(0.25)
