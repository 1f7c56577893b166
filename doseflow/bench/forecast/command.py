"""The command: plays the trial with a progress bar and prints each set as soon as it is done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rich.console import Console
from rich.progress import Progress as Bar

from doseflow.bench.figures import Figure
from doseflow.bench.forecast.run import ForecastTrial, Progress, play, worst_figures
from doseflow.bench.forecast.table import print_set


def forecast_figures(trial: ForecastTrial, out: Console, err: Console) -> list[Figure]:
    """
    Every figure of the trial; tables go to `out`, progress to `err`.

    Raises
    ------
    InputWrong
        No such set or model, or a file is not what it should be.
    """
    figures: list[Figure] = []
    with Bar(console=err) as bar:

        def begin(text: str, total: int) -> Callable[[], None]:
            for task_id in bar.task_ids:
                bar.remove_task(task_id)
            return partial(bar.advance, bar.add_task(text, total=total))

        said: set[str] = set()

        def say(text: str) -> None:
            if text not in said:
                said.add(text)
                bar.console.print(text, highlight=False, markup=False)

        for result in play(trial, Progress(say, begin)):
            print_set(result, out)
            figures += result.figures + worst_figures(result, trial.part, trial.seed)
    return figures
