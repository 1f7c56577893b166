"""Tables of staff, lots and fridges gathered into arrays by site."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray, IntArray


def sum_by_cell(site_idx: IntArray, column: IntArray, values: FloatArray, num_sites: int, width: int) -> FloatArray:
    """Sums of a table's values by site and column, (S, width)."""
    sums = np.bincount(site_idx * width + column, weights=values, minlength=num_sites * width)
    return sums.astype(np.float64).reshape(num_sites, width)


def sum_by_site(site_idx: IntArray, values: FloatArray, num_sites: int) -> FloatArray:
    """Sums of a table's values by site, (S,); NaN where no value is known."""
    is_known = ~np.isnan(values)
    known = np.bincount(site_idx[is_known], minlength=num_sites)
    sums = np.bincount(site_idx[is_known], weights=values[is_known], minlength=num_sites).astype(np.float64)
    return np.where(known > 0, sums, np.nan)


def highest_by_site(site_idx: IntArray, values: FloatArray, num_sites: int) -> FloatArray:
    """Highest known value by site, (S,); NaN where none is known."""
    highest = np.full(num_sites, np.nan)
    np.fmax.at(highest, site_idx, values)
    return highest


def lowest_by_site(site_idx: IntArray, values: FloatArray, num_sites: int) -> FloatArray:
    """Lowest known value by site, (S,); NaN where none is known."""
    return -highest_by_site(site_idx, -values, num_sites)
