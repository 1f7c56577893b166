"""A digest of everything that shapes a played day, so that rows of two versions are never mixed unseen."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from pathlib import Path

import orjson

import doseflow
from doseflow.bootstrap import forecaster_bundle, policy_bundle
from doseflow.serve.manifest import MANIFEST_FILE
from doseflow.settings import Settings
from doseflow.simulate.scenario import Scenario

ROOMS = ("domain", "encoding", "intake", "state", "forecast", "policy", "feasible", "dispatch", "serve", "simulate")
FILES = (
    "pipeline.py",
    "bootstrap.py",
    *(
        f"evaluate/{name}.py"
        for name in (
            "fifo_waits",
            "generator_forecast",
            "measures",
            "order_book",
            "past_weeks",
            "perfect_forecast",
            "planners",
            "played_day",
            "recorder",
        )
    ),
)
_SHAPING_SECTIONS = {"intake", "forecaster", "forecast", "rules", "learned", "feasible"}


def code_digest(settings: Settings) -> str:
    """Digest of the source of the flow, the simulator and the measures, of the planners' settings and nets."""
    package = Path(doseflow.__file__).parent
    paths = [package / name for name in FILES]
    paths += [path for room in ROOMS for path in (package / room).rglob("*.py")]
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(paths):
        digest.update(f"{path.relative_to(package)}\n".encode() + path.read_bytes())
    digest.update(orjson.dumps(settings.model_dump(mode="json", include=_SHAPING_SECTIONS)))
    for folder in (forecaster_bundle(settings), policy_bundle(settings)):
        manifest = folder / MANIFEST_FILE
        if manifest.is_file():
            digest.update(manifest.read_bytes())  # it holds the digest of the net
    return digest.hexdigest()


def scenario_digest(scenario: Scenario) -> str:
    """Digest of what a scenario says."""
    return hashlib.blake2b(orjson.dumps(asdict(scenario), default=str), digest_size=8).hexdigest()
