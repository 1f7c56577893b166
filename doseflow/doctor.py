"""`doseflow doctor`: whether this machine can run doseflow, and what to do where it cannot."""

from __future__ import annotations

import importlib.util
import shutil
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from doseflow.bootstrap import forecaster_bundle, open_forecaster, open_policy, policy_bundle
from doseflow.errors import DoseflowError, EnvironmentUnfit
from doseflow.live.machine_needs import require_free_port, require_writable_folder
from doseflow.serve.engine_kinds import ENGINE_KINDS
from doseflow.serve.engine_params import EngineName, EngineParams
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
        *(_engine(name, settings.engines) for name in ENGINE_KINDS),
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
        # Not the engine that answers until the preferred one stands, but that one itself.
        opened = open_it(settings.model_copy(update={"engines": replace(settings.engines, starts_on_cpu=False)}))
    except (DoseflowError, ModuleNotFoundError) as error:
        return Finding(what, folder.name, is_good=False, advice=str(error), is_optional=not is_chosen)
    engine = f"{opened.engine.name} in {opened.precision}"
    found = f"{opened.bundle.manifest.name}, {engine}, golden answers within {opened.golden_difference:.0e}"
    refused = "".join(f"; not {one.name}: {one.why}" for one in opened.refused)
    return Finding(what, found + refused, is_good=True, is_optional=not is_chosen)


def _engine(name: EngineName, params: EngineParams) -> Finding:
    """Whether an engine could run here; which one does, the nets' own findings say."""
    why = ENGINE_KINDS[name].why_not()
    place = f", number {params.order.index(name) + 1} in engines.order" if name in params.order else ""
    found = ("can run here" if why is None else "cannot run here") + place
    return Finding(f"engine {name}", found, why is None, why or "", is_optional=True)


def _chromium() -> Finding:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    return Finding(
        "Chromium (browser tests)",
        path or "none",
        path is not None,
        "only needed for `make test`: install chromium",
        is_optional=True,
    )
