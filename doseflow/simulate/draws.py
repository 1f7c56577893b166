"""
Chance as arrays: where the transition's random numbers come from, one Protocol for every array library.

All numbers are uniform in [0, 1); what else is needed is made of them by its inverse distribution, in the same code for
every library, so that the same numbers give the same path.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

Array = Any
"""An array of any library that follows the array API standard (2023.12)."""


class Draws(Protocol):
    """A stream of uniform random numbers."""

    def uniform(self, shape: tuple[int, ...]) -> Array:
        """Numbers in [0, 1), float32, of that shape, on the stream's device."""


class NumpyDraws:
    """Draws from a numpy generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def uniform(self, shape: tuple[int, ...]) -> Array:
        """See `Draws`."""
        return self._rng.random(shape, dtype=np.float32)


class NamespaceDraws:
    """
    Draws from a library's own generator, such as `torch.rand`.

    Parameters
    ----------
    rand
        Gives uniform float32 numbers of a shape, on the wished device.
    """

    def __init__(self, rand: Any) -> None:
        self._rand = rand

    def uniform(self, shape: tuple[int, ...]) -> Array:
        """See `Draws`."""
        return self._rand(shape)


def rounded_by_chance(xp: Any, expected: Array, uniform: Array) -> Array:
    """
    Whole numbers, int32, whose mean is `expected`: the part behind the point is rounded up by chance.

    It has the least variance of all ways to draw whole numbers of that mean; a binomial draw would have more.
    """
    return xp.astype(xp.floor(expected + uniform), xp.int32)


def standard_normal(xp: Any, draws: Draws, shape: tuple[int, ...]) -> Array:
    """
    Normal numbers of mean 0 and standard deviation 1, float32, by the transform of Box and Muller.

    References
    ----------
    G. E. P. Box and M. E. Muller, A note on the generation of random normal deviates, Annals of Mathematical
    Statistics 29(2), 1958, doi:10.1214/aoms/1177706645.
    """
    radius = xp.sqrt(-2 * xp.log1p(-draws.uniform(shape)))
    return radius * xp.cos(2 * math.pi * draws.uniform(shape))
