"""Quantiles of counts, against the exact distributions of a second library."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from doseflow.domain.forecast import MEDIAN_IDX, QUANTILE_LEVELS
from doseflow.forecast.count_quantiles import count_quantiles


@pytest.mark.parametrize("dispersion", [1.0, 1.3, 2.0, 3.0])
@pytest.mark.parametrize("mean_people", [0.25, 1.0, 3.0, 8.0, 20.0, 60.0])
def test_lies_within_one_person_of_the_exact_count_quantile(mean_people, dispersion):
    if dispersion == 1:
        exact = stats.poisson(mean_people).ppf(QUANTILE_LEVELS)
    else:
        exact = stats.nbinom(mean_people / (dispersion - 1), 1 / dispersion).ppf(QUANTILE_LEVELS)
    ours = count_quantiles(np.array(mean_people), dispersion)
    assert np.abs(ours - exact).max() <= 1.0


def test_no_people_expected_is_zero_at_every_quantile():
    assert (count_quantiles(np.zeros((2, 3)), 2.0) == 0).all()


def test_unknown_mean_stays_unknown_and_leaves_others_alone():
    quantiles = count_quantiles(np.array([np.nan, 4.0]), 1.0)
    assert np.isnan(quantiles[0]).all()
    assert np.isfinite(quantiles[1]).all()


@given(mean_people=st.floats(0, 5000), dispersion=st.floats(1, 10))
def test_never_negative_and_never_falling_along_the_quantiles(mean_people, dispersion):
    quantiles = count_quantiles(np.array([mean_people]), dispersion)[0]
    assert (quantiles >= 0).all()
    assert (np.diff(quantiles) >= 0).all()


@given(mean_people=st.floats(1, 500), dispersion=st.floats(1.5, 8))
def test_more_dispersion_widens_the_interval_around_a_lower_median(mean_people, dispersion):
    poisson, over = (count_quantiles(np.array(mean_people), one) for one in (1.0, dispersion))
    assert over[-1] - over[0] > poisson[-1] - poisson[0] or over[0] == 0
    assert over[MEDIAN_IDX] < poisson[MEDIAN_IDX]
