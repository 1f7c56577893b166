"""The comparison as lines for the terminal: whole lines, so that a pipe or a narrow window loses nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console

from doseflow.bench.figures import Figure
from doseflow.evaluate.comparison import ALL_FAMILIES, UNSURE, Comparison

COLUMNS: tuple[tuple[str, str, float, str], ...] = (
    ("mean_wait_minutes", "mean wait min", 1, ".1f"),
    ("p95_wait_minutes", "p95 wait min", 1, ".0f"),
    ("people_lost_share", "lost %", 100, ".1f"),
    ("busy_block_share", "busy blocks %", 100, ".0f"),
    ("worst_site_wait_minutes", "worst site min", 1, ".0f"),
    ("dose_utilisation_share", "doses used %", 100, ".1f"),
    ("wait_reduction_share", "wait under static %", 100, ".0f"),
    ("gap_closed_share", "gap closed %", 100, ".0f"),
    ("forecast_gap_closed_share", "forecast gap closed %", 100, ".0f"),
    ("decision_p50_milliseconds", "decision ms", 1, ".1f"),
)
"""Figure, heading, factor and number format."""
ONLY_WHERE_TOLD = {"forecast_gap_closed_share"}
"""Columns that are left out where no planner has the figure."""


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print all days: a line a planner, each figure with its 95 % interval; a note where that is too narrow."""
    lines = _aligned(_cells(comparison))
    lines += [f"Set in every scenario: {name} = {value:g}" for name, value in comparison.params.items()]
    lines += [f"Note: {UNSURE}."] if comparison.is_unsure else []
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _cells(comparison: Comparison) -> list[list[str]]:
    of_all = [one for one in comparison.figures() if one.params["family"] == ALL_FAMILIES]
    by_name = {(one.params["planner"], one.name): one for one in of_all}
    told = {name for _, name in by_name}
    columns = [one for one in COLUMNS if one[0] in told or one[0] not in ONLY_WHERE_TOLD]
    lines = [["planner", *(heading for _, heading, _, _ in columns)]]
    for planner in comparison.planners:
        cells = (_cell(by_name.get((planner, name)), factor, form) for name, _, factor, form in columns)
        lines.append([planner, *cells])
    return lines


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return [line.rstrip() for line in padded]


def _cell(figure: Figure | None, factor: float, form: str) -> str:
    if figure is None or math.isnan(figure.value):
        return "-"
    shown = format(figure.value * factor, form)
    if figure.ci95 is None:
        return shown
    low, high = (format(end * factor, form) for end in figure.ci95)
    return f"{shown} ({low} to {high})"
