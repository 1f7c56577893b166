"""Past origins that say nothing of other days: a holiday that every member missed."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS

ODD_LOSS = 2.0
"""Times the median origin's loss, from which on an origin is odd."""
_LEVELS = np.array(QUANTILE_LEVELS)


def odd_origins(members: FloatArray, came: FloatArray) -> BoolArray:
    """
    Which origins the members together missed far more than the others, (O,).

    Losses of a day on which everything is different are large, and would choose the weights alone.

    Parameters
    ----------
    members
        Past forecasts, (M, S, O, N, Q).
    came
        What came, (S, O, N), NaN where nobody knows.
    """
    error = came[..., None] - members.mean(axis=0)
    loss = np.maximum(_LEVELS * error, (_LEVELS - 1) * error).mean(axis=-1)
    known = np.isfinite(loss)
    missed = np.where(known, loss, 0.0).sum(axis=(0, 2))
    volume = np.where(known, np.abs(came), 0.0).sum(axis=(0, 2))
    # Where nothing came, all that was told is missed: a day that was closed is the oddest of all.
    share = missed / np.maximum(volume, 1e-12)
    tried: BoolArray = known.any(axis=(0, 2))
    if not tried.any():
        return tried
    odd: BoolArray = tried & (share > ODD_LOSS * np.median(share[tried]))
    return odd
