"""Rows of the state's tables: new rows put among the kept ones, in the order of sites; and which sites' rows differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import BoolArray, IntArray

Column = NDArray[Any]


def merge_rows(kept: Sequence[Column], new: Sequence[Column]) -> list[Column]:
    """Kept and new rows in the order of their first column, the site; rows of one site stay in their order."""
    if not len(kept[0]):
        return list(new)
    if not len(new[0]):
        return list(kept)
    joined = [np.concatenate(pair) for pair in zip(kept, new, strict=True)]
    order = np.argsort(joined[0], kind="stable")
    return [column[order] for column in joined]


def sites_that_differ(before: Sequence[Column], after: Sequence[Column], num_sites: int) -> BoolArray:
    """
    Whether the rows of each site differ, (S,); NaN equals NaN, and the order of a site's rows counts.

    Parameters
    ----------
    before, after
        Columns of two tables, the first being the site, not falling.
    """
    before_sites, after_sites = before[0], after[0]
    differs: BoolArray = np.bincount(before_sites, minlength=num_sites) != np.bincount(after_sites, minlength=num_sites)
    before_rows, after_rows = ~differs[before_sites], ~differs[after_sites]
    row_differs = np.zeros(np.count_nonzero(after_rows), dtype=np.bool_)
    for old, new in zip(before[1:], after[1:], strict=True):
        old, new = old[before_rows], new[after_rows]
        unequal = old != new
        if new.dtype.kind == "f":
            unequal &= ~(np.isnan(old) & np.isnan(new))
        row_differs |= unequal
    differs[after_sites[after_rows][row_differs]] = True
    return differs


def rows_of_other_sites(site_idx: IntArray, sites: IntArray, num_sites: int) -> BoolArray:
    """Which rows belong to none of `sites`, (rows,)."""
    is_other = np.ones(num_sites, dtype=np.bool_)
    is_other[sites] = False
    return is_other[site_idx]
