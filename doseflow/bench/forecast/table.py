"""The trial as tables for the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from doseflow.bench.figures import Figure
from doseflow.bench.forecast.run import SetResult, headline

NARROWEST = 150
"""Columns: in a narrower window lines run on, so that no figure is cut off."""
COLUMNS = ("weighted_quantile_loss", "crps", "mase", "wape_share", "coverage80_share", "coverage50_share")


def print_set(result: SetResult, console: Console) -> None:
    """A table a horizon, the best loss first, then the worst series of the best model and of ours."""
    for horizon in result.of.horizons:
        console.print(_table(result, horizon), width=max(console.width, NARROWEST), crop=False, no_wrap=True)
    for model, listed in result.worst:
        if listed:
            series = ", ".join(f"{series_id} {loss:.2f}" for series_id, loss in listed)
            console.print(f"worst series of {model}: {series}", highlight=False, markup=False, soft_wrap=True)


def _table(result: SetResult, horizon: int) -> Table:
    floor = headline(result.figures, "poisson_floor_weighted_quantile_loss", None, horizon)
    origins = len(result.tests[0].origins) if result.tests else 0
    title = f"{result.of.name}: {len(result.of.table.series_ids)} series, {horizon} steps of "
    title += f"{result.of.table.step_minutes} minutes, {origins} origins ({result.of.source})"
    caption = f"Poisson noise floor of the loss: {floor.value:.4f}" if floor else "a stock: no Poisson noise floor"
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    table.add_column("model")
    for name in ("loss (WQL)", "95 %", "CRPS", "MASE", "WAPE", "in 80 %", "in 50 %", "against best other peer", "s"):
        table.add_column(name, justify="right")
    tests = {test.model: test for test in result.tests}
    losses = {model: headline(result.figures, COLUMNS[0], model, horizon) for model in tests}
    for model in sorted(tests, key=lambda name: loss.value if (loss := losses[name]) else float("inf")):
        figures = [headline(result.figures, name, model, horizon) for name in COLUMNS]
        gain = headline(result.figures, "wql_against_best_peer_share", model, horizon)
        shown = [f"{figure.value:.4g}" if figure else "" for figure in figures]
        interval = _interval(figures[0])
        table.add_row(model, shown[0], interval, *shown[1:], _gain(gain), f"{tests[model].seconds:.0f}")
    return table


def _interval(figure: Figure | None) -> str:
    return f"{figure.ci95[0]:.4f} to {figure.ci95[1]:.4f}" if figure is not None and figure.ci95 is not None else ""


def _gain(figure: Figure | None) -> str:
    if figure is None:
        return ""
    between = f" ({figure.ci95[0]:+.1%} to {figure.ci95[1]:+.1%})" if figure.ci95 is not None else ""
    verdict = "" if figure.target is None else (" met" if figure.met else " MISSED")
    return f"{figure.value:+.1%}{between}{verdict}"
