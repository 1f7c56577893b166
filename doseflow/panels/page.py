"""The page: every dashboard with its panels, in one file that loads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from doseflow.panels.answers import AnsweredPanel, AnsweredSection
from doseflow.panels.chart import COLOURS, chart, legend
from doseflow.panels.dashboard import COLUMNS, Dashboard
from doseflow.panels.written_value import written_value

_COLOUR_RULES = "\n".join(
    f'.legend i[data-colour="{number}"] {{ background: {colour}; }}' for number, colour in enumerate(COLOURS)
)
_STYLE = f"""
:root {{ color-scheme: light; font-family: Inter, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif; }}
body {{ margin: 0; padding: 18px 22px 40px; background: #eef1f4; color: #16212c; font-size: 13px; }}
h1 {{ font-size: 19px; margin: 18px 0 2px; }}
h2 {{ font-size: 14px; margin: 16px 0 8px; color: #5a6875; }}
p.of {{ margin: 0 0 4px; color: #5a6875; }}
.grid-of-panels {{ display: grid; grid-template-columns: repeat({COLUMNS}, 1fr); gap: 10px; }}
.panel {{ background: #fff; border: 1px solid #dde3e9; border-radius: 8px; padding: 9px 11px; min-width: 0; }}
.panel h3 {{ font-size: 13px; margin: 0; }}
.panel p.about {{ margin: 1px 0 6px; color: #5a6875; font-size: 11.5px; }}
.panel svg {{ width: 100%; height: auto; display: block; }}
.line {{ fill: none; stroke-width: 1.8; stroke-linejoin: round; }}
.limit {{ stroke-dasharray: 5 4; stroke-width: 1.2; }}
.grid {{ stroke: #e4e9ee; }}
.axis {{ font-size: 10.5px; fill: #5a6875; }}
.legend {{ list-style: none; margin: 4px 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: 2px 14px; }}
.legend i {{ display: inline-block; width: 10px; height: 3px; margin-right: 5px; vertical-align: middle; }}
.stat strong {{ display: block; font-size: 25px; font-weight: 600; margin-top: 4px; }}
.none {{ color: #7a8894; font-style: italic; padding: 18px 0; }}
{_COLOUR_RULES}
"""


def dashboards_page(
    answered: Sequence[tuple[Dashboard, Sequence[AnsweredSection]]], start: float, end: float, source: str
) -> str:
    """The page as HTML; `source` says where the figures come from."""
    moments = " to ".join(f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}" for at in (start, end))
    body = "".join(
        f'<div data-dashboard="{escape(dashboard.uid, quote=True)}"><h1>{escape(dashboard.title)}</h1>'
        f'<p class="of">{escape(source)}, {moments} UTC</p>'
        + "".join(_section(section, start, end) for section in sections)
        + "</div>"
        for dashboard, sections in answered
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>doseflow: dashboards</title>'
        f"<style>{_STYLE}</style></head><body>{body}</body></html>\n"
    )


def _section(section: AnsweredSection, start: float, end: float) -> str:
    panels = "".join(_panel(each, start, end) for each in section.panels)
    return f'<h2>{escape(section.title)}</h2><div class="grid-of-panels">{panels}</div>'


def _panel(answered: AnsweredPanel, start: float, end: float) -> str:
    panel = answered.panel
    state = "full" if answered.series else "empty"
    if not answered.series:
        inside = '<p class="none">no series</p>'
    elif panel.kind == "stat":
        inside = _stat(answered)
    else:
        inside = chart(answered, start, end) + legend(answered.series, panel.unit)
    return (
        f'<div class="panel {panel.kind}" data-panel="{escape(panel.title, quote=True)}" data-state="{state}" '
        f'style="grid-column: span {panel.columns}"><h3>{escape(panel.title)}</h3>'
        f'<p class="about">{escape(panel.about)}</p>{inside}</div>'
    )


def _stat(answered: AnsweredPanel) -> str:
    value = answered.series[0].series.values[-1]
    reached = [colour for limit, colour in answered.panel.limits if value >= limit]
    style = f' style="color: {escape(reached[-1])}"' if reached else ""
    return f"<strong{style}>{escape(written_value(value, answered.panel.unit))}</strong>"
