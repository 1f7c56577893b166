"""
The nearest values of a model's choices.

Most rules bind one decision alone, so first every choice takes the value nearest to what was asked within its bounds.
Where rows are still broken, only the choices tied to them go to the solver; the rest are at their best already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray
from doseflow.feasible.highs import NoSolution, Programme, Solver
from doseflow.feasible.model import NearestModel, Rows

WHOLE_WITHIN = 1e-6


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the programme: a stretch of one choice (or a switch) along which a step costs the same."""

    position: int
    lower: int
    upper: int
    cost: float


def nearest_values(model: NearestModel, time_limit_seconds: float) -> list[int] | NoSolution:
    """Steps of every choice in the nearest allowed plan."""
    rows = model.rows()
    if model.is_impossible:
        return NoSolution.IMPOSSIBLE
    values = np.array(model.nearest_bounded(), dtype=np.float64)
    tied, active_rows = _tied(rows, rows.broken(values), _could_round_up(model, values))
    if not tied:
        return _choices_only(model, values)
    columns = [column for position in tied for column in _columns(model, position, int(values[position]))]
    programme = _programme(columns, rows, active_rows)
    solver = Solver(programme, time_limit_seconds)
    relaxed = solver.relaxed()
    if isinstance(relaxed, NoSolution):
        return relaxed
    settled = _settle(model, rows, values, columns, relaxed)
    if settled is not None:
        return _choices_only(model, settled)
    whole = solver.whole()
    return whole if isinstance(whole, NoSolution) else _choices_only(model, _filled(values, columns, np.rint(whole)))


def _choices_only(model: NearestModel, values: FloatArray) -> list[int]:
    chosen: list[int] = values[: model.num_choices].astype(np.int64).tolist()
    return chosen


def _could_round_up(model: NearestModel, values: FloatArray) -> list[int]:
    """Choices where a part of a vial was asked for and a whole one more may be nearer than one less."""
    return [
        position
        for position, choice in enumerate(model.choices)
        if choice.asked % choice.step and values[position] == choice.asked // choice.step < model.upper[position]
    ]


def _tied(rows: Rows, broken: BoolArray, seeds: Sequence[int]) -> tuple[list[int], list[int]]:
    """Positions and rows that broken rows, or seeds, reach through shared positions."""
    row_of_entry = np.repeat(np.arange(len(rows.bounds)), np.diff(rows.starts)).tolist()
    positions = rows.positions.tolist()
    rows_at: dict[int, list[int]] = {}
    for row, position in zip(row_of_entry, positions, strict=True):
        rows_at.setdefault(position, []).append(row)
    starts = rows.starts.tolist()
    open_rows = [*np.flatnonzero(broken).tolist(), *(row for seed in seeds for row in rows_at.get(seed, []))]
    seen_rows, seen = set(open_rows), set(seeds)
    while open_rows:
        row = open_rows.pop()
        for position in positions[starts[row] : starts[row + 1]]:
            if position not in seen:
                seen.add(position)
                new = [other for other in rows_at[position] if other not in seen_rows]
                seen_rows.update(new)
                open_rows += new
    return sorted(seen), sorted(seen_rows)


def _columns(model: NearestModel, position: int, value: int) -> list[Column]:
    """A choice as stretches below and above its nearest value; the cost is convex, so they fill in order."""
    low, high = model.lower[position], model.upper[position]
    if position >= model.num_choices:
        return [Column(position, low, high, 0.0)]
    choice, weight = model.choices[position], model.weight(position)
    part = choice.asked - value * choice.step
    columns = [Column(position, low, value, -weight * choice.step)]
    if 0 < part < choice.step and value < high:
        columns.append(Column(position, 0, 1, weight * (choice.step - 2 * part)))
        value += 1
    if value < high:
        columns.append(Column(position, 0, high - value, weight * choice.step))
    return columns


def _programme(columns: Sequence[Column], rows: Rows, active_rows: Sequence[int]) -> Programme:
    columns_of: dict[int, list[int]] = {}
    for idx, column in enumerate(columns):
        columns_of.setdefault(column.position, []).append(idx)
    indices: list[int] = []
    coefficients: list[float] = []
    starts = [0]
    for row in active_rows:
        for entry in range(rows.starts[row], rows.starts[row + 1]):
            for idx in columns_of[int(rows.positions[entry])]:
                indices.append(idx)
                coefficients.append(float(rows.coefficients[entry]))
        starts.append(len(indices))
    return Programme(
        costs=np.array([column.cost for column in columns]),
        lower=np.array([column.lower for column in columns], dtype=np.float64),
        upper=np.array([column.upper for column in columns], dtype=np.float64),
        positions=np.array(indices, dtype=np.int32),
        coefficients=np.array(coefficients, dtype=np.float64),
        starts=np.array(starts, dtype=np.int32),
        bounds=rows.bounds[list(active_rows)],
    )


def _filled(values: FloatArray, columns: Sequence[Column], solution: FloatArray) -> FloatArray:
    """The values with the solved ones put in."""
    filled = values.copy()
    positions = np.array([column.position for column in columns])
    filled[positions] = 0.0
    np.add.at(filled, positions, solution)
    return filled


def _settle(
    model: NearestModel, rows: Rows, values: FloatArray, columns: Sequence[Column], relaxed: FloatArray
) -> FloatArray | None:
    """The relaxed solution, where its choices are whole and its switches may be set to what the choices say."""
    filled = _filled(values, columns, relaxed)
    choices = filled[: model.num_choices]
    if np.abs(choices - np.rint(choices)).max(initial=0.0) > WHOLE_WITHIN:
        return None
    settled = np.array(model.with_switches(np.rint(choices).astype(np.int64).tolist()), dtype=np.float64)
    is_allowed = not rows.broken(settled).any() and bool((settled <= np.array(model.upper)).all())
    return settled if is_allowed else None
