"""The trial as lines for the terminal: whole lines, so that a pipe or a narrow window loses nothing."""

from __future__ import annotations

from rich.console import Console

from doseflow.bench.figures import Figure
from doseflow.bench.forecast.run import SetResult, headline

COLUMNS = {
    "weighted_quantile_loss": "loss (WQL)",
    "crps": "CRPS",
    "mase": "MASE",
    "wape_share": "WAPE",
    "coverage80_share": "in 80 %",
    "coverage50_share": "in 50 %",
}


def print_set(result: SetResult, console: Console) -> None:
    """A table a horizon, the best loss first, then each model's worst series."""
    if not result.tests:
        _line(console, f"{result.of.name}: no model could be run")
        return
    for horizon in result.of.horizons:
        _print_horizon(result, horizon, console)
    for figure in result.figures:
        if figure.name == "loss_growth_share":
            _line(console, f"with {figure.params['missing_share']:.0%} of reports missing the loss of "
                           f"{figure.params['model']} grows by {_share_with_interval(figure)}")  # fmt: skip
    for model, listed in result.worst:
        if listed:
            _line(console, f"worst of {model}: " + ", ".join(f"{name} {loss:.2f}" for name, loss in listed))
    _line(console, "")


def _print_horizon(result: SetResult, horizon: int, console: Console) -> None:
    of, tests = result.of, {test.model: test for test in result.tests}
    floor = headline(result.figures, "poisson_floor_weighted_quantile_loss", None, horizon)
    noise = f"Poisson noise floor {floor.value:.4f}" if floor else "a stock, without a Poisson noise floor"
    size = f"{len(of.table.series_ids)} series, {horizon} steps of {of.table.step_minutes} minutes"
    _line(console, f"{of.name}: {size}, {len(result.tests[0].origins)} origins; {of.source}; {noise}")
    heads = "".join(f"{head:>10}" for head in list(COLUMNS.values())[1:])
    _line(console, f"{'model':22}{'loss (WQL), 95 %':>26}{heads}{'s':>6}  against the best other peer")
    losses = {model: headline(result.figures, "weighted_quantile_loss", model, horizon) for model in tests}
    for model in sorted(tests, key=lambda name: loss.value if (loss := losses[name]) else float("inf")):
        figures = [headline(result.figures, name, model, horizon) for name in COLUMNS]
        others = "".join(f"{figure.value:10.4g}" if figure else " " * 10 for figure in figures[1:])
        gain = headline(result.figures, "wql_against_best_peer_share", model, horizon)
        against = _share_with_interval(gain) if gain else ""
        _line(console, f"{model:22}{_with_interval(figures[0]):>26}{others}{tests[model].seconds:6.0f}  {against}")


def _with_interval(figure: Figure | None) -> str:
    if figure is None:
        return ""
    between = f" ({figure.ci95[0]:.4f}-{figure.ci95[1]:.4f})" if figure.ci95 is not None else ""
    return f"{figure.value:.4f}{between}"


def _share_with_interval(figure: Figure) -> str:
    between = f" ({figure.ci95[0]:+.1%} to {figure.ci95[1]:+.1%})" if figure.ci95 is not None else ""
    verdict = "" if figure.target is None else f", target {figure.target:+.0%} {'met' if figure.met else 'MISSED'}"
    of = f" {figure.params['best_peer']}" if "best_peer" in figure.params else ""
    return f"{figure.value:+.1%}{between}{of}{verdict}"


def _line(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
