"""One panel drawn as SVG: lines over time, with the limits that the dashboard names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape

from doseflow.panels.answers import AnsweredPanel, NamedSeries
from doseflow.panels.written_value import written_value

WIDTH, HEIGHT = 620, 190
LEFT, RIGHT, TOP, BOTTOM = 64, 10, 10, 24
COLOURS = ("#12507b", "#e07b00", "#0b8f6f", "#a2338f", "#c43118", "#6a5acd", "#7a8894", "#8a6d00", "#2f9fd0", "#5b7f1f")
"""In turn; told apart by most kinds of colour vision, and named in the legend."""
_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)


def chart(answered: AnsweredPanel, start: float, end: float) -> str:
    """
    The panel's lines from `start` to `end`, seconds since 1970.

    A line is broken nowhere: Prometheus has carried a value on for up to five minutes already.
    """
    ticks = _ticks(_highest_and_lowest(answered))
    low, high = ticks[0], ticks[-1]

    def place(at: float, value: float) -> tuple[float, float]:
        along = (at - start) / (end - start) * (WIDTH - LEFT - RIGHT)
        up = (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM)
        return round(LEFT + along, 1), round(HEIGHT - BOTTOM - up, 1)

    parts = [_grid_line(place(start, tick)[1], written_value(tick, answered.panel.unit)) for tick in ticks]
    parts += [_moment(place(at, low)[0], at) for at in (start + (end - start) * part / 4 for part in range(5))]
    limits = [(place(start, limit)[1], colour) for limit, colour in answered.panel.limits if low <= limit <= high]
    parts += [
        f'<line class="limit" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="{escape(colour)}"/>'
        for y, colour in limits
    ]
    for number, named in enumerate(answered.series):
        points = [
            place(at, value) for at, value in zip(named.series.at_epoch_seconds, named.series.values, strict=True)
        ]
        parts.append(_line(points, COLOURS[number % len(COLOURS)]))
    title = escape(answered.panel.title, quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">{"".join(parts)}</svg>'


def legend(series: Sequence[NamedSeries], unit: str) -> str:
    """The names of the lines with their latest values."""
    rows = (
        f'<li><i data-colour="{number % len(COLOURS)}"></i>{escape(named.name)} '
        f"<b>{escape(written_value(named.series.values[-1], unit))}</b></li>"
        for number, named in enumerate(series)
    )
    return f'<ul class="legend">{"".join(rows)}</ul>'


def _line(points: Sequence[tuple[float, float]], colour: str) -> str:
    if len(points) == 1:
        return f'<circle cx="{points[0][0]}" cy="{points[0][1]}" r="2.5" fill="{colour}"/>'
    written = " ".join(f"{x},{y}" for x, y in points)
    return f'<polyline class="line" points="{written}" stroke="{colour}"/>'


def _grid_line(y: float, text: str) -> str:
    return (
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
        f'<text class="axis" x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{escape(text)}</text>'
    )


def _moment(x: float, at: float) -> str:
    text = f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"
    anchor = "start" if x < LEFT + 1 else "end" if x > WIDTH - RIGHT - 1 else "middle"
    return f'<text class="axis" x="{x}" y="{HEIGHT - 6}" text-anchor="{anchor}">{text}</text>'


def _highest_and_lowest(answered: AnsweredPanel) -> tuple[float, float]:
    values = [value for named in answered.series for value in named.series.values]
    lowest, highest = min(0.0, *values), max(0.0, *values)
    # A limit in sight is drawn; one far above the lines would press them flat.
    near = [limit for limit, _ in answered.panel.limits if highest < limit <= 2.5 * highest]
    return lowest, max([highest, *near])


def _ticks(ends: tuple[float, float]) -> list[float]:
    lowest, highest = ends
    if highest == lowest:
        highest = lowest + 1.0
    span = highest - lowest
    rough = span / 4
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(nice * size for nice in _NICE if nice * size >= rough * 0.999)
    first = math.floor(lowest / step)
    last = max(first + 1, math.ceil(highest / step - 1e-9))
    return _unrounded(step * number for number in range(first, last + 1))


def _unrounded(values: Iterable[float]) -> list[float]:
    return [float(f"{value:.12g}") for value in values]
