"""The few shapes that an engine is made for, where each costs memory or a build."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.errors import EngineFailed
from doseflow.serve.axes import BATCH_AXIS, SITE_AXIS, Arrays, Axes, Sizes, least_bucket, sizes_of


def shapes_for(axes: Axes, sites: int, batches: Sequence[int]) -> tuple[dict[str, int], ...]:
    """
    Sizes of the free axes: one shape for each batch.

    A net without a batch axis takes each site for itself, so that a batch of cities is one long row of sites.
    """
    has_batch = any(BATCH_AXIS in told for told in axes.values())
    if has_batch:
        return tuple({BATCH_AXIS: batch, SITE_AXIS: sites} for batch in batches)
    return tuple({SITE_AXIS: batch * sites} for batch in batches)


def shape_for(name: str, inputs: Arrays, axes: Axes, shapes: Sequence[Sizes]) -> tuple[dict[str, int], Sizes]:
    """
    Sizes of the inputs, and the smallest shape that holds them.

    Raises
    ------
    EngineFailed
        No shape does, or the inputs are not those of the net.
    """
    sizes = sizes_of(inputs, axes)
    shape = least_bucket(sizes, shapes)
    if shape is None:
        told = "; ".join(text_of(one) for one in shapes)
        raise EngineFailed(f"{name}: made for at most {told}; got {text_of(sizes)} (setting engines.sites)")
    return sizes, shape


def text_of(sizes: Sizes) -> str:
    """Sizes for a person."""
    words = {BATCH_AXIS: "cities", SITE_AXIS: "sites"}
    return ", ".join(f"{length} {words.get(axis, axis)}" for axis, length in sizes.items())


def answered_in_pieces(
    run: Callable[[Arrays], dict[str, NDArray[Any]]], inputs: Arrays, axes: Axes, shapes: Sequence[Sizes]
) -> dict[str, NDArray[Any]]:
    """
    The answer to a question of more cities than any shape has: some at a time, side by side again.

    Raises
    ------
    EngineFailed
    """
    most = max(one.get(BATCH_AXIS, 0) for one in shapes)
    cities = sizes_of(inputs, axes).get(BATCH_AXIS, 0)
    if cities <= most or not most:
        return run(inputs)
    pieces = [run({name: inputs[name][first : first + most] for name in axes}) for first in range(0, cities, most)]
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
