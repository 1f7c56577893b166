"""A dashboard as Grafana's file says it, as far as it is drawn here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doseflow.errors import InputWrong

KINDS = ("stat", "timeseries")
COLUMNS = 24
"""Width of Grafana's grid."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and how its series are called: `{{label}}` stands for a label's value."""

    expression: str
    legend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel; `limits` are values with the colours that begin at them, the lowest first."""

    kind: str
    title: str
    about: str
    unit: str
    queries: tuple[Query, ...]
    limits: tuple[tuple[float, str], ...]
    columns: int


@dataclass(frozen=True, slots=True)
class Section:
    """A row of Grafana's: a heading and the panels under it."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A dashboard in its order."""

    uid: str
    title: str
    sections: tuple[Section, ...]


def read_dashboard(path: Path) -> Dashboard:
    """
    Read a dashboard file.

    Raises
    ------
    InputWrong
        The file is no dashboard, or has a panel that is not drawn here.
    """
    try:
        written = json.loads(path.read_bytes())
        return Dashboard(written["uid"], written["title"], _sections(written["panels"]))
    except (ValueError, KeyError, TypeError) as error:
        raise InputWrong(f"{path}: must be a dashboard of Grafana's: {type(error).__name__}: {error}") from error


def _sections(panels: list[dict[str, Any]]) -> tuple[Section, ...]:
    sections: list[Section] = []
    for panel in panels:
        if panel["type"] == "row":
            sections.append(Section(panel["title"], ()))
            continue
        if not sections:
            sections.append(Section("", ()))
        sections[-1] = Section(sections[-1].title, (*sections[-1].panels, _panel(panel)))
    return tuple(sections)


def _panel(panel: dict[str, Any]) -> Panel:
    if panel["type"] not in KINDS:
        raise ValueError(f"panel {panel['title']!r}: its type must be one of {', '.join(KINDS)}, got {panel['type']!r}")
    defaults = panel["fieldConfig"]["defaults"]
    steps = defaults.get("thresholds", {}).get("steps", [])
    return Panel(
        kind=panel["type"],
        title=panel["title"],
        about=panel.get("description", ""),
        unit=defaults.get("unit", "short"),
        queries=tuple(Query(target["expr"], target.get("legendFormat", "")) for target in panel["targets"]),
        limits=tuple((float(step["value"]), step["color"]) for step in steps if step["value"] is not None),
        columns=panel["gridPos"]["w"],
    )
