"""`doseflow orders`: what could not be told, and the keys of Web Push. Exit code 1 where something is to be seen to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from doseflow.store.engine import Store

orders = typer.Typer(help="Orders out: dead letters, and the keys of Web Push.", no_args_is_help=True)
out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)
EntryId = Annotated[int, typer.Argument(help="Number of the letter, as `doseflow orders dead` prints it.")]
By = Annotated[str, typer.Option(help="Who does it; stands in the audit log.")]
Why = Annotated[str, typer.Option(help="Why; stands in the audit log.")]


@orders.command()
def dead() -> None:
    """List what could not be told and is tried no more, with the reason; exit 1 when there is any."""
    with _store() as store:
        letters = store.outbox.dead_letters()
    table = Table("entry", "gateway", "what", "order", "site", "attempts", "since", "reason")
    for one in letters:
        order = one.order
        cells = (one.gateway, one.topic, order.order_id, order.site_id, str(one.attempts), f"{one.dead_at:%F %T}")
        table.add_row(str(one.entry_id), *cells, one.reason)
    out.print(table)
    if letters:
        raise typer.Exit(1)


@orders.command()
def resend(entry_id: EntryId, by: By = "command line", why: Why = "") -> None:
    """Try a dead letter again; a service that runs on this store tells it within seconds."""
    with _store() as store:
        letter = store.outbox.resend(entry_id, datetime.now(UTC), by=by, reason=why)
    out.print(f"{letter.order.order_id} waits for {letter.gateway} again", markup=False, highlight=False)


@orders.command()
def dismiss(entry_id: EntryId, by: By = "command line", why: Why = "") -> None:
    """Take a dead letter off the list: it was seen to otherwise."""
    with _store() as store:
        letter = store.outbox.dismiss(entry_id, datetime.now(UTC), by=by, reason=why)
    out.print(f"{letter.order.order_id} is off the list", markup=False, highlight=False)


@orders.command("push-keys")
def push_keys() -> None:
    """Make a key for Web Push: the private one for gateways.push.private_key, and its public one."""
    from doseflow.gateways.web_push import make_push_keys

    private, public = make_push_keys()
    err.print("keep the private key where only doseflow reads it; with another one every browser must subscribe anew")
    out.print(f"private_key = {private}", markup=False, highlight=False)
    out.print(f"public_key = {public}", markup=False, highlight=False)


@contextmanager
def _store() -> Iterator[Store]:
    from doseflow.settings import read_settings
    from doseflow.store.engine import open_store

    store = open_store(read_settings().store.url, must_exist=True)
    try:
        yield store
    finally:
        store.close()
