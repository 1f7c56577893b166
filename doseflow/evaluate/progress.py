"""The progress of an evaluation on a terminal: runs done, failed, and the time that is left."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from doseflow.evaluate.run import Row


class RunProgress:
    """A bar while runs are played; a context. It shows nothing before `begin`, so that a refusal stands alone."""

    def __init__(self, console: Console) -> None:
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        # Planners differ in speed a hundredfold: only a long memory gives a sound estimate.
        remaining = TimeRemainingColumn()
        self._progress = Progress(*columns, TextColumn("left"), remaining, console=console, speed_estimate_period=1800)
        self._task = self._progress.add_task("runs", total=None)
        self._has_begun = False
        self._num_failed = 0

    def __enter__(self) -> RunProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._has_begun:
            self._progress.stop()

    def begin(self, total: int, done: int) -> None:
        """How many runs there are, and how many were done before."""
        self._progress.update(self._task, total=total, completed=done)
        self._has_begun = True
        self._progress.start()

    def advance(self, row: Row) -> None:
        """One more has ended."""
        self._num_failed += "failed" in row
        failed = f", {self._num_failed} failed" if self._num_failed else ""
        self._progress.update(
            self._task, advance=1, description=f"{row['planner']}, {row['scenario']}, seed {row['seed']}{failed}"
        )
