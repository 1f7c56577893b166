"""Rows of a table by site."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import IntArray


class RowsBySite:
    """
    Finds the rows of one site in a table whose `site_idx` column is in any order.

    Parameters
    ----------
    site_idx
        The column, (rows,); rows at -1 belong to no site.
    """

    def __init__(self, site_idx: IntArray, num_sites: int) -> None:
        order = np.argsort(site_idx, kind="stable")
        self._starts: list[int] = np.searchsorted(site_idx[order], np.arange(num_sites + 1)).tolist()
        self._rows: list[int] = order.tolist()

    def __call__(self, site_idx: int) -> list[int]:
        """Rows of a site, in the order of the table."""
        return self._rows[self._starts[site_idx] : self._starts[site_idx + 1]]
