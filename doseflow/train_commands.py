"""`doseflow train forecaster|policy`: the nets, trained into bundles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

train = typer.Typer(help="Training of the nets; needs `pip install 'doseflow[train]'`.", no_args_is_help=True)
out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)


@train.command("forecaster")
def train_forecaster(
    folder: Annotated[Path, typer.Option("--out", help="Folder for bundle and checkpoint; the same command goes on.")],
    quick: Annotated[bool, typer.Option("--quick", help="A small net, on a processor, in under five minutes.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=1_000_000)] = 1,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    days: Annotated[int | None, typer.Option(min=1, max=100_000, help="Simulated days to learn from.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, max=1_000_000, help="Steps of the optimiser.")] = None,
    encoder: Annotated[str | None, typer.Option(help="convolution or lstm.")] = None,
    attention_layers: Annotated[int | None, typer.Option(min=0, max=8, help="0: sites do not see each other.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=256, help="Processes that simulate; all cores.")] = None,
    days_file: Annotated[Path | None, typer.Option(help="Keep the days there, and take those that are there.")] = None,
) -> None:
    """Train the arrival forecaster on simulated days and write its bundle."""
    from doseflow.train.command import TrainChoice, print_metrics, train_and_bundle

    choice = TrainChoice(folder, quick, seed, device, days, steps, encoder, attention_layers, workers, days_file)
    try:
        trained = train_and_bundle(choice, err)
    except KeyboardInterrupt:
        err.print("stopped; the same command goes on from its last checkpoint, if there is one yet")
        raise typer.Exit(1) from None
    print_metrics(trained.metrics, out)
    out.print(f"bundle: {folder / 'bundle'} (setting bundles.forecaster)", highlight=False, soft_wrap=True)


_POLICY_DAYS = "Simulated days to learn from; of an evolution, the days that each candidate of a generation plays."


@train.command("policy")
def train_policy(
    folder: Annotated[Path, typer.Option("--out", help="Folder for bundle and checkpoint; the same command goes on.")],
    by: Annotated[str, typer.Option(help="rollout, imitation (of scenario_mpc) or evolution (of what is on top).")] = (
        "rollout"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="A small net, on a processor, in under ten minutes.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=1_000_000)] = 1,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    days: Annotated[int | None, typer.Option(min=1, max=100_000, help=_POLICY_DAYS)] = None,
    passes: Annotated[int | None, typer.Option(min=1, max=1000, help="Times that every site is lived.")] = None,
    steps: Annotated[
        int | None, typer.Option(min=1, max=10_000_000, help="Steps of the optimiser; generations of an evolution.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=256, help="Processes that simulate; all cores.")] = None,
) -> None:
    """Train what people are worth at sites, for the planner `learned`, and write its bundle."""
    from doseflow.evaluate.day_cost import cost_of_learned_day
    from doseflow.train.policy_command import PolicyChoice, print_policy_metrics, teacher_of, train_policy_and_bundle
    from doseflow.train.policy_search_command import SearchChoice, require_search_options, search_and_print

    try:
        if by == "evolution":
            require_search_options(is_quick=quick, device=device, num_passes=passes)
            search_and_print(SearchChoice(folder, seed, days, steps, workers), cost_of_learned_day, out, err)
            raise typer.Exit
        choice = PolicyChoice(folder, quick, seed, device, days, passes, steps, workers, teacher_of(by))
        trained = train_policy_and_bundle(choice, err)
    except KeyboardInterrupt:
        err.print("stopped; the same command goes on from its last checkpoint, if there is one yet")
        raise typer.Exit(1) from None
    print_policy_metrics(trained.metrics, out)
    out.print(f"bundle: {folder / 'bundle'} (setting bundles.policy)", highlight=False, soft_wrap=True)
