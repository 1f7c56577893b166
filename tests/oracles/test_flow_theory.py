"""The flow against queueing theory: Erlang, Crommelin, Pollaczek-Khinchine and the published approximations."""

import heapq
from functools import cache
from math import sqrt

import numpy as np
import pytest
from flow_days import mean_and_error, people_per_step, play, rules_of, steps_of
from scipy.stats import poisson

from doseflow.policy.queueing import mean_wait_minutes

SERVERS_AND_LOAD = [(1, 0.5), (1, 0.8), (2, 0.7), (3, 0.9), (5, 0.9), (10, 0.9), (10, 0.95)]
STANDARD_ERRORS = 3.5


def _simulated(servers_and_load, fixed, random, *, replicas=150, step=1.0, minutes=1200, warm_up=1200, seed=2):
    """Mean waits of each queue, (S,), with standard errors: Poisson arrivals, the first `warm_up` minutes left out."""
    servers, load = (np.array(column) for column in zip(*servers_and_load, strict=True))
    rng = np.random.default_rng(seed)
    per_step = load * servers / (fixed + random) * step
    arrivals = rng.poisson(per_step, (int((warm_up + minutes) / step), replicas, servers.size))
    played = play(arrivals, servers[:, None], rules_of(step, [fixed], [random]), seed=seed)
    steady = slice(int(warm_up / step), None)
    waited = played.waited_minutes[steady].sum(0, dtype=float)[..., 0]
    return mean_and_error(waited, played.joined[steady].sum(0, dtype=float)[..., 0])


def _assert_near(simulated, error, exact):
    """
    Within the Monte-Carlo interval and what a step of one minute may do.

    A person is taken in at the end of the step of arrival, half a step late on average, and waits from then on, so the
    mean wait is off by at most half a step. It is asserted to a quarter.
    """
    assert np.all(np.abs(simulated - exact) <= 0.25 + STANDARD_ERRORS * error), (simulated, exact, error)


def _erlang(servers_and_load, mean_minutes):
    return np.array([mean_wait_minutes(c, load * c, mean_minutes) for c, load in servers_and_load])


@cache
def _crommelin(num_servers, load_share, minutes):
    """
    Mean wait of M/D/c, exact: the people inside one service later are those not in service now and who came since.

    C. D. Crommelin, Delay probability formulae when the holding times are constant, P.O.E.E. Journal 25 (1932).
    """
    load, size = num_servers * load_share, 40 + int(25 * num_servers / (1 - load_share) ** 0.5)
    came = poisson.pmf(np.arange(size), load)
    inside = np.full(size, 1 / size)
    step = np.zeros((size, size))
    for people in range(size):
        rest = max(people - num_servers, 0)
        step[people, rest:] = came[: size - rest]
    step /= step.sum(1, keepdims=True)
    for _ in range(14):
        step = step @ step
    inside = inside @ step
    queued = (np.maximum(np.arange(size) - num_servers, 0) * inside).sum()
    return queued * minutes / load


def test_waits_of_exponential_services_are_those_of_erlang_c():
    simulated, error = _simulated(SERVERS_AND_LOAD, 0.0, 4.0)
    _assert_near(simulated, error, _erlang(SERVERS_AND_LOAD, 4.0))


def test_waits_of_fixed_services_are_those_of_crommelin():
    simulated, error = _simulated(SERVERS_AND_LOAD, 4.0, 0.0)
    exact = np.array([_crommelin(c, load, 4.0) for c, load in SERVERS_AND_LOAD])
    _assert_near(simulated, error, exact)


def test_waits_of_fixed_and_random_services_are_those_of_the_published_approximations():
    # Registration: 3 min and an exponential part of mean 1.43.
    fixed, random = 3.0, 1.43
    squared_variation = (random / (fixed + random)) ** 2
    simulated, error = _simulated(SERVERS_AND_LOAD, fixed, random)
    exponential = _erlang(SERVERS_AND_LOAD, fixed + random)
    # Allen and Cunneen (A. O. Allen, Probability, Statistics and Queueing Theory, 1990), exact for one server.
    allen_cunneen = (1 + squared_variation) / 2 * exponential
    # Kimura 1986, 10.1287/mnsc.32.6.751: between exponential and fixed services.
    constant = np.array([_crommelin(c, load, fixed + random) for c, load in SERVERS_AND_LOAD])
    kimura = (1 + squared_variation) / (2 * squared_variation / exponential + (1 - squared_variation) / constant)
    _assert_near(simulated, error, kimura)
    one_server = np.array([c == 1 for c, _ in SERVERS_AND_LOAD])
    np.testing.assert_allclose(allen_cunneen[one_server], kimura[one_server], rtol=1e-6)
    # Its error grows with the servers: 3 % up to three, 6 % at ten.
    few = np.array([c <= 3 for c, _ in SERVERS_AND_LOAD])
    assert np.all(
        np.abs(simulated - allen_cunneen) <= np.where(few, 0.03, 0.06) * allen_cunneen + 0.25 + STANDARD_ERRORS * error
    )


@pytest.mark.parametrize(("num_servers", "load_share"), SERVERS_AND_LOAD)
def test_crommelin_is_near_cosmetatos_and_exact_for_one_server(num_servers, load_share):
    # G. P. Cosmetatos, Approximate explicit formulae for the average queueing time in the processes (M/D/r) and
    # (D/M/r), INFOR 13 (1975) 328-331.
    correction = (
        (1 - load_share) * (num_servers - 1) * (sqrt(4 + 5 * num_servers) - 2) / (16 * load_share * num_servers)
    )
    cosmetatos = 0.5 * (1 + correction) * mean_wait_minutes(num_servers, load_share * num_servers, 4.0)
    assert _crommelin(num_servers, load_share, 4.0) == pytest.approx(cosmetatos, rel=0.02 if num_servers > 1 else 1e-6)


def _started_one_by_one(ready_minutes, num_servers, service_minutes):
    """When the service of each begins, (people,): first come, first served, each to the server that is free first."""
    free_at = [0.0] * num_servers
    starts = []
    for ready in ready_minutes:
        starts.append(max(ready, free_at[0]))
        heapq.heapreplace(free_at, starts[-1] + service_minutes)
    return np.array(starts)


def _deterministic(num_servers, step, *, minutes=1000, load_share=0.9, service=4.375):
    """The same random arrivals at any step: minutes of arrival, people per step, what the flow did with them."""
    people = int(
        minutes * load_share * num_servers / service
    )  # the service is a sum of powers of two: exact in float32
    arrivals = np.sort(np.random.default_rng(num_servers).uniform(0, minutes, people))
    per_step = people_per_step(arrivals, int(1.2 * minutes / step), step)
    return arrivals, per_step, play(per_step[:, None, None], np.array([num_servers]), rules_of(step, [service], [0.0]))


@pytest.mark.parametrize("step", [1.0, 0.5, 0.25])
def test_one_server_starts_everybody_as_a_person_by_person_queue_does(step):
    """With people taken in at the ends of their steps the flow is exact: no capacity is lost to the clock."""
    _, per_step, played = _deterministic(1, step)
    ready = (steps_of(per_step) + 1) * step
    starts = _started_one_by_one(ready, 1, 4.375)
    expected = np.bincount(np.ceil(starts / step).astype(int) - 1, minlength=per_step.size)
    np.testing.assert_array_equal(played.started[:, 0, 0, 0], expected)
    assert played.waited_minutes.sum(dtype=float) == pytest.approx((starts - ready).sum(), rel=1e-5)


@pytest.mark.parametrize("num_servers", [3, 7, 20])
def test_several_servers_start_people_within_a_step_of_a_person_by_person_queue(num_servers):
    """Of two servers free in one step the flow does not ask which was first: a start may be late, by part of a step."""
    _, per_step, played = _deterministic(num_servers, 1.0)
    ready = steps_of(per_step) + 1.0
    starts = _started_one_by_one(ready, num_servers, 4.375)
    late = steps_of(played.started[:, 0, 0, 0]) - (np.ceil(starts) - 1)
    assert late.min() >= 0
    assert late.max() <= 1
    assert played.waited_minutes.sum(dtype=float) / starts.size == pytest.approx((starts - ready).mean(), abs=0.1)


def test_the_error_falls_with_the_step():
    """Against the exact starts of the same arrivals: at most an eighth of a step, and less with every halving."""
    errors = []
    for step in (1.0, 0.5, 0.25):
        arrivals, _, played = _deterministic(20, step)
        exact = _started_one_by_one(arrivals, 20, 4.375)
        # A start is known to the step it fell in.
        late = (steps_of(played.started[:, 0, 0, 0]) + 1) * step - exact
        assert late.min() >= -1e-6
        assert late.mean() <= 1.5 * step
        errors.append(abs(played.waited_minutes.sum(dtype=float) / arrivals.size - (exact - arrivals).mean()))
    assert np.all(errors <= np.array([0.125, 0.0625, 0.03125]))
    assert errors[1] < 0.75 * errors[0]
    assert errors[2] < 0.75 * errors[1]
