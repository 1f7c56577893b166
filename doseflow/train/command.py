"""What `doseflow train forecaster` does: train with progress, judge, and write the bundle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from doseflow.errors import TrainingWrong
from doseflow.train.forecaster import QUICK, ForecasterParams, Say, Trained, train_forecaster
from doseflow.train.forecaster_bundle import write_forecaster_bundle
from doseflow.train.spoken_tenths import tenths


@dataclass(frozen=True)
class TrainChoice:
    """What a user asked for; None leaves the default of the run, quick or full."""

    out: Path
    is_quick: bool = False
    seed: int = 1
    device: str = "cpu"
    num_days: int | None = None
    num_steps: int | None = None
    encoder: str | None = None
    attention_layers: int | None = None
    workers: int | None = None
    days_file: Path | None = None

    def params(self) -> ForecasterParams:
        """
        The parameters of the run.

        Raises
        ------
        TrainingWrong
            One of them is out of its range.
        """
        given = {
            name: getattr(self, name)
            for name in ("num_days", "num_steps", "encoder", "attention_layers")
            if getattr(self, name) is not None
        }
        try:
            params = replace(QUICK if self.is_quick else ForecasterParams(), seed=self.seed, **given)
            params.shape()
        except ValueError as error:
            raise TrainingWrong(str(error)) from error
        return params


def train_and_bundle(choice: TrainChoice, console: Console) -> Trained:
    """
    Train as asked, and write bundle, metrics and curve into the folder.

    Raises
    ------
    TrainingWrong
    ModelWrong
        What was exported does not answer as the net does.
    """
    params = choice.params()
    with training_progress(console) as say:
        trained = train_forecaster(params, choice.out, choice.device, say, choice.workers, choice.days_file)
    metrics = {"params": asdict(trained.params), "metrics": trained.metrics, "curve": trained.curve}
    (choice.out / "metrics.json").write_text(json.dumps(metrics, indent=1), encoding="utf-8")
    write_forecaster_bundle(trained, choice.out / "bundle")
    return trained


@contextmanager
def training_progress(console: Console) -> Iterator[Say]:
    """Bars of what is being done, one each; lines where nobody sees a bar move, as in a file."""
    if not console.is_terminal:
        yield tenths(console.print)
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, TextColumn("left"), TimeRemainingColumn(), console=console) as progress:
        tasks: dict[str, TaskID] = {}

        def say(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = progress.add_task(what, total=total)
            progress.update(tasks[what], completed=done)

        yield say


def print_metrics(metrics: dict[str, float], console: Console) -> None:
    """The figures of a run, beside the plain forecasts of the same days."""
    table = Table("validation days", "weighted quantile loss", "80 % interval covers", "the same, spread evenly")
    for holed, days in (("", "reports 1 % lost"), ("_missing30", "reports 30 % lost")):
        for peer, name in (
            ("", "this net"),
            ("_bookings_first", "bookings first"),
            ("_seasonal_naive", "seasonal naive"),
        ):
            cells = [metrics[f"{key}{peer}{holed}"] for key in ("wql", "coverage80", "coverage80_even")]
            table.add_row(f"{name}, {days}", f"{cells[0]:.4f}", *(f"{100 * cell:.1f} %" for cell in cells[1:]))
    console.print(table)
    console.print(f"loss grows by {100 * metrics['loss_growth_share_missing30']:.1f} % when 30 % of reports are lost")
    console.print(f"doses of the rest of the day: weighted quantile loss {metrics['wql_rest']:.4f}")
