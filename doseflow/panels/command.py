"""`doseflow dashboards`: the dashboards drawn without Grafana."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

NUM_STEPS = 240


def draw_dashboards(
    out: Annotated[Path, typer.Option(help="The page is written there, as HTML.")],
    prometheus: Annotated[str, typer.Option(help="Address of the Prometheus.")] = "http://127.0.0.1:9090",
    folder: Annotated[Path, typer.Option(help="Folder of dashboard files.")] = Path("deploy/grafana/dashboards"),
    minutes: Annotated[float, typer.Option(min=0.1, max=527_040, help="How far back.")] = 360.0,
) -> None:
    """Draw the Grafana dashboards on one page from what a Prometheus has kept; exit 1 when no panel has a series."""
    from doseflow.errors import InputWrong
    from doseflow.gateways.prometheus import Prometheus
    from doseflow.panels.answers import answer_dashboard, empty_panels
    from doseflow.panels.dashboard import read_dashboard
    from doseflow.panels.page import dashboards_page

    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise InputWrong(f"--folder: there is no dashboard in {folder}")
    end = time.time()
    start = end - 60 * minutes
    with Prometheus(prometheus) as kept:
        answered = [
            (
                dashboard,
                answer_dashboard(dashboard, lambda expr: kept.range(expr, start, end, (end - start) / NUM_STEPS)),
            )
            for dashboard in map(read_dashboard, paths)
        ]
    out.write_text(dashboards_page(answered, start, end, prometheus), encoding="utf-8")
    num_panels = sum(len(section.panels) for _, sections in answered for section in sections)
    empty = [title for _, sections in answered for title in empty_panels(sections)]
    typer.echo(f"{num_panels - len(empty)} of {num_panels} panels have series: {out}")
    if empty:
        typer.echo(f"none: {', '.join(empty)}")
    if len(empty) == num_panels:
        raise typer.Exit(1)
