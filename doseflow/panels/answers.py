"""What Prometheus answers to a dashboard's panels."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from doseflow.gateways.prometheus import Series
from doseflow.panels.dashboard import Dashboard, Panel, Query

Ask = Callable[[str], list[Series]]
_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True, slots=True)
class NamedSeries:
    """A series under the name of its query's legend."""

    name: str
    series: Series


@dataclass(frozen=True, slots=True)
class AnsweredPanel:
    """A panel with its series; none where nothing was ever told of what it asks for."""

    panel: Panel
    series: tuple[NamedSeries, ...]


@dataclass(frozen=True, slots=True)
class AnsweredSection:
    """A section with its answered panels."""

    title: str
    panels: tuple[AnsweredPanel, ...]


def answer_dashboard(dashboard: Dashboard, ask: Ask) -> tuple[AnsweredSection, ...]:
    """
    Ask for every panel of a dashboard.

    Raises
    ------
    InputWrong, EnvironmentUnfit
    """
    return tuple(
        AnsweredSection(section.title, tuple(_answered(panel, ask) for panel in section.panels))
        for section in dashboard.sections
    )


def empty_panels(sections: Sequence[AnsweredSection]) -> list[str]:
    """Titles of the panels without any series."""
    return [each.panel.title for section in sections for each in section.panels if not each.series]


def _answered(panel: Panel, ask: Ask) -> AnsweredPanel:
    series = [NamedSeries(_name(query, each.labels), each) for query in panel.queries for each in ask(query.expression)]
    return AnsweredPanel(panel, tuple(sorted(series, key=lambda each: each.name)))


def _name(query: Query, labels: Mapping[str, str]) -> str:
    if not query.legend:
        return ", ".join(f"{name}={value}" for name, value in sorted(labels.items())) or query.expression
    return _PLACE.sub(lambda found: labels.get(found.group(1), ""), query.legend).strip()
