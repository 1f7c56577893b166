"""Figures as lines for the terminal: whole lines, so that a pipe or a narrow window loses nothing."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from doseflow.bench.figures import Figure, this_machine


def print_figures(figures: Sequence[Figure], console: Console) -> None:
    """Print figures, each with its parameters, interval and target, and the machine they were measured on."""
    for figure in figures:
        console.print(_line(figure), markup=False, highlight=False, soft_wrap=True)
    machine = this_machine()
    size = f"{machine.cores} cores, {machine.memory_gibibytes:g} GiB"
    console.print(f"Measured on {machine.processor}, {size}, Python {machine.python}.", highlight=False, soft_wrap=True)


def _line(figure: Figure) -> str:
    of = ", ".join(f"{key} {value}" for key, value in figure.params.items())
    parts = [f"{figure.name:24s} {figure.value:8.3g} {figure.unit:13s} {of:44s} n {figure.n}"]
    if figure.ci95 is not None:
        parts.append(f"95 % {figure.ci95[0]:.3g} to {figure.ci95[1]:.3g}")
    if figure.target is not None:
        parts.append(f"target {figure.target:g} {'met' if figure.met else 'MISSED'}")
    return "  ".join(parts)
