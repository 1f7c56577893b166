"""Trees with the quantile loss learn what ties and dates would hide, from the past alone."""

from dataclasses import replace

import numpy as np
import pytest
from series_samples import table_of

from doseflow.forecast.series.plain.direct_features import Whole
from doseflow.forecast.series.quantile_trees import QuantileTrees, grain_of
from doseflow.forecast.series.ranked_features import ranked_features
from doseflow.forecast.series.tree_bins import NUM_BINS, find_bins

DAYS, HORIZON, RATE = 140, 7, 50.0
CLOSED_DAYS = 3


@pytest.fixture(scope="module")
def days():
    """Counts of 20 sites a day, 0 on Monday, Tuesday and Wednesday: more zeros than the lower quantiles."""
    counts = np.random.default_rng(0).poisson(RATE, (20, DAYS)).astype(float)
    counts[:, np.arange(DAYS) % 7 < CLOSED_DAYS] = 0.0
    return table_of(counts, 1440)


@pytest.fixture(scope="module")
def made(days):
    trees = QuantileTrees(0, 3000)
    trees.fit(days, HORIZON)
    return trees.forecast(days, HORIZON)


def test_low_quantiles_of_open_days_are_not_lost_among_the_zeros_of_closed_ones(made):
    assert made[:, CLOSED_DAYS:, 0].mean() == pytest.approx(RATE - 1.28 * RATE**0.5, rel=0.1)
    assert made[:, CLOSED_DAYS:, 4].mean() == pytest.approx(RATE + 1.28 * RATE**0.5, rel=0.1)


def test_closed_days_are_forecast_at_nothing(made):
    assert (made[:, :CLOSED_DAYS, 4] < 1.0).all()


def test_too_few_examples_give_the_quantiles_of_those_there_are(days):
    few = replace(days, values=days.values[:, :15])
    trees = QuantileTrees(0, 20)
    trees.fit(few, HORIZON)
    made = trees.forecast(few, HORIZON)
    assert np.isfinite(made).all()
    assert (np.diff(made, axis=2) >= 0).all()


@pytest.mark.parametrize("grain", [1.0, 0.25])
def test_the_grain_of_counts_is_the_gap_between_them(grain):
    counts = np.random.default_rng(1).poisson(9, (3, 200)) * grain
    assert grain_of(counts) == grain


def test_every_other_sunday_looks_alike_in_the_order_of_size():
    values = np.zeros((1, 70))
    values[0, 6::14] = 8.0
    whole = Whole(values, np.arange(77) % 7, 7, 7)
    ones = np.ones(2)
    features = ranked_features(whole, np.zeros(2, dtype=int), np.array([62, 69]), np.zeros(2, dtype=int), ones)
    assert features[:, :4].tolist() == [[0, 0, 8, 8]] * 2


def test_ranked_features_read_nothing_at_or_after_an_origin():
    values = np.random.default_rng(2).poisson(5, (3, 24 * 21)).astype(float)
    rows, origins = np.arange(3), np.array([200, 301, 402])
    later = values.copy()
    for row, origin in zip(rows, origins, strict=True):
        later[row, origin:] = 999.0
    phases = np.arange(24 * 21 + 48) % 168
    seen = [
        ranked_features(Whole(each, phases, 24, 168), rows, origins, np.array([0, 23, 47]), np.ones(3))
        for each in (values, later)
    ]
    assert np.array_equal(*seen, equal_nan=True)


def test_bins_keep_order_and_the_unknown_and_drop_what_tells_nothing():
    features = np.random.default_rng(3).gamma(1, 10, (5000, 3))
    features[:, 1] = 4.0
    features[::7, 2] = np.nan
    bins = find_bins(features)
    numbers = bins.of(features)
    assert bins.columns.tolist() == [0, 2]
    assert (np.diff(numbers[np.argsort(features[:, 0]), 0]) >= 0).all()
    assert len(np.unique(numbers[:, 0])) == NUM_BINS
    assert np.array_equal(np.isnan(numbers[:, 1]), np.isnan(features[:, 2]))
