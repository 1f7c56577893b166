"""A PostgreSQL server of the machine's own packages, started for the tests and thrown away after them."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class NoPostgres(Exception):
    """Why there is no server to test on."""


@contextmanager
def postgres_server() -> Iterator[str]:
    """The URL of an empty server; raises NoPostgres where the machine has none."""
    if importlib.util.find_spec("psycopg") is None:
        raise NoPostgres("the package psycopg is not installed")
    pg_ctl = _find_pg_ctl()
    user = _unprivileged_user()
    folder = Path(tempfile.mkdtemp(prefix="doseflow-pg-"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        data = folder / "data"
        _run([pg_ctl.with_name("initdb"), "-D", data, "-A", "trust", "-U", "tester", "--no-sync", "-E", "UTF8"], user)
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        _run([pg_ctl, "-D", data, "-w", "-o", options, "-l", folder / "log", "start"], user)
        try:
            yield f"postgresql+psycopg://tester@/postgres?host={folder}"
        finally:
            _run([pg_ctl, "-D", data, "-m", "immediate", "stop"], user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _find_pg_ctl() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    on_path = shutil.which("pg_ctl")
    if not found and on_path is None:
        raise NoPostgres("no pg_ctl in /usr/lib/postgresql or on PATH")
    return found[-1] if found else Path(str(on_path))


def _unprivileged_user() -> str | None:
    """PostgreSQL refuses to run as root; its own account then runs it."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        raise NoPostgres("the tests run as root, and there is no account postgres to run a server") from None


def _run(command: list[object], user: str | None) -> None:
    words = [str(part) for part in command]
    done = subprocess.run(
        words, user=user, group=user, capture_output=True, text=True, cwd="/", timeout=60, check=False
    )
    if done.returncode != 0:
        raise NoPostgres(f"{command[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
