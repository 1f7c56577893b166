"""Erlang's formulae against exact fractions, published values and the balance equations."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doseflow.policy.queueing import erlang_b, erlang_c, halfin_whitt_wait_share, mean_wait_minutes


def _exact_blocked_share(num_servers, load):
    terms = [load**n / math.factorial(n) for n in range(num_servers + 1)]
    return terms[-1] / sum(terms)


def _exact_waiting_share(num_servers, load):
    last = load**num_servers / math.factorial(num_servers) * num_servers / (num_servers - load)
    return last / (sum(load**n / math.factorial(n) for n in range(num_servers)) + last)


@pytest.mark.parametrize("num_servers", [1, 2, 3, 7, 20, 60])
@pytest.mark.parametrize("load_share", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])
def test_agrees_with_the_sums_in_exact_fractions(num_servers, load_share):
    load = load_share * num_servers
    assert erlang_b(num_servers, float(load)) == pytest.approx(
        float(_exact_blocked_share(num_servers, load)), rel=1e-12
    )
    assert erlang_c(num_servers, float(load)) == pytest.approx(
        float(_exact_waiting_share(num_servers, load)), rel=1e-11
    )


@pytest.mark.parametrize(
    ("num_servers", "load", "blocked_share"),
    # The classical table of traffic that loses one call in a hundred.
    [(1, 0.0101, 0.01), (5, 1.36, 0.01), (10, 4.46, 0.01), (20, 12.03, 0.01), (50, 37.9, 0.01), (100, 84.1, 0.01)],
)
def test_agrees_with_the_published_table_of_erlang_b(num_servers, load, blocked_share):
    assert erlang_b(num_servers, load) == pytest.approx(blocked_share, abs=2e-4)


def test_one_server_is_the_textbook_queue():
    # M/M/1: the waiting share is the load, the mean wait load / (1 - load) services.
    assert erlang_c(1, 0.8) == pytest.approx(0.8)
    assert mean_wait_minutes(1, 0.8, 5.0) == pytest.approx(20.0)


@given(num_servers=st.integers(1, 40), load_share=st.floats(0.05, 0.95))
def test_agrees_with_the_stationary_distribution_of_the_birth_death_chain(num_servers, load_share):
    load, longest = load_share * num_servers, num_servers + 1500
    rates_down = np.minimum(np.arange(1, longest + 1), num_servers)
    log_weights = np.concatenate([[0.0], np.cumsum(np.log(load / rates_down))])
    share = np.exp(log_weights - log_weights.max())
    share /= share.sum()
    people = np.arange(longest + 1)
    assert erlang_c(num_servers, load) == pytest.approx(share[num_servers:].sum(), rel=1e-6)
    mean_queue = (share * np.maximum(people - num_servers, 0)).sum()
    # Little's law: people waiting = arrivals a service time (the load) x wait in service times.
    assert mean_wait_minutes(num_servers, load, 1.0) == pytest.approx(mean_queue / load, rel=1e-6)


def test_a_load_that_cannot_be_carried_makes_everybody_wait_for_ever():
    assert erlang_c(3, 3.0) == 1.0
    assert mean_wait_minutes(3, 3.5, 2.0) == math.inf


@pytest.mark.parametrize("beta", [0.1, 0.5, 1.0, 1.5, 2.0])
def test_erlang_c_of_a_large_team_goes_to_the_halfin_whitt_limit(beta):
    gaps = []
    for load in (100.0, 10_000.0):
        num_servers = round(load + beta * math.sqrt(load))
        true_beta = (num_servers - load) / math.sqrt(load)
        gaps.append(abs(erlang_c(num_servers, load) - halfin_whitt_wait_share(true_beta)))
    assert gaps[1] < 0.003
    assert gaps[1] < gaps[0]


def test_the_limit_has_its_well_known_values():
    # In the literature on call centres: half must wait at beta 0.5061, a tenth at 1.4202.
    assert halfin_whitt_wait_share(0.5061) == pytest.approx(0.5, abs=2e-3)
    assert halfin_whitt_wait_share(1.4202) == pytest.approx(0.1, abs=2e-3)
