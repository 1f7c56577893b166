"""Things on their way, a row a thing: columns of one length, in any array library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from doseflow.simulate.arrays import namespace
from doseflow.simulate.draws import Array


@dataclass(frozen=True)
class Table:
    """
    Columns by name.

    A column that names a site counts the sites of all replicas, one after the other: where the world has no replica
    axis, that is the position of the site in the city.
    """

    columns: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def __len__(self) -> int:
        return int(next(iter(self.columns.values())).shape[0])

    def where(self, keep: Array) -> Table:
        """The rows that are kept, a truth value a row."""
        return Table({name: column[keep] for name, column in self.columns.items()})

    def replacing(self, **columns: Array) -> Table:
        """The table with other values in some columns."""
        return Table({**self.columns, **columns})

    def followed_by(self, rows: Table) -> Table:
        """Both tables, one after the other."""
        if not len(rows):
            return self
        xp = namespace(next(iter(self.columns.values())))
        return Table({name: xp.concat([column, rows[name]]) for name, column in self.columns.items()})


Schema = Mapping[str, type]
"""Names and types, `int` or `float`, of the columns of a table, in order."""


def table_of(schema: Schema, rows: Sequence[Sequence[Any]] = ()) -> Table:
    """A numpy table from rows of plain values."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    dtypes = {int: np.int64, float: np.float64}
    return Table({name: np.array(columns[k], dtype=dtypes[schema[name]]) for k, name in enumerate(schema)})


def rounds(rows: Table, site_column: str) -> Iterator[Table]:
    """The rows in as many parts as are needed for every site to stand in each part at most once, in order."""
    while len(rows):
        first = _is_first(rows[site_column])
        yield rows.where(first)
        rows = rows.where(~first)


def _is_first(values: Array) -> Array:
    """Whether a value stands in its place for the first time, (rows,)."""
    xp = namespace(values)
    order = xp.argsort(values, stable=True)
    ordered = values[order]
    first = xp.concat([xp.ones_like(ordered[:1]) == 1, ordered[1:] != ordered[:-1]])
    return first[xp.argsort(order, stable=True)]
