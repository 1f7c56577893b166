"""`doseflow interfaces`: what the doors would make of some files, and a table sent to a serving city."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from doseflow.interfaces.file_reading import FileReading

if TYPE_CHECKING:
    from doseflow.interfaces.reading_context import ReadingContext

MAX_BYTES = 512 * 2**20
interfaces = typer.Typer(help="Other systems' files, tried offline.", no_args_is_help=True)


@interfaces.callback()
def _group() -> None:
    """Other systems' files, tried offline."""


@interfaces.command("check")
def check_files(
    files: Annotated[list[Path], typer.Argument(help="Files as other systems send them.")],
    city: Annotated[str | None, typer.Option(help="czech, synthetic:N or a city file; that of the settings.")] = None,
) -> None:
    """
    Print for each file what was understood, unknown codes, and what would be kept.

    Exit 1 when something of a file would be refused, 2 when a file cannot be read or is of no known format.
    """
    from zoneinfo import ZoneInfo

    from doseflow.intake.site_places import SitePlaces
    from doseflow.interfaces.reading_context import ReadingContext
    from doseflow.settings import read_settings
    from doseflow.simulate.city_choice import city_from_name

    settings = read_settings()
    there = city_from_name(city or settings.city)
    params = settings.appointments
    places = SitePlaces(there, params.locations, params.nearest_within_metres)
    context = ReadingContext(ZoneInfo(there.timezone), places)
    worst = 0
    for path in files:
        worst = max(worst, _check(path, context))
    if worst:
        raise typer.Exit(worst)


@interfaces.command("upload")
def upload_table(
    path: Annotated[Path, typer.Argument(help="A table of site reports, CSV or XLSX.")],
    url: Annotated[str, typer.Option(help="Where the city serves.")] = "http://127.0.0.1:8080",
    key: Annotated[str | None, typer.Option(help="API key, where callers sign in.")] = None,
) -> None:
    """Send a table to a serving city; exit 1 when a row is refused, 2 when the whole table is or nobody answers."""
    from doseflow.errors import GatewayFailed
    from doseflow.gateways.city_client import CityClient

    try:
        content = path.read_bytes()
        with CityClient(url, key=key) as client:
            answer = client.send_table(content, path.stem)
    except OSError as error:
        typer.echo(f"{path} cannot be read: {error.strerror}", err=True)
        raise typer.Exit(2) from error
    except GatewayFailed as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    typer.echo(f"{answer['taken']} rows are taken")
    for row in answer["refused"]:
        typer.echo(f"refused: {row['detail']}", err=True)
    if answer["refused"]:
        raise typer.Exit(1)


def _check(path: Path, context: ReadingContext) -> int:
    from doseflow.interfaces.readers import read_file

    typer.echo(f"{path}")
    try:
        if path.stat().st_size > MAX_BYTES:
            typer.echo(f"  must be at most {MAX_BYTES} bytes")
            return 2
        content = path.read_bytes()
    except OSError as error:
        typer.echo(f"  cannot be read: {error.strerror}")
        return 2
    reading = read_file(content, context)
    if reading is None:
        typer.echo("  is of no format that is known here")
        return 2
    _print(reading)
    return 1 if reading.problems else 0


def _print(reading: FileReading) -> None:
    typer.echo(f"  format: {reading.format}")
    rows = [("understood", reading.understood), ("would be kept", reading.kept)]
    rows += [("unknown code", [f"{one.system} {one.code} {one.text}".rstrip() for one in reading.unknown_codes])]
    for what, sentences in [*rows, ("would be refused", reading.problems)]:
        for sentence in sentences:
            typer.echo(f"  {what}: {sentence}")
