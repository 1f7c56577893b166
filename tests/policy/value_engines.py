"""Engines for tests of the learned policy: the packaged net, watched, and nets that fail in every way."""

from __future__ import annotations

import numpy as np

from doseflow.bootstrap import open_policy
from doseflow.errors import EngineFailed
from doseflow.policy.site_values import FEATURES_INPUT, NUM_VALUES, VALUES_OUTPUT
from doseflow.settings import Settings


class Watched:
    """The packaged net in its real engine; how many rows each question had is kept."""

    name = "watched"

    def __init__(self):
        self.engine = open_policy(Settings()).engine
        self.num_rows = []

    def run(self, inputs):
        self.num_rows.append(len(inputs[FEATURES_INPUT]))
        return self.engine.run(inputs)


class Broken:
    """The packaged net, whose answers are spoilt from the n-th question on."""

    name = "broken"

    def __init__(self, spoil, from_question=0):
        self.engine, self.spoil, self.left = open_policy(Settings()).engine, spoil, from_question

    def run(self, inputs):
        outputs = self.engine.run(inputs)
        self.left -= 1
        return outputs if self.left >= 0 else self.spoil(outputs)


def fails(_outputs):
    raise EngineFailed("broken: out of memory")


def crashes(_outputs):
    raise ZeroDivisionError("division by zero")


def with_one(number):
    """One value of the answer is this number."""

    def spoil(outputs):
        values = outputs[VALUES_OUTPUT].copy()
        values[-1, 3] = number
        return {VALUES_OUTPUT: values}

    return spoil


SPOILT = {
    "must be finite, got 1 values that are not": with_one(np.nan),
    "must be finite, got 1 values": with_one(-np.inf),
    f", {NUM_VALUES}), got (": lambda outputs: {VALUES_OUTPUT: outputs[VALUES_OUTPUT][:, :-1]},
    f"{VALUES_OUTPUT}: must be among the outputs, got other": lambda outputs: {"other": outputs[VALUES_OUTPUT]},
    "EngineFailed: broken: out of memory": fails,
    "ZeroDivisionError: division by zero": crashes,
}
"""Ways to fail, by what is said of them."""
