"""The sequential test against exact probabilities, and against simulated days on which its claim is true or false."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doseflow.serve.mean_test import MeanTest


def is_refuted(values, bound, low, error_rate):
    test = MeanTest(bound, low=low, error_rate=error_rate)
    for value in values:
        test.take(value)
    return test.is_refuted


@pytest.mark.parametrize("bound", [0.01, 0.1, 0.5])
def test_the_expected_capital_of_a_true_claim_is_one_at_the_bound_by_enumeration(bound):
    # Every sequence of six coins that come up with the probability of the bound, weighted by its own probability.
    expected = 0.0
    for coins in product((0.0, 1.0), repeat=6):
        test = MeanTest(bound, low=0.0, error_rate=0.01)
        for coin in coins:
            test.take(coin)
        heads = sum(coins)
        expected += bound**heads * (1 - bound) ** (6 - heads) * np.exp(test.log_evidence)
    assert expected == pytest.approx(1.0, rel=1e-9)


def test_the_probability_of_ever_refuting_a_true_claim_stays_under_the_error_rate_by_enumeration():
    wrong = 0.0
    for coins in product((0.0, 1.0), repeat=12):
        heads = sum(coins)
        wrong += 0.5**12 * is_refuted(coins, 0.5, 0.0, 0.1) if heads else 0.0
    assert 0.0 < wrong <= 0.1


@pytest.mark.parametrize(("bound", "low"), [(0.0, -0.25), (-0.02, -0.25), (0.01, 0.0)])
def test_it_is_wrong_less_often_than_it_says_on_values_that_depend_on_those_before(bound, low):
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(300):
        test = MeanTest(bound, low=low, error_rate=0.1)
        spread = 0.5
        for _ in range(150):
            # The mean is the bound whatever came before; the spread is not.
            step = spread * (bound - low)
            value = bound + (step if rng.random() < 0.5 else -step)
            test.take(value)
            spread = 0.9 if value > bound else 0.3
        wrong += test.is_refuted
    # 30 are expected at most; three standard deviations more.
    assert wrong <= 30 + 3 * np.sqrt(300 * 0.1 * 0.9)


def test_a_false_claim_is_refuted_soon():
    rng = np.random.default_rng(1)
    for mean in (0.02, 0.05):
        needed = []
        for _ in range(20):
            test = MeanTest(0.0, low=-0.25, error_rate=0.01)
            while not test.is_refuted:
                test.take(rng.normal(mean, 0.03))
            needed.append(test.num_values)
        assert np.median(needed) < 120


@given(st.lists(st.floats(-1, 1), max_size=60), st.floats(-0.9, 0.9))
def test_no_value_ever_costs_everything_and_what_is_refuted_stays_so(values, bound):
    test = MeanTest(bound, low=-1.0, error_rate=0.05)
    was_refuted = False
    for value in values:
        test.take(value)
        assert np.isfinite(test.log_evidence)
        assert test.is_refuted or not was_refuted
        was_refuted = test.is_refuted
    if values:
        assert test.mean == pytest.approx(np.mean(values))


def test_what_cannot_be_tested_is_refused():
    with pytest.raises(ValueError, match="bound: must be more than low"):
        MeanTest(0.0, low=0.0, error_rate=0.1)
    with pytest.raises(ValueError, match="error_rate"):
        MeanTest(0.5, low=0.0, error_rate=1.0)
