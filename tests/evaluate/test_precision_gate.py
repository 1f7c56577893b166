"""What the gate on decisions finds: nothing where the net is the same, and a net that says nothing."""

from dataclasses import replace
from datetime import time

import numpy as np
import pytest
from evaluate_samples import SMALL

from doseflow.bootstrap import open_policy
from doseflow.evaluate.precision_gate import BesideEngine, GateOutcome, GateParams, fine_days, judge
from doseflow.serve.variant import DecisionGate
from doseflow.settings import Settings

SHORT = replace(SMALL, city="synthetic:20", offered_load_share=1.5, window=replace(SMALL.window, ends_at=time(10, 0)))
PARAMS = GateParams(seeds=(1,), stride=3, scenarios=(SHORT,))


class Scaled:
    """The shipped policy's net with its values multiplied."""

    def __init__(self, factor):
        self.name, self._factor = f"times {factor}", factor

    def run(self, inputs):
        return {name: array * self._factor for name, array in open_policy(Settings()).engine.run(inputs).items()}


@pytest.fixture(scope="module")
def outcomes():
    fine = open_policy(Settings()).engine
    return judge("policy", fine, {"same": Scaled(np.float32(1)), "nothing": Scaled(np.float32(0))}, PARAMS)


def test_the_same_net_decides_the_same_and_costs_nothing(outcomes):
    same = outcomes["same"]
    assert (same.gate.identical_share, same.gate.identical_plans_share, same.gate.loss_share) == (1.0, 1.0, 0.0)
    assert (same.gate.num_violations, same.tensor_error, same.reason) == (0, 0.0, None)
    assert same.gate.num_days == 1
    assert same.gate.num_cycles >= 8
    assert same.gate.loss_ci95 is None


def test_a_net_that_says_nothing_decides_otherwise(outcomes):
    nothing = outcomes["nothing"]
    assert nothing.gate.identical_share < 1.0
    assert nothing.tensor_error >= 1.0


@pytest.mark.parametrize(
    ("loss_share", "num_violations", "reason"),
    [
        (0.0079, 0, None),
        (-0.02, 0, None),
        (0.008, 0, "With it the mean wait grew by 0.80 % on 3 held-out days, and it must stay under 0.8 %."),
        (0.0, 2, "The referee found 2 violations in its plans."),
    ],
)
def test_a_net_passes_with_less_than_eight_thousandths_and_no_violation(loss_share, num_violations, reason):
    gate = DecisionGate(
        num_cycles=9,
        identical_share=0.9,
        identical_plans_share=0.9,
        num_violations=num_violations,
        num_days=3,
        loss_share=loss_share,
    )
    assert GateOutcome(gate, 0.1).reason == reason


def test_the_error_is_the_largest_in_the_unit_or_above_one_as_a_share():
    class Told:
        name = "told"

        def __init__(self, *values):
            self._values = np.array(values)

        def run(self, inputs):
            return {"y": self._values}

    beside = BesideEngine(Told(0.5, 100.0), {"a": Told(0.6, 100.0), "b": Told(0.5, 120.0)})
    np.testing.assert_array_equal(beside.run({})["y"], [0.5, 100.0])
    assert beside.tensor_error == {"a": pytest.approx(0.1), "b": pytest.approx(0.2)}


def test_plans_are_compared_every_few_cycles_of_every_day():
    fine = open_policy(Settings()).engine
    short = replace(SHORT, window=replace(SHORT.window, ends_at=time(8, 0)))
    lived = fine_days("policy", fine, {"same": fine}, GateParams(seeds=(1, 2), stride=2, scenarios=(short,)))
    assert len(lived.waits_minutes) == 2
    assert len(lived.same["same"]) == len(lived.either["same"]) >= 4
    assert lived.same == lived.either
