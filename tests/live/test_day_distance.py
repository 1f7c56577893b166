import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from doseflow.domain.feature_classes import FeatureClass
from doseflow.live.drift.day_distance import DistanceParams, distances_of_day, ks_distance

NUM_SITES, NUM_HOURS = 40, 10


@given(
    arrays(float, st.integers(1, 30), elements=st.integers(-5, 5)),
    arrays(float, st.integers(1, 30), elements=st.integers(-5, 5)),
)
def test_the_distance_is_that_of_a_second_library_also_with_ties(one, other):
    assert ks_distance(one, other) == pytest.approx(stats.ks_2samp(one, other).statistic)


def made_day(rng, shift=0.0):
    """Readings of a day hang together: a luck of the day, of each site, and of each hour."""
    day, sites = rng.normal(0, 0.15), rng.normal(0, 0.5, NUM_SITES)
    values = 5 + shift + day + sites[:, None] + rng.normal(0, 1, (NUM_SITES, NUM_HOURS))
    return dict.fromkeys(FeatureClass, values.ravel())


def test_days_that_are_alike_speak_no_more_often_than_stated_although_their_readings_hang_together():
    rng = np.random.default_rng(1)
    params = DistanceParams(false_alarms_per_day=0.5)
    num_days, spoke = 60, 0
    for _ in range(num_days):
        reference = [made_day(rng) for _ in range(7)]
        # All classes are one here, so that the rate of one is false_alarms_per_day / 17.
        spoke += distances_of_day(reference, made_day(rng), params)[0].speaks
    assert spoke <= stats.binom.ppf(0.999, num_days, 0.5 / 17)


def test_the_test_of_the_textbook_would_speak_on_most_of_these_days():
    rng = np.random.default_rng(1)
    spoke = 0
    for _ in range(50):
        reference = np.concatenate([made_day(rng)[FeatureClass.SEATS] for _ in range(7)])
        spoke += stats.ks_2samp(reference, made_day(rng)[FeatureClass.SEATS]).pvalue < 0.5 / 17
    assert spoke > 10


def test_a_shift_of_one_class_is_found_on_its_first_day_and_named():
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(30):
        reference = [made_day(rng) for _ in range(7)]
        day = dict(made_day(rng))
        day[FeatureClass.WALK_IN_SHARE] = made_day(rng, shift=2.0)[FeatureClass.WALK_IN_SHARE]
        first = distances_of_day(reference, day, DistanceParams())[0]
        found += first.speaks and first.feature_class is FeatureClass.WALK_IN_SHARE
    assert found >= 28


def test_a_class_with_too_few_readings_on_any_day_is_not_judged():
    rng = np.random.default_rng(3)
    reference = [dict(made_day(rng)) for _ in range(7)]
    reference[3][FeatureClass.FRIDGES] = np.ones(5)
    judged = {each.feature_class for each in distances_of_day(reference, made_day(rng), DistanceParams())}
    assert judged == set(FeatureClass) - {FeatureClass.FRIDGES}
