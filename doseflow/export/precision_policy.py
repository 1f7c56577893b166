"""
How coarse a net that serves may compute each output.

What ranks people, or decides who is sent where, and what raises a cold-chain alarm, is never computed in INT8: a tie
that rounding makes falls on somebody. What only counts people or doses may be, where the gates on decisions pass.
"""

from __future__ import annotations

from collections.abc import Iterable

from doseflow.serve.precision import Precision

LOWEST_PRECISION: dict[str, Precision] = {
    "values": "fp16",  # what one person more is worth: ranks whom to move and whom to send to a neighbour
    "arrivals_people": "int8",
    "doses_rest_of_day": "int8",
}
LOWEST_UNLESS_SAID: Precision = "fp16"
"""Of an output that nobody has decided on."""


def lowest_precision_of(outputs: Iterable[str]) -> dict[str, Precision]:
    """The table's entries for a net's outputs."""
    return {name: LOWEST_PRECISION.get(name, LOWEST_UNLESS_SAID) for name in outputs}
