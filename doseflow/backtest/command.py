"""`doseflow backtest`: the nightly look back."""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer


def look_back(
    day: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Local day; yesterday when left out.")
    ] = None,
    reference_days: Annotated[int, typer.Option(min=3, max=60, help="Days before it to compare with.")] = 7,
    store: Annotated[str | None, typer.Option(help="Store, for example sqlite:///var/doseflow.sqlite.")] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="Also write it there, as JSON.")] = None,
) -> None:
    """
    Plan yesterday's kept cycles again and compare with what came.

    Exit 1 where training anew is recommended, or where that cannot be judged.
    """
    from rich.console import Console
    from rich.table import Table

    from doseflow.backtest.nightly import back_test
    from doseflow.bench.figures import Figure, write_figures
    from doseflow.settings import read_settings

    out, err = Console(soft_wrap=True), Console(stderr=True, soft_wrap=True)
    settings = read_settings()
    with err.status("back-test ...") as status:
        found = back_test(
            settings,
            store or settings.store.url,
            None if day is None else day.date(),
            reference_days,
            lambda each: status.update(f"back-test of {each} ..."),
        )
    table = Table(
        "what", "share of alarm", "evidence", title=f"{found.day.day_on} against {len(found.reference)} days before"
    )
    for each in found.view.evidence:
        colour = "red" if each.speaks else "green" if each.is_judged else "yellow"
        share = f"{each.share:.2f}" if each.is_judged else "unknown"
        table.add_row(str(each.kind), f"[{colour}]{share}[/{colour}]", each.sentence)
    out.print(table)
    gain = found.gain_over_plain_share
    below = f"{100 * gain:.0f} % below" if math.isfinite(gain) else "not to be compared with"
    out.print(
        f"{found.day.num_cycles} cycles planned again by {found.planner} on {found.forecaster}; "
        f"loss {below} that of the seasonal naive forecast"
    )
    out.print(found.view.recommendation)
    if json_path is not None:
        write_figures(json_path, [Figure(**figure) for figure in found.figures()])
    if found.view.is_training_recommended or not found.view.is_judged:
        raise typer.Exit(1)
