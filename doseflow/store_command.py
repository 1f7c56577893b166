"""`doseflow store`: what is in the database, a backup of it and back, and letting go of what is old."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

if TYPE_CHECKING:
    from doseflow.store.backup import CopiedTable

store = typer.Typer(help="The database: backup, restore, what it holds.", no_args_is_help=True)
out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)

StoreUrl = Annotated[str | None, typer.Option("--store", help="Database; that of the settings when left out.")]


@store.command()
def backup(
    out_path: Annotated[Path, typer.Option("--out", help="The backup: a SQLite file, which must not be there yet.")],
    url: StoreUrl = None,
) -> None:
    """Write all of the database as it stands at this moment into one file, also while it serves."""
    from doseflow.store.backup import back_up

    with Progress(console=err, transient=True) as progress:
        copied = back_up(_chosen(url), out_path, _Telling(progress).tell)
    num_rows = sum(one.num_rows for one in copied)
    out.print(f"{num_rows} rows of {len(copied)} tables, {out_path.stat().st_size / 1e6:.1f} MB, are in {out_path}")


@store.command()
def restore(
    path: Annotated[Path, typer.Argument(help="A backup.")],
    to: Annotated[str, typer.Option(help="An empty database: sqlite:///FILE or postgresql+psycopg://...")],
) -> None:
    """Bring a backup into an empty database, of either kind: all of it, or nothing."""
    from doseflow.store.backup import restore as bring_back

    with Progress(console=err, transient=True) as progress:
        copied = bring_back(path, to, _Telling(progress).tell)
    out.print(f"{sum(one.num_rows for one in copied)} rows of {len(copied)} tables are restored")


@store.command()
def sizes(url: StoreUrl = None) -> None:
    """Rows of each table, and the days they speak of."""
    from doseflow.store.sizes import table_sizes

    table = Table("table", "rows", "from", "to")
    for one in table_sizes(_chosen(url)):
        table.add_row(one.name, f"{one.num_rows:,}", one.first, one.last)
    out.print(table)


@store.command()
def forget(url: StoreUrl = None) -> None:
    """Let go now of what the settings no longer keep, as a serving city does every hour."""
    from datetime import UTC, datetime

    from doseflow.settings import read_settings
    from doseflow.store.engine import open_store

    keep = read_settings().store.keep
    opened = open_store(_chosen(url), must_exist=True)
    try:
        gone = opened.retention.forget(datetime.now(UTC), keep)
    finally:
        opened.close()
    out.print(
        f"let go of {gone.reports} reports, the inputs of {gone.cycle_inputs} cycles, "
        f"{gone.quarantine} refused reports, {gone.orders} orders and {gone.cycles} cycles"
    )


class _Telling:
    """Tells which table was copied."""

    def __init__(self, progress: Progress) -> None:
        from doseflow.store.tables import metadata

        self._progress = progress
        self._task: TaskID = progress.add_task("copying", total=len(metadata.sorted_tables))

    def tell(self, copied: CopiedTable) -> None:
        """One more table is there."""
        self._progress.update(self._task, advance=1, description=copied.name)


def _chosen(url: str | None) -> str:
    from doseflow.settings import read_settings

    return url or read_settings().store.url
