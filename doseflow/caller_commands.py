"""`doseflow users` and `doseflow keys`: who may come in. Every change is told to the audit log."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from doseflow.domain.audit import AuditEntry
from doseflow.domain.caller import CallerRole
from doseflow.errors import InputWrong

if TYPE_CHECKING:
    # Where they are used: every other command starts without the libraries behind them.
    from doseflow.access.grant import Grant
    from doseflow.access.user_file import UserFile
    from doseflow.store.engine import Store

users = typer.Typer(help="Local users, who sign in by a password.", no_args_is_help=True)
keys = typer.Typer(help="Keys, by which machines come in.", no_args_is_help=True)
out = Console(soft_wrap=True)

Name = Annotated[str, typer.Argument(help="How the audit log calls them.")]
Role = Annotated[list[CallerRole], typer.Option("--role", help="What they are; repeat it.")]
Site = Annotated[list[str] | None, typer.Option("--site", help="A site they answer for; repeat it. All when left out.")]
By = Annotated[str, typer.Option(help="Who does it; stands in the audit log.")]
FromInput = Annotated[bool, typer.Option("--from-input", help="Read the password from standard input, a line.")]
AT_COMMAND_LINE = "command line"


@users.command("add")
def add_user(
    name: Name, role: Role, site: Site = None, from_input: FromInput = False, by: By = AT_COMMAND_LINE
) -> None:
    """Add a local user; asks for the password."""
    from doseflow.access.user_file import LocalUser

    grant = _grant(role, site)
    user = LocalUser(name, _new_hash(from_input=from_input), grant)
    with _store() as store:
        _user_file().add(user)
        store.audit.append(_entry(by, "user.add", name, grant))
    out.print(f"{name} may sign in as {', '.join(role)}", highlight=False, markup=False)


@users.command("password")
def change_password(name: Name, from_input: FromInput = False, by: By = AT_COMMAND_LINE) -> None:
    """Give a user a new password; whoever is signed in by that name is signed out."""
    with _store() as store:
        _user_file().change_password(name, _new_hash(from_input=from_input))
        store.audit.append(_entry(by, "user.change_password", name))
        _sign_out(store, name)


@users.command("remove")
def remove_user(name: Name, by: By = AT_COMMAND_LINE) -> None:
    """Take a user out, who is signed out at once."""
    with _store() as store:
        _user_file().remove(name)
        store.audit.append(_entry(by, "user.remove", name))
        _sign_out(store, name)


@users.command("sign-out")
def sign_out_user(name: Name, by: By = AT_COMMAND_LINE) -> None:
    """End every session of a person, also of one who came from an identity provider."""
    with _store() as store:
        store.audit.append(_entry(by, "user.sign_out", name))
        _sign_out(store, name)


@users.command("list")
def list_users() -> None:
    """Print the local users."""
    table = Table("name", "roles", "sites")
    for user in _user_file().users():
        table.add_row(user.name, ", ".join(user.grant.roles), _sites(user.grant.site_ids))
    out.print(table)


@keys.command("make")
def make_key(
    name: Name,
    role: Role = [CallerRole.MACHINE],  # noqa: B006 - typer reads it, nobody changes it
    site: Site = None,
    days: Annotated[int, typer.Option(min=1, max=3650, help="How long it holds.")] = 365,
    by: By = AT_COMMAND_LINE,
) -> None:
    """Make a key and print it: it is shown this once and kept as a digest only."""
    from doseflow.access.secret_text import new_key
    from doseflow.domain.sign_ins import ApiKey

    grant, now = _grant(role, site), datetime.now(UTC)
    text, prefix, digest = new_key()
    key = ApiKey(prefix, digest, grant.caller(name, is_machine=True), now, now + timedelta(days=days))
    with _store() as store:
        store.keys.add(key, _entry(by, "key.make", prefix, grant, name=name, days=days))
    out.print(text, highlight=False, markup=False)


@keys.command("list")
def list_keys() -> None:
    """Print every key by its prefix, those too that hold no more."""
    # The prefix whole, however narrow the terminal: it is what `revoke` asks for.
    table = Table(Column("prefix", no_wrap=True), "name", "roles", "sites", "made", "holds until", "revoked")
    with _store() as store:
        for key in store.keys.all_keys():
            roles, sites = ", ".join(sorted(key.caller.roles)), _sites(key.caller.site_ids)
            days = [f"{at:%Y-%m-%d}" if at else "" for at in (key.made_at, key.ends_at, key.revoked_at)]
            table.add_row(key.prefix, key.caller.name, roles, sites, *days)
    out.print(table)


@keys.command("revoke")
def revoke_key(prefix: Annotated[str, typer.Argument(help="Its prefix.")], by: By = AT_COMMAND_LINE) -> None:
    """From now on a key opens nothing."""
    with _store() as store:
        store.keys.revoke(prefix, datetime.now(UTC), _entry(by, "key.revoke", prefix))


@contextmanager
def _store() -> Iterator[Store]:
    from doseflow.settings import read_settings
    from doseflow.store.engine import open_store

    store = open_store(read_settings().store.url)
    try:
        yield store
    finally:
        store.close()


def _user_file() -> UserFile:
    from pathlib import Path

    from doseflow.access.user_file import UserFile
    from doseflow.settings import read_settings

    return UserFile(Path(read_settings().sign_in.user_file))


def _new_hash(*, from_input: bool) -> str:
    from doseflow.access.password import hash_password, require_good_password

    if from_input:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        password = typer.prompt("password", hide_input=True, confirmation_prompt=True)
    require_good_password(password)
    return hash_password(password)


def _grant(roles: list[CallerRole], sites: list[str] | None) -> Grant:
    from doseflow.access.grant import Grant

    if not roles:
        raise InputWrong("--role: must be given at least once")
    return Grant(tuple(sorted(set(roles))), tuple(sorted(set(sites))) if sites else None)


def _entry(by: str, action: str, subject: str, grant: Grant | None = None, **details: str | int) -> AuditEntry:
    granted = {} if grant is None else {"roles": list(grant.roles), "site_ids": grant.site_ids and list(grant.site_ids)}
    return AuditEntry(datetime.now(UTC), by, action, subject, details={**granted, **details})


def _sign_out(store: Store, name: str) -> None:
    ended = store.sessions.end_all_of(name)
    out.print(f"{ended} sessions of {name} ended", highlight=False, markup=False)


def _sites(site_ids: frozenset[str] | tuple[str, ...] | None) -> str:
    return "all" if site_ids is None else ", ".join(sorted(site_ids))
