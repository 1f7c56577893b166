"""The forecast of a file of past series, written to another file."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress

from doseflow.domain.city import FloatArray
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.series_table import SeriesTable
from doseflow.errors import HistoryWrong
from doseflow.forecast.series import Seasons, find_seasons, forecast_series
from doseflow.intake.history_bounds import MOST_HORIZON_STEPS, MOST_OUTPUT_ROWS
from doseflow.intake.history_file import History, read_history

COLUMNS = ("series_id", "timestamp", *(f"q{round(level * 100):02d}" for level in QUANTILE_LEVELS))
BACK_TEST_ORIGINS = 3
LEAST_STEPS_BEFORE = 3
"""Times the horizon that must lie before an origin of the back-test."""


@dataclass(frozen=True, slots=True)
class ForecastChoice:
    """What to forecast, how many steps, and where to."""

    history: Path
    horizon: int
    out: Path
    with_back_test: bool = False


@dataclass(frozen=True, slots=True)
class ForecastOutcome:
    """One line for a person, and figures as keywords of a bench figure."""

    summary: str
    figures: list[dict[str, Any]]


def forecast_file(choice: ForecastChoice, progress: Progress) -> ForecastOutcome:
    """
    Forecast a history file.

    Raises
    ------
    HistoryWrong
    """
    if not 1 <= choice.horizon <= MOST_HORIZON_STEPS:
        raise HistoryWrong(f"--horizon: must lie in 1..{MOST_HORIZON_STEPS}, got {choice.horizon}")
    if choice.out.exists() and choice.history.exists() and choice.out.samefile(choice.history):
        raise HistoryWrong(f"--out: must be another file than --history, got {choice.out}")
    history = _read(choice, progress)
    table = history.table
    if table.num_series * choice.horizon > MOST_OUTPUT_ROWS:
        raise HistoryWrong(
            f"--horizon: {table.num_series} series times {choice.horizon} steps are more than {MOST_OUTPUT_ROWS:,} rows"
        )
    task = progress.add_task("forecasting", total=1.0)
    quantiles = forecast_series(
        table,
        choice.horizon,
        last_step_idx=history.last_step_idx,
        advance=lambda share: progress.update(task, completed=share),
    )
    write_quantiles(choice.out, history, quantiles)
    seasons = find_seasons(table.values, table.starts_at, table.step_minutes)
    figures = _understood(history, seasons)
    if choice.with_back_test:
        figures += back_test(table, choice.horizon, progress)
    return ForecastOutcome(_summary(history, seasons, choice), figures)


def _read(choice: ForecastChoice, progress: Progress) -> History:
    task = progress.add_task("reading rows", total=None)
    try:
        data = choice.history.read_bytes()
    except OSError as error:
        raise HistoryWrong(f"--history: {choice.history} cannot be read ({error.strerror})") from error
    history = read_history(
        data, is_gzip=choice.history.suffix == ".gz", advance=lambda rows: progress.advance(task, rows)
    )
    progress.remove_task(task)
    return history


def write_quantiles(path: Path, history: History, quantiles: FloatArray) -> None:
    """Write quantiles, (S, N, Q), one row a series and step, timestamps as each series wrote them."""
    table = history.table
    try:
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(COLUMNS)
            for idx, series_id in enumerate(table.series_ids):
                for ahead, row in enumerate(quantiles[idx], start=1):
                    writer.writerow((series_id, history.written(idx, ahead), *(f"{each:.7g}" for each in row)))
    except OverflowError as error:
        raise HistoryWrong("--horizon: the forecast would end after the year 9999") from error


def back_test(table: SeriesTable, horizon: int, progress: Progress) -> list[dict[str, Any]]:
    """Figures of forecasts made at past origins, one horizon apart, of what came after."""
    origins = [table.num_steps - horizon * number for number in range(1, BACK_TEST_ORIGINS + 1)]
    origins = [origin for origin in origins if origin >= LEAST_STEPS_BEFORE * horizon]
    if not origins:
        return []
    task = progress.add_task("back-test", total=len(origins))
    came, told = [], []
    for origin in origins:
        told.append(forecast_series(replace_values(table, origin), horizon))
        came.append(table.values[:, origin : origin + horizon])
        progress.advance(task)
    values, quantiles = np.concatenate(came, axis=1), np.concatenate(told, axis=1)
    known = np.isfinite(values) & np.isfinite(quantiles[..., 0])
    values, quantiles = values[known], quantiles[known]
    params = {"model": "series", "origins": len(origins), "horizon_steps": horizon}
    loss = weighted_quantile_loss(values, quantiles)
    covered = float(((values >= quantiles[:, 0]) & (values <= quantiles[:, -1])).mean()) if len(values) else np.nan
    return [
        _figure("weighted_quantile_loss", loss, "share", params, len(values)),
        _figure("coverage80_share", covered, "share", params, len(values)),
    ]


def replace_values(table: SeriesTable, num_steps: int) -> SeriesTable:
    """The table as it was after so many steps."""
    return replace(
        table,
        values=table.values[:, :num_steps],
        covariates={name: covariate[:, :num_steps] for name, covariate in table.covariates.items()},
    )


def weighted_quantile_loss(values: FloatArray, quantiles: FloatArray) -> float:
    """Twice the pinball loss over the sum of absolute values, mean of the levels; values (n,), quantiles (n, Q)."""
    error = values[:, None] - quantiles
    levels = np.asarray(QUANTILE_LEVELS)
    total = np.abs(values).sum()
    return float(2 * np.maximum(levels * error, (levels - 1) * error).sum(axis=0).mean() / total) if total else np.nan


def _understood(history: History, seasons: Seasons) -> list[dict[str, Any]]:
    table = history.table
    found: dict[str, tuple[float, str]] = {
        "series": (table.num_series, "count"),
        "rows": (history.num_rows, "count"),
        "step_minutes": (table.step_minutes, "minutes"),
        "gaps": (history.num_gaps, "steps"),
        "cycle_steps": (seasons.cycle_steps, "steps"),
        "cycles_a_round": (seasons.cycles_a_round, "count"),
    }
    return [_figure(name, value, unit, {}, 1) for name, (value, unit) in found.items()]


def _figure(name: str, value: float, unit: str, params: dict[str, Any], n: int) -> dict[str, Any]:
    return {"name": name, "value": value, "unit": unit, "params": params, "n": n}


def _summary(history: History, seasons: Seasons, choice: ForecastChoice) -> str:
    table = history.table
    rows = table.num_series * choice.horizon
    return (
        f"{rows:,} rows in {choice.out}: {choice.horizon} steps of {table.step_minutes} minutes beyond the last "
        f"timestamp of {table.num_series} series ({history.num_rows:,} rows read, {history.num_gaps:,} gaps, "
        f"cycle of {seasons.cycle_steps} steps, {seasons.cycles_a_round} to a round)"
    )
