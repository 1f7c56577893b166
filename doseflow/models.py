"""`doseflow models`: what is in the model store, and the steps of a release. Exit code 1 where the answer is no."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.table import Table

from doseflow.errors import (
    DoseflowError,
    EngineFailed,
    InputWrong,
    ModelNotFound,
    ModelWrong,
    ReleaseRefused,
    SettingsWrong,
)

if TYPE_CHECKING:
    # Where they are used: every other command starts without the libraries behind them.
    from doseflow.serve.aliases import Aliases
    from doseflow.serve.model_store import ModelStore
    from doseflow.serve.release_orders import Opens, ReleaseOrder
    from doseflow.settings import Settings

models = typer.Typer(help="Models: what is kept, and the steps of a release.", no_args_is_help=True)
MOST_LETTERS = {"by": 100, "why": 1000}
out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)

Net = Annotated[str, typer.Argument(help="forecaster or policy.")]
By = Annotated[str, typer.Option(help="Who orders it; stands in the history.")]
Why = Annotated[str, typer.Option(help="Why; stands in the history.")]
JsonPath = Annotated[Path | None, typer.Option("--json", help="Also write it there, as JSON.")]


@models.command("list")
def list_models(json_path: JsonPath = None) -> None:
    """Print who is champion, challenger and previous of each net, and every model that is kept."""
    from doseflow.serve.model_store import NETS

    store = _store()
    aliases = {net: store.aliases(net) for net in NETS}
    for net, one in aliases.items():
        out.print(f"{net}: {_standing_words(one)}", highlight=False)
    rows = [_model_row(store, digest) for digest in store.digests()]
    table = Table("model", "name", "for", "signed by", "trouble")
    for row in rows:
        shown = (row["digest"][:12], row["name"], row["net"], row["signer"], row["trouble"])
        table.add_row(*(str(cell or "") for cell in shown))
    out.print(table)
    _write(json_path, {"nets": {net: asdict(one) for net, one in aliases.items()}, "models": rows})


@models.command()
def add(bundle: Annotated[Path, typer.Argument(help="Folder of a bundle.")]) -> None:
    """Keep a bundle under the digest of its manifest."""
    model = _store().add(bundle)
    out.print(f"{model.digest} {model.manifest.name}", highlight=False)


@models.command()
def verify(
    model: Annotated[str | None, typer.Argument(help="First digits of a model; all when left out.")] = None,
    json_path: JsonPath = None,
) -> None:
    """
    Check the files and the signature of models, those too that an alias names; exit 1 when one is not as it should be.
    """
    store = _store()
    troubles = _alias_troubles(store) if model is None else {}
    digests = store.digests() if model is None else [_found(store, model)]
    rows = [_model_row(store, digest) for digest in digests]
    for row in rows:
        out.print(f"{row['digest'][:12]} {row['trouble'] or 'good'}", markup=False, highlight=False)
    for net, trouble in troubles.items():
        out.print(f"{net} {trouble}", markup=False, highlight=False)
    _write(json_path, {"models": rows, "aliases": troubles})
    if troubles or any(row["trouble"] for row in rows):
        raise typer.Exit(1)


@models.command()
def canary(
    net: Net,
    model: Annotated[str, typer.Argument(help="First digits of the model.")],
    share: Annotated[float, typer.Option(help="Per cent that it answers at once; 0 begins in shadow.")] = 0.0,
    by: By = "command line",
    why: Why = "",
) -> None:
    """Let a model in as the challenger of a net."""
    from doseflow.serve.release_orders import let_in
    from doseflow.serve.release_share import permille_of

    store, order, permille = _store(), _order(net, by, why), permille_of(share)
    digest = _found(store, model)
    with _no_is_one():
        _say(order, let_in(store, order, digest, permille, _opens(store, net)))


@models.command()
def promote(
    net: Net,
    force: Annotated[bool, typer.Option("--force", help="Though it has not passed every gate.")] = False,
    by: By = "command line",
    why: Why = "",
) -> None:
    """Make the challenger champion; exit 1 when it has not passed every gate, or cannot answer."""
    from doseflow.serve.release_orders import promote_challenger

    store, order = _store(), _order(net, by, why)
    with _no_is_one():
        _say(order, promote_challenger(store, order, _opens(store, net), force=force))


@models.command()
def rollback(net: Net, by: By = "command line", why: Why = "") -> None:
    """Drop the challenger; where there is none, go back to the previous champion."""
    from doseflow.serve.release_orders import take_back

    store, order = _store(), _order(net, by, why)
    with _no_is_one():
        _say(order, take_back(store, order, _opens(store, net)))


@models.command()
def history(
    net: Annotated[str | None, typer.Argument(help="One net only.")] = None, json_path: JsonPath = None
) -> None:
    """Print what happened to the aliases, the oldest first; exit 1 when the history was torn or changed."""
    from doseflow.serve.release_history import trail_of

    trail = trail_of(_store().folder)
    events = trail.events if net is None else trail.of_net(net)
    for one in events:
        told = f"{one['at']}  {one['net']}  {one['event']}  by {one['by']}  {one['why']}"
        out.print(told.rstrip(), markup=False, highlight=False)
    _write(json_path, {"events": events, "damage": trail.damage})
    for damage in trail.damage:
        err.print(damage, markup=False, highlight=False)
    if trail.damage:
        raise typer.Exit(1)


@models.command()
def keygen(
    owner: Annotated[str, typer.Argument(help="Whose key it is: letters, digits and . _ @ -")],
    folder: Annotated[Path, typer.Option(help="Where the private key goes.")] = Path(),
) -> None:
    """Make a key to sign models with, and print its line for the trust file."""
    from doseflow.serve.signatures import make_key

    path, line = make_key(folder, owner)
    err.print(f"the private key is in {path}; keep it where models are made, and never on a machine that serves")
    out.print(line, markup=False, highlight=False)


@models.command("sign")
def sign_bundle(
    bundle: Annotated[Path, typer.Argument(help="Folder of a bundle.")],
    key: Annotated[Path, typer.Option(help="The private key, in PEM.")],
) -> None:
    """Sign a bundle."""
    from doseflow.serve.manifest import MANIFEST_FILE
    from doseflow.serve.signatures import SIGNATURE_FILE, sign

    (bundle / SIGNATURE_FILE).write_bytes(sign((bundle / MANIFEST_FILE).read_bytes(), key.read_bytes()))
    out.print(f"signed: {bundle / SIGNATURE_FILE}", markup=False, highlight=False)


def _settings() -> Settings:
    from doseflow.settings import read_settings

    return read_settings()


def _store() -> ModelStore:
    from doseflow.nets import open_model_store

    store = open_model_store(_settings())
    if store is None:
        raise SettingsWrong("models.folder: must be set, for example DOSEFLOW_MODELS__FOLDER=var/models")
    return store


def _order(net: str, by: str, why: str) -> ReleaseOrder:
    from doseflow.serve.release_orders import ReleaseOrder

    for name, text in (("by", by), ("why", why)):
        if not text.isprintable() or len(text) > MOST_LETTERS[name]:
            raise InputWrong(f"--{name}: must be at most {MOST_LETTERS[name]} printable letters of UTF-8, got {text!r}")
    return ReleaseOrder(net, by, why, datetime.now(UTC))


def _found(store: ModelStore, model: str) -> str:
    """A model that a person names wrongly is wrong input, and no answer to a question."""
    try:
        return store.find(model)
    except ModelNotFound as error:
        raise InputWrong(str(error)) from None


def _opens(store: ModelStore, net: str) -> Opens:
    from doseflow.nets import open_stored

    settings = _settings()

    def opens(digest: str) -> None:
        open_stored(settings, store, net, digest)

    return opens


@contextmanager
def _no_is_one() -> Iterator[None]:
    """A step that is refused, or a model that cannot answer, is an answer: no."""
    try:
        yield
    except (ReleaseRefused, ModelWrong, EngineFailed) as error:
        err.print(str(error), markup=False, highlight=False)
        raise typer.Exit(1) from None


def _say(order: ReleaseOrder, aliases: Aliases) -> None:
    out.print(f"{order.net}: {_standing_words(aliases)}", markup=False, highlight=False)


def _standing_words(aliases: Aliases) -> str:
    words = [f"champion {aliases.champion[:12]}"]
    if aliases.challenger is not None:
        share = f" at {aliases.share_permille / 10:g} %" if aliases.share_permille else ""
        words.append(f"challenger {aliases.challenger[:12]} in {aliases.phase}{share}")
    if aliases.previous is not None:
        words.append(f"previous {aliases.previous[:12]}")
    return ", ".join(words)


def _model_row(store: ModelStore, digest: str) -> dict[str, Any]:
    from doseflow.nets import NET_TO_KIND

    row: dict[str, Any] = {"digest": digest, "name": None, "net": None, "signer": None, "metrics": {}, "trouble": ""}
    try:
        model = store.verify(digest)
    except DoseflowError as error:
        return row | {"trouble": str(error)}
    manifest = model.manifest
    fits = [net for net, kind in NET_TO_KIND.items() if kind.feature_schema_version == manifest.feature_schema_version]
    told = {"name": manifest.name, "net": next(iter(fits), None), "signer": model.signer, "metrics": manifest.metrics}
    return row | told


def _alias_troubles(store: ModelStore) -> dict[str, str]:
    from doseflow.serve.model_store import NETS

    troubles = {}
    for net in NETS:
        try:
            store.aliases(net)
        except ModelWrong as error:
            troubles[net] = str(error)
    return troubles


def _write(path: Path | None, document: dict[str, Any]) -> None:
    if path is not None:
        path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))
