"""Seasons are found from the step and from the values."""

import numpy as np
import pytest
from series_samples import MONDAY, counts_of, mean_of

from doseflow.forecast.series.profiles import make_profile
from doseflow.forecast.series.seasons import autocorrelation, find_seasons


@pytest.mark.parametrize(("step_minutes", "day_steps"), [(5, 288), (10, 144), (60, 24), (480, 3)])
def test_a_day_and_a_week_follow_from_the_step(step_minutes, day_steps):
    values = counts_of(mean_of(3, day_steps * 21, step_minutes))
    seasons = find_seasons(values, MONDAY, step_minutes)
    assert (seasons.cycle_steps, seasons.cycles_a_round) == (day_steps, 7)


def test_days_have_a_week():
    seasons = find_seasons(counts_of(mean_of(3, 60, 1440)), MONDAY, 1440)
    assert (seasons.cycle_steps, seasons.cycles_a_round, seasons.offset_steps) == (1, 7, 0)


def test_open_hours_strung_together_show_their_own_cycle():
    """Ten-minute steps of an 18-hour day, without the nights, on working days alone."""
    phase = np.arange(108 * 20) % 108
    size = np.repeat([1.0, 0.9, 1.1, 1.0, 1.3] * 4, 108)
    values = counts_of(30 * size * (1 + 0.9 * np.sin(2 * np.pi * phase / 108)) * np.ones((4, 1)))
    seasons = find_seasons(values, MONDAY, 10)
    assert (seasons.cycle_steps, seasons.cycles_a_round) == (108, 5)


def test_autocorrelation_is_the_textbook_one_where_everything_is_known():
    values = np.random.default_rng(0).normal(size=(1, 300))
    row = values[0] - values[0].mean()
    ours = autocorrelation(values, 50)
    for lag in range(1, 6):
        before, after = row[:-lag], row[lag:]
        assert ours[lag] == pytest.approx((before * after).sum() / np.sqrt((before**2).sum() * (after**2).sum()))


def test_a_profile_is_the_weighted_mean_of_the_alike_cycles_that_an_origin_could_know():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(2, 60))
    values[rng.random(values.shape) < 0.2] = np.nan
    classes = np.array([0, 1, 0, 0, 1, 1, 0, 1])
    profile = make_profile(values, 10, classes, half_life=2.0)
    for target, origin in [(67, 59), (59, 55), (48, 30), (75, 59), (31, 30), (5, 4)]:
        mean, weight = profile.seen_from(np.array([target]), np.array([origin]))
        wanted_class = classes[target // 10]
        columns = [
            column
            for column in range(target % 10, origin + 1, 10)
            if classes[column // 10] == wanted_class and column <= origin
        ]
        for series in range(2):
            ages = np.arange(len(columns))[::-1]
            known = [(values[series, column], 0.5 ** (age / 2)) for column, age in zip(columns, ages, strict=True)]
            known = [(value, share) for value, share in known if np.isfinite(value)]
            assert weight[series, 0] == pytest.approx(sum(share for _, share in known))
            if known:
                assert mean[series, 0] == pytest.approx(
                    np.average([value for value, _ in known], weights=[share for _, share in known])
                )
