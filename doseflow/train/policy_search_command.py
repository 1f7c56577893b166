"""What `doseflow train policy --by evolution` does: search with progress, and say what was found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from doseflow.errors import TrainingWrong
from doseflow.settings import read_settings
from doseflow.train.policy_search import DayCost, SearchParams, search, toml_of


@dataclass(frozen=True)
class SearchChoice:
    """What a user asked for; None leaves the default."""

    out: Path
    seed: int = 1
    num_days: int | None = None
    num_generations: int | None = None
    workers: int | None = None

    def params(self) -> SearchParams:
        """
        The parameters of the search.

        Raises
        ------
        TrainingWrong
            One of them is out of its range.
        """
        given = {"days_per_generation": self.num_days, "num_generations": self.num_generations}
        try:
            return SearchParams(seed=self.seed, **{name: one for name, one in given.items() if one is not None})
        except ValueError as error:
            raise TrainingWrong(str(error)) from error


def require_search_options(*, is_quick: bool, device: str, num_passes: int | None) -> None:
    """
    Refuse options of the training of a net, which a search does not do.

    Raises
    ------
    TrainingWrong
    """
    given = {"--quick": is_quick, "--device": device != "cpu", "--passes": num_passes is not None}
    for option in (name for name, is_given in given.items() if is_given):
        raise TrainingWrong(
            f"{option}: must be left out with --by evolution, which plays days on the processor and trains no net"
        )


def search_and_print(choice: SearchChoice, day_cost: DayCost, out: Console, err: Console) -> None:
    """
    Search as asked, and print what was found as settings.

    Raises
    ------
    TrainingWrong
    """
    params, usual = choice.params(), read_settings().learned
    with Progress(console=err) as progress:
        task = progress.add_task("days", total=params.num_days)
        say = partial(progress.update, task)
        found = search(params, choice.out, usual, day_cost, lambda done: say(completed=done), choice.workers)
    out.print(toml_of(found), highlight=False, markup=False, soft_wrap=True)
    out.print(f"settings: {choice.out / 'learned.toml'}", highlight=False, soft_wrap=True)
