"""The gates of a release: what each of them stops, and what passes all of them."""

from dataclasses import replace

import numpy as np
import pytest

from doseflow.serve.aliases import Phase
from doseflow.serve.release_gates import (
    Answered,
    CyclePair,
    ReleaseGates,
    ReleaseParams,
    Verdict,
    relative_difference,
)

PARAMS = ReleaseParams(min_shadow_cycles=10, min_canary_cycles=20, min_served_cycles=3, max_cycles=600)
LONG = replace(PARAMS, min_canary_cycles=96)


def pairs(num_cycles, seed=1, **changes):
    """Cycles in which both are alike but for chance; `changes` are functions that make the challenger's answer."""
    rng = np.random.default_rng(seed)
    for number in range(num_cycles):
        cost = rng.uniform(500, 1500)
        champion = Answered(rng.uniform(4, 6), cost * rng.uniform(0.99, 1.01), int(rng.integers(0, 4)))
        alike = Answered(rng.uniform(4, 6), cost * rng.uniform(0.99, 1.01), int(rng.integers(0, 4)))
        made = {name: make(alike, rng) for name, make in changes.items()}
        is_served = number % 5 == 0
        yield CyclePair(champion, replace(alike, **made), not is_served, is_served)


def judged(phase, cycles, params=PARAMS):
    """The first verdict that is not to go on, its sentence, and how many cycles it took."""
    gates = ReleaseGates(phase, params)
    for pair in cycles:
        gates.take(pair)
        verdict, why = gates.verdict()
        if verdict is not Verdict.GO_ON:
            return verdict, why, gates.num_cycles
    return (*gates.verdict(), gates.num_cycles)


@pytest.mark.parametrize("phase", [Phase.SHADOW, Phase.CANARY])
def test_one_that_is_alike_passes_but_not_before_enough_was_seen(phase):
    verdict, why, num_cycles = judged(phase, pairs(600))
    assert verdict is Verdict.PASS
    assert num_cycles >= 20
    assert why == f"passed every gate in {num_cycles} cycles"


CHANGES = {
    "slow against the limit": ({"milliseconds": lambda _, rng: rng.uniform(65, 80)}, "took over 60 ms"),
    "slower than the champion": ({"milliseconds": lambda _, rng: rng.uniform(18, 25)}, "was slower than the champion"),
    "now and then far too slow": (
        {"milliseconds": lambda one, rng: 80.0 if rng.random() < 0.1 else one.milliseconds},
        "took over 60 ms",
    ),
    "deciding worse": ({"cost": lambda one, _: 1.1 * one.cost}, "worse than the champion by"),
    "far worse now and then, and else a little better": (
        {"cost": lambda one, rng: one.cost * (6.0 if rng.random() < 0.15 else 0.93)},
        "lost 25% or more of what is at stake",
    ),
    "failing often": ({"failure": lambda _, rng: "timed out" if rng.random() < 0.2 else ""}, "failed in"),
    "against the rules": ({"objections": lambda one, _: one.objections + 2}, "proposed more that breaks rules"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_fault_is_rolled_back_by_its_own_gate(name):
    changes, said = CHANGES[name]
    verdict, why, num_cycles = judged(Phase.CANARY, pairs(600, **changes))
    assert verdict is Verdict.ROLL_BACK
    assert said in why
    assert num_cycles < 120


def test_a_hard_failure_is_rolled_back_in_its_cycle():
    gates = ReleaseGates(Phase.CANARY, PARAMS)
    gates.take(CyclePair(Answered(5.0), Answered(5.0, hard_failure="values: must be finite"), True, False))
    assert gates.verdict() == (Verdict.ROLL_BACK, "values: must be finite")


def test_good_ones_are_rolled_back_less_often_than_the_gates_allow():
    gone = sum(judged(Phase.CANARY, pairs(150, seed=seed))[0] is Verdict.ROLL_BACK for seed in range(40))
    # Six gates of a third of 1 % each.
    assert gone <= 5


def test_one_that_loses_much_in_one_cycle_of_twelve_passes_only_without_the_count_of_large_losses():
    """The bounded mean alone lets it pass: 1/12 of 25 % is less than the 4 % that it is better by else."""
    rare = {"cost": lambda one, rng: one.cost * (20.0 if rng.random() < 1 / 12 else 0.96)}
    verdicts = [judged(Phase.CANARY, pairs(400, seed=seed, **rare), LONG)[0] for seed in range(6)]
    assert Verdict.PASS not in verdicts
    uncounted = replace(LONG, allowed_large_loss_share=0.5)
    verdicts = [judged(Phase.CANARY, pairs(400, seed=seed, **rare), uncounted)[0] for seed in range(6)]
    assert Verdict.PASS in verdicts


def test_a_single_large_loss_is_outlived():
    cycles = list(pairs(600, cost=lambda one, _: 0.96 * one.cost))
    cycles[3] = replace(cycles[3], challenger=replace(cycles[3].challenger, cost=9e9))
    verdict, _, num_cycles = judged(Phase.CANARY, cycles, LONG)
    assert (verdict, num_cycles) == (Verdict.PASS, 100)


def test_large_differences_to_both_sides_alike_stop_nobody():
    wild = {"cost": lambda one, rng: one.cost * rng.choice([0.5, 1.0, 2.0], p=[0.1, 0.8, 0.1])}
    verdicts = [judged(Phase.CANARY, pairs(300, seed=seed, **wild))[0] for seed in range(10)]
    assert Verdict.ROLL_BACK not in verdicts


@pytest.mark.parametrize("gate", ["_failures", "_over_limit", "_slower", "_objections", "_large", "_worse"])
def test_all_phases_together_stop_by_chance_no_more_often_than_the_error_rate(gate):
    """The capital that each gate needs to stop, by Ville's inequality, adds up to the rate over the phases."""
    chances = [np.exp(-getattr(ReleaseGates(phase, PARAMS), gate)._log_needed) for phase in Phase]
    assert sum(chances) == pytest.approx(PARAMS.error_rate)


def test_without_evidence_it_is_rolled_back_in_the_end():
    unknown = pairs(600, cost=lambda _one, _rng: float("nan"))
    verdict, why, num_cycles = judged(Phase.CANARY, unknown)
    assert (verdict, num_cycles) == (Verdict.ROLL_BACK, 600)
    assert "not shown to be as good in 600 cycles" in why


def test_both_must_have_answered_for_the_city_in_the_same_window():
    never_served = (replace(pair, challenger_served=False) for pair in pairs(300))
    verdict, why, _ = judged(Phase.CANARY, never_served)
    assert (verdict, why) == (Verdict.GO_ON, "the challenger has answered 0 of 3 cycles")


def test_the_relative_difference_is_bounded_and_unknown_without_cost():
    assert relative_difference(100.0, 150.0) == pytest.approx(1 / 3)
    assert relative_difference(150.0, 100.0) == pytest.approx(-1 / 3)
    assert relative_difference(0.0, 5.0) == 1.0
    assert relative_difference(100.0, 150.0, 200.0) == 0.25
    assert np.isnan(relative_difference(0.0, 0.0, 0.0))
    assert np.isnan(relative_difference(0.0, 0.0))
    assert np.isnan(relative_difference(float("nan"), 1.0))
    assert np.isnan(relative_difference(1.0, float("nan")))


def test_the_evidence_holds_every_figure():
    gates = ReleaseGates(Phase.SHADOW, PARAMS)
    for pair in pairs(12):
        gates.take(pair)
    evidence = gates.evidence()
    assert evidence["cycles"] == 12
    assert 4 < evidence["champion_p99_milliseconds"] < 6
    assert evidence["failure_share"] == 0.0
    assert abs(evidence["cost_difference_share"]) < 0.02
