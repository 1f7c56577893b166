"""`doseflow doctor`: whether this machine can run doseflow, and what to do where it cannot."""

from __future__ import annotations

import importlib.util
import shutil
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from doseflow.bootstrap import forecaster_bundle, open_forecaster, open_policy, policy_bundle
from doseflow.errors import DoseflowError, EnvironmentUnfit
from doseflow.live.machine_needs import require_free_port, require_writable_folder
from doseflow.serve.opened_model import OpenedModel
from doseflow.settings import Settings

MINIMUM_PYTHON = (3, 11)
MINIMUM_SQLITE = (3, 35)
"""The first with `RETURNING`."""
MINIMUM_FREE_GIBIBYTES = 1.0
_LIBRARIES = (
    "numpy",
    "scipy",
    "highspy",
    "pydantic",
    "fastapi",
    "uvicorn",
    "sqlalchemy",
    "alembic",
    "httpx",
    "holidays",
    "onnxruntime",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `advice` says what to do when it is not good."""

    what: str
    found: str
    is_good: bool
    advice: str = ""
    is_optional: bool = False


def examine(port: int, folder: Path, settings: Settings) -> list[Finding]:
    """Look at everything that has to be right."""
    return [
        _python(),
        _sqlite(),
        *map(_library, _LIBRARIES),
        _port(port),
        _folder(folder),
        _disk(folder),
        _net("arrival net", settings.forecaster == "learned", forecaster_bundle(settings), open_forecaster, settings),
        _net("site value net", settings.planner == "learned", policy_bundle(settings), open_policy, settings),
        _chromium(),
    ]


def _python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    return Finding("Python", found, sys.version_info >= MINIMUM_PYTHON, "install Python 3.11 or newer")


def _sqlite() -> Finding:
    return Finding(
        "SQLite",
        sqlite3.sqlite_version,
        sqlite3.sqlite_version_info >= MINIMUM_SQLITE,
        "use a Python built with SQLite 3.35 or newer",
    )


def _library(name: str) -> Finding:
    is_there = importlib.util.find_spec(name) is not None
    return Finding(f"library {name}", "there" if is_there else "missing", is_there, "run `make setup`")


def _port(port: int) -> Finding:
    try:
        require_free_port("127.0.0.1", port)
    except EnvironmentUnfit as error:
        return Finding("port", str(port), is_good=False, advice=str(error))
    return Finding("port", f"{port} is free", is_good=True)


def _folder(folder: Path) -> Finding:
    try:
        require_writable_folder(folder)
    except EnvironmentUnfit as error:
        return Finding("folder", str(folder), is_good=False, advice=str(error))
    return Finding("folder", f"{folder} can be written", is_good=True)


def _disk(folder: Path) -> Finding:
    existing = next(parent for parent in [folder.absolute(), *folder.absolute().parents] if parent.exists())
    free_gibibytes = shutil.disk_usage(existing).free / 2**30
    is_enough = free_gibibytes >= MINIMUM_FREE_GIBIBYTES
    return Finding("free disk", f"{free_gibibytes:.1f} GiB", is_enough, f"free at least {MINIMUM_FREE_GIBIBYTES:g} GiB")


def _net(
    what: str, is_chosen: bool, folder: Path, open_it: Callable[[Settings], OpenedModel], settings: Settings
) -> Finding:
    """Whether a net opens and answers its golden inputs; only needed where the settings choose it."""
    try:
        opened = open_it(settings)
    except (DoseflowError, ModuleNotFoundError) as error:
        return Finding(what, folder.name, is_good=False, advice=str(error), is_optional=not is_chosen)
    found = f"{opened.bundle.manifest.name}, golden answers within {opened.golden_difference:.0e}"
    return Finding(what, found, is_good=True, is_optional=not is_chosen)


def _chromium() -> Finding:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    return Finding(
        "Chromium (browser tests)",
        path or "none",
        path is not None,
        "only needed for `make test`: install chromium",
        is_optional=True,
    )
