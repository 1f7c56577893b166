"""A sparse matrix under construction, entries in whole arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_matrix, csc_matrix

from doseflow.domain.city import FloatArray, IntArray


class Triplets:
    """Rows, columns and values, added a block at a time; entries that meet are summed, zeros are left out."""

    def __init__(self) -> None:
        self._rows: list[IntArray] = []
        self._columns: list[IntArray] = []
        self._values: list[FloatArray] = []

    def add(self, rows: IntArray, columns: IntArray, values: ArrayLike) -> None:
        """Add entries; the three broadcast against each other, and negative rows or columns are left out."""
        row, column, value = np.broadcast_arrays(rows, columns, np.asarray(values, dtype=np.float64))
        is_entry = (row >= 0) & (column >= 0) & (value != 0)
        self._rows.append(row[is_entry])
        self._columns.append(column[is_entry])
        self._values.append(value[is_entry])

    def matrix(self, num_rows: int, num_columns: int) -> csc_matrix:
        """All entries, column by column."""
        places = np.concatenate(self._rows), np.concatenate(self._columns)
        matrix = coo_matrix((np.concatenate(self._values), places), shape=(num_rows, num_columns)).tocsc()
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
        return matrix
