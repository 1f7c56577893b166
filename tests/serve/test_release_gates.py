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
    # Five gates of 1 % each: 2 of 40 on average at most.
    assert gone <= 5


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
