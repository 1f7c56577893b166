"""What `doseflow train policy` does: train with progress, judge, and write the bundle."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from doseflow.errors import TrainingWrong
from doseflow.train.command import training_progress
from doseflow.train.policy import QUICK, PolicyParams, TrainedPolicy, train_policy
from doseflow.train.policy_bundle import write_policy_bundle
from doseflow.train.site_days import LIVES, PROGRAMME

_TEACHER_OF_WAY = {"rollout": LIVES, "imitation": PROGRAMME}


def teacher_of(way: str) -> str:
    """
    Who says what people are worth, by the way to train.

    Raises
    ------
    TrainingWrong
    """
    if way not in _TEACHER_OF_WAY:
        raise TrainingWrong(f"--by: must be one of {', '.join(_TEACHER_OF_WAY)}, evolution, got {way!r}")
    return _TEACHER_OF_WAY[way]


@dataclass(frozen=True)
class PolicyChoice:
    """What a user asked for; None leaves the default of the run, quick or full."""

    out: Path
    is_quick: bool = False
    seed: int = 1
    device: str = "cpu"
    num_days: int | None = None
    num_passes: int | None = None
    num_steps: int | None = None
    workers: int | None = None
    teacher: str = LIVES

    def params(self) -> PolicyParams:
        """
        The parameters of the run.

        Raises
        ------
        TrainingWrong
            One of them is out of its range.
        """
        names = ("num_days", "num_passes", "num_steps")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        try:
            usual = QUICK if self.is_quick else PolicyParams()
            return replace(usual, teacher=self.teacher, seed=self.seed, **given)
        except ValueError as error:
            raise TrainingWrong(str(error)) from error


def train_policy_and_bundle(choice: PolicyChoice, console: Console) -> TrainedPolicy:
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
        trained = train_policy(params, choice.out, choice.device, say, choice.workers)
    metrics = {"params": asdict(trained.params), "metrics": trained.metrics, "curve": trained.curve}
    (choice.out / "metrics.json").write_text(json.dumps(metrics, indent=1), encoding="utf-8")
    write_policy_bundle(trained, choice.out / "bundle")
    return trained


def print_policy_metrics(metrics: dict[str, float], console: Console) -> None:
    """The figures of a run, value by value, beside the fluid queue's."""
    table = Table("value", "unexplained by the net", "by the fluid queue")
    first = "unexplained_share_"
    for name in (key.removeprefix(first) for key in metrics if key.startswith(first)):
        fluid = metrics.get(f"fluid_{first}{name}")
        told = "" if fluid is None else f"{100 * fluid:.1f} %"
        table.add_row(name, f"{100 * metrics[first + name]:.1f} %", told)
    console.print(table)
    console.print(f"all values together: {100 * metrics['unexplained_share']:.1f} % unexplained")
