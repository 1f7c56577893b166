"""The commands `doseflow audit export` and `doseflow audit verify`."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.console import Console

from doseflow.domain.audit import AuditHead
from doseflow.errors import InputWrong

out = Console(soft_wrap=True)
audit = typer.Typer(help="The audit log: who did what, and whether all of it is still there.", no_args_is_help=True)

_HEAD = re.compile(r"(\d{1,18}):([0-9a-f]{64})")


@audit.command()
def export(
    path: Annotated[Path | None, typer.Option("--out", help="File for the lines; else they are printed.")] = None,
    after: Annotated[int, typer.Option(min=0, help="Only entries after this number.")] = 0,
) -> None:
    """Write the log as lines of JSON, each with its digests."""
    from doseflow.settings import read_settings
    from doseflow.store.engine import open_store

    store = open_store(read_settings().store.url, must_exist=True)
    try:
        with _writer(path) as write:
            for line in store.audit.lines(after):
                write(line + b"\n")
        head = store.audit.head()
    finally:
        store.close()
    if path is not None:
        out.print(f"wrote {path}; head {head}")


@audit.command()
def verify(
    path: Annotated[Path | None, typer.Argument(help="An export; else the database of the settings.")] = None,
    heads: Annotated[
        list[str] | None,
        typer.Option("--head", help="A head kept elsewhere, NUMBER:DIGEST; entries up to it must be there."),
    ] = None,
) -> None:
    """Check the chain; at the first broken entry it says which and exits 1."""
    from doseflow.store.audit_lines import check_lines

    wanted = [_head_of(text) for text in heads or ()]
    if path is not None:
        with _opened(path) as file:
            end, wrong = check_lines(file, wanted)
    else:
        end, wrong = _verify_store(wanted)
    if wrong:
        out.print(f"broken: {wrong}")
        raise typer.Exit(1)
    out.print(f"whole: {end.entry_no} entries; head {end}")


def _verify_store(wanted: list[AuditHead]) -> tuple[AuditHead, str]:
    from doseflow.settings import read_settings
    from doseflow.store.audit_lines import check_lines
    from doseflow.store.engine import open_store

    store = open_store(read_settings().store.url, must_exist=True)
    try:
        return check_lines(store.audit.lines(), [*wanted, *store.audit.heads()])
    finally:
        store.close()


def _head_of(text: str) -> AuditHead:
    found = _HEAD.fullmatch(text)
    if found is None:
        raise InputWrong(f"--head: must be NUMBER:DIGEST with 64 hexadecimal digits, got {text!r}")
    return AuditHead(int(found[1]), found[2])


@contextmanager
def _writer(path: Path | None) -> Iterator[Callable[[bytes], object]]:
    if path is None:
        yield sys.stdout.buffer.write
        return
    try:
        with path.open("wb") as file:
            yield file.write
    except OSError as error:
        raise InputWrong(f"--out: {path} cannot be written: {error.strerror}") from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise InputWrong(f"path: {path} cannot be read: {error.strerror}") from error
