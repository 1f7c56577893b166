import math

import numpy as np
import pytest

from doseflow.state.watch.runs import go_on, most_likely_repeat, no_runs


def poisson_mode(mean: float) -> float:
    """Chance of a Poisson count to equal its own (whole) mean: no rate makes that count likelier."""
    return math.exp(mean * math.log(mean) - mean - math.lgamma(mean + 1))


@pytest.mark.parametrize("mean", [1, 2, 5, 10, 31])
def test_the_prior_of_a_poisson_count_is_its_greatest_chance(mean):
    assert most_likely_repeat(np.array([float(mean)]), 1.0)[0] == pytest.approx(poisson_mode(mean), rel=0.05)


@pytest.mark.parametrize("rate", [1.0, 4.0, 15.0])
def test_runs_of_independent_counts_flag_no_more_often_than_stated(rate):
    """Each run is a chance to flag: with likelihoods that bound the truth, at most `alpha` of the runs flag."""
    rng, alpha, num_sites = np.random.default_rng(1), 0.01, 400
    prior = most_likely_repeat(np.arange(32.0), 1.0) * 1.02
    runs, num_runs, flagged = no_runs(num_sites, 32), 0, np.zeros(num_sites, bool)
    num_flags = 0
    for period in range(300):
        value = rng.poisson(rate, num_sites).astype(float)
        before = runs
        runs = go_on(
            runs,
            value,
            np.full(num_sites, 5.0 * period),
            np.ones(num_sites, bool),
            speaks=value > 0,
            size=np.clip(value, 0, 31).astype(int),
            prior=prior,
            strength=1e9,
            exponent=1.0,
        )
        is_new_run = runs.since != before.since
        num_runs += int(is_new_run.sum())
        flagged &= ~is_new_run
        fires = (-runs.log_chance > -math.log(alpha)) & ~flagged
        num_flags += int(fires.sum())
        flagged |= fires
    bound = num_runs * alpha + 4 * math.sqrt(num_runs * alpha)
    assert num_flags <= bound
    # The test is not idle: a stricter promise is broken.
    assert num_flags > num_runs * alpha / 100


def test_what_repeats_is_learned_and_a_long_run_counts_only_its_first_repeats():
    ones, runs = np.ones(1, bool), no_runs(1, 1)
    for period in range(50):
        runs = go_on(
            runs,
            np.array([7.0]),
            np.array([5.0 * period]),
            ones,
            speaks=ones,
            size=np.zeros(1, int),
            prior=np.array([0.2]),
            strength=10.0,
            exponent=1.0,
        )
    assert runs.length[0] == 49
    assert runs.trials[0] == runs.repeats[0] == 3


@pytest.mark.parametrize("value", [np.nan, 0.0])
def test_nobody_and_nothing_known_never_speak(value, make_watched):
    watched = make_watched()
    for _ in range(100):
        watched.show(arrivals_people=np.full(3, value), doses_given=np.full(3, value))
    assert not watched.ever


def test_a_stuck_count_is_one_anomaly_that_lasts_and_ends(make_watched):
    watched, rng = make_watched(), np.random.default_rng(2)

    def show(arrivals):
        watched.show(arrivals_people=arrivals, doses_given=np.full(3, np.nan))

    for _ in range(60):
        show(rng.poisson(9.0, 3).astype(float))
    assert not watched.ever
    for _ in range(30):
        show(np.concatenate([[9.0], rng.poisson(9.0, 2)]))
    assert watched.open_kinds == ["stuck_reading"]
    found = watched.anomalies[0]
    assert found.site_id == "s0"
    assert (found.seen_at - found.since_at).total_seconds() / 60 <= 75
    for _ in range(14):
        show(rng.poisson(9.0, 3).astype(float))
    assert watched.open_kinds == []
    assert list(watched.ever) == [found.anomaly_id]
    assert watched.ever[found.anomaly_id].ended_at is not None
