"""The mean of several members of one form."""

import numpy as np
import pytest
from series_samples import counts_of, mean_of, table_of

from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.forecast.series.mean_member import MeanMember
from doseflow.forecast.series.quantile_trees import QuantileTrees

DAYS, HORIZON = 105, 7
LEVELS = np.asarray(QUANTILE_LEVELS)


@pytest.fixture(scope="module")
def days():
    """A mean of 20 series for a week longer than the table, and the table of what came."""
    mean = mean_of(20, DAYS + HORIZON, 1440)
    return mean, table_of(counts_of(mean)[:, :DAYS], 1440)


@pytest.fixture(scope="module")
def told(days):
    """What two trees tell alone, fitted by the mean member, and their mean."""
    _, table = days
    alone = [QuantileTrees(seed, 1500) for seed in range(2)]
    both = MeanMember(alone)
    both.fit(table, HORIZON)
    return [one.forecast(table, HORIZON) for one in alone], both.forecast(table, HORIZON)


def expected_loss(quantiles, mean):
    """Mean pinball loss of quantiles under the true law, by draws of it."""
    error = np.stack([counts_of(mean, seed) for seed in range(100, 140)])[..., None] - quantiles
    return np.maximum(LEVELS * error, (LEVELS - 1) * error).mean()


def test_the_mean_of_two_misses_less_than_the_two_on_average(days, told):
    # The pinball loss is convex (Jensen): it may not be worse for any law, and is better where the two differ.
    mean, _ = days
    alone, both = told
    ahead = mean[:, -HORIZON:]
    assert not np.array_equal(*alone)
    assert expected_loss(both, ahead) < np.mean([expected_loss(each, ahead) for each in alone])


def test_each_quantile_of_the_mean_lies_between_those_of_the_two_and_none_falls(told):
    alone, both = told
    assert (both >= np.minimum(*alone) - 1e-12).all()
    assert (both <= np.maximum(*alone) + 1e-12).all()
    assert (np.diff(both, axis=2) >= 0).all()


def test_one_alone_tells_what_it_tells_without_the_mean(days):
    _, table = days
    alone, wrapped = QuantileTrees(0, 500), MeanMember([QuantileTrees(0, 500)])
    for one in (alone, wrapped):
        one.fit(table, HORIZON)
    assert wrapped.name == alone.name
    assert np.array_equal(wrapped.forecast(table, HORIZON), alone.forecast(table, HORIZON))
