import numpy as np
import pytest
from scipy import stats

from doseflow.live.drift.self_starting_cusum import CusumParams, SelfStartingCusum


def run_length(values, params, **kwargs):
    cusum = SelfStartingCusum(params, **kwargs)
    for count, value in enumerate(values, start=1):
        cusum.take(value)
        if cusum.is_raised:
            return count
    return None


def test_scores_of_equal_normal_values_are_standard_normal_and_independent_whatever_mean_and_spread():
    rng = np.random.default_rng(1)
    cusum = SelfStartingCusum()
    scores = []
    for value in rng.normal(250.0, 17.0, 3000):
        if cusum.num_values >= 7:
            scores.append(cusum._score(value))
        cusum._learn(value)
    assert stats.kstest(scores, "norm").pvalue > 0.01
    assert abs(np.corrcoef(scores[1:], scores[:-1])[0, 1]) < 0.05


def test_mean_and_spread_learned_are_those_of_all_values():
    values = np.random.default_rng(2).gamma(3.0, 2.0, 50)
    cusum = SelfStartingCusum()
    for value in values:
        cusum.take(value)
    assert cusum.mean == pytest.approx(values.mean())
    assert cusum._squares / (len(values) - 1) == pytest.approx(values.var(ddof=1))


def test_false_alarms_come_as_rarely_as_theory_says():
    # A low alarm, so that the mean run length of the theory can be seen in a short test: 0.5 and 3 give 118 values.
    params = CusumParams(slack=0.5, alarm=3.0)
    rng = np.random.default_rng(3)
    lengths = [run_length(rng.normal(size=3000), params) or 3000 for _ in range(150)]
    after_learning = np.array(lengths) - params.least_values
    error = after_learning.std(ddof=1) / np.sqrt(len(after_learning))
    assert params.values_to_false_alarm == pytest.approx(118, abs=1)
    assert after_learning.mean() == pytest.approx(params.values_to_false_alarm, abs=3 * error + 6)


@pytest.mark.parametrize(("days_before", "shift", "within"), [(30, 2.0, 10), (14, 4.0, 6)])
def test_a_shift_is_found_within_the_days_that_the_documentation_states(days_before, shift, within):
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(200):
        values = np.concatenate([rng.normal(size=days_before), rng.normal(shift, 1.0, within)])
        length = run_length(values, CusumParams())
        found += length is not None and length > days_before
    assert found >= 180


def test_one_wild_value_is_no_drift():
    values = np.random.default_rng(5).normal(size=40)
    values[30] = 1e6
    assert run_length(values, CusumParams()) is None


def test_a_fall_speaks_only_where_both_sides_are_watched():
    rng = np.random.default_rng(6)
    falling = np.concatenate([rng.normal(size=30), rng.normal(-3.0, 1.0, 20)])
    assert run_length(falling, CusumParams()) is None
    assert run_length(falling, CusumParams(), two_sided=True) is not None


def test_an_alarm_that_was_raised_stays_and_what_is_unknown_changes_nothing():
    cusum = SelfStartingCusum()
    rng = np.random.default_rng(7)
    for value in (*rng.normal(size=30), *rng.normal(5, 1, 10), *rng.normal(size=100), np.nan):
        cusum.take(value)
    assert cusum.is_raised
    assert cusum.num_values == 140


@pytest.mark.parametrize(("kwargs", "field"), [({"slack": 0}, "slack"), ({"alarm": 0}, "alarm"),
                                               ({"least_values": 3}, "least_values")])  # fmt: skip
def test_impossible_parameters_are_refused_by_name(kwargs, field):
    with pytest.raises(ValueError, match=field):
        CusumParams(**kwargs)
