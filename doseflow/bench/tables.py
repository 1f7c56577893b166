"""Figures as a table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from doseflow.bench.figures import Figure, this_machine


def print_figures(figures: Sequence[Figure], console: Console) -> None:
    """Print figures, each with its parameters, interval and target, and the machine they were measured on."""
    table = Table("figure", "of", "value", "unit", "95 % interval", "n", "target", "met")
    for figure in figures:
        table.add_row(
            figure.name,
            ", ".join(f"{key} {value}" for key, value in figure.params.items()),
            f"{figure.value:.3g}" if abs(figure.value) < 1000 else f"{figure.value:.0f}",
            figure.unit,
            "" if figure.ci95 is None else f"{figure.ci95[0]:.3g} to {figure.ci95[1]:.3g}",
            str(figure.n),
            "" if figure.target is None else f"{figure.target:g}",
            {None: "", True: "yes", False: "no"}[figure.met],
        )
    console.print(table)
    machine = this_machine()
    size = f"{machine.cores} cores, {machine.memory_gibibytes:g} GiB"
    console.print(f"Measured on {machine.processor}, {size}, Python {machine.python}.")
