"""The plots of the report as SVG: dots with their intervals, and the queue of a day. Needs `doseflow[evaluate]`."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from doseflow.bench.figures import Figure
from doseflow.evaluate.report_words import BOUNDS, LANGUAGES, MEASURE_WORDS, Words, family_words, planner_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

INK, MUTED, ACCENT, BOUND_INK = "#1f2933", "#7b8794", "#0b6e99", "#a06a00"
CURVE_INKS = ("#7b8794", "#0b6e99", "#c2410c", "#15803d", "#7c3aed", "#a06a00", "#be185d", "#0f766e")
ROW_INCHES = 0.3
MAX_CURVES = 6

Plot = Words
"""An SVG in English and one in Chinese."""


def dot_plot(name: str, figures: Mapping[str, Figure]) -> Plot:
    """One measure: a dot and its interval for each planner, the first on top."""
    return Words(*(_dot_plot(name, figures, language) for language in LANGUAGES))


def family_plot(name: str, figures: Sequence[Figure], planners: Sequence[str]) -> Plot:
    """One measure by family of days: a row a family, a dot a planner."""
    return Words(*(_family_plot(name, figures, planners, language) for language in LANGUAGES))


def day_plot(queues: Mapping[str, Sequence[int]], starts_at_minute: int) -> Plot:
    """People in the queues of the whole city over one day, a curve a planner."""
    return Words(*(_day_plot(queues, starts_at_minute, language) for language in LANGUAGES))


def _dot_plot(name: str, figures: Mapping[str, Figure], language: str) -> str:
    words = MEASURE_WORDS[name]
    drawing, axes = _drawing(len(figures))
    for row, (planner, figure) in enumerate(figures.items()):
        ink = BOUND_INK if planner in BOUNDS else ACCENT
        value = figure.value * words.factor
        if figure.ci95 is not None:
            axes.plot([end * words.factor for end in figure.ci95], [row, row], color=ink, linewidth=2, alpha=0.5)
        axes.plot([value], [row], "o", color=ink, markersize=6)
        axes.annotate(format(value, words.form), (value, row), (0, 5), textcoords="offset points", ha="center", size=8)
    axes.set_yticks(range(len(figures)), [getattr(planner_words(one), language) for one in figures])
    axes.set_ylim(len(figures) - 0.5, -0.8)
    axes.margins(x=0.1)
    axes.set_xlim(left=0)
    return _svg(drawing, f"{name}-{language}")


def _family_plot(name: str, figures: Sequence[Figure], planners: Sequence[str], language: str) -> str:
    words = MEASURE_WORDS[name]
    of_name = [one for one in figures if one.name == name and one.params["planner"] in planners]
    families = list(dict.fromkeys(one.params["family"] for one in of_name))
    drawing, axes = _drawing(2 * len(families))
    for planner, ink in zip(planners, CURVE_INKS, strict=False):
        points = {one.params["family"]: one.value * words.factor for one in of_name if one.params["planner"] == planner}
        label = getattr(planner_words(planner), language)
        axes.plot(
            list(points.values()), [families.index(one) for one in points], "o", color=ink, label=label, alpha=0.85
        )
    axes.set_yticks(range(len(families)), [getattr(family_words(one), language) for one in families])
    axes.set_ylim(len(families) - 0.5, -0.5)
    axes.margins(x=0.1)
    axes.set_xlim(left=0)
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.12), ncols=3, frameon=False, fontsize=8)
    return _svg(drawing, f"families-{language}")


def _day_plot(queues: Mapping[str, Sequence[int]], starts_at_minute: int, language: str) -> str:
    drawing, axes = _drawing(9)
    for (planner, queue), ink in zip(queues.items(), CURVE_INKS, strict=False):
        hours = [(starts_at_minute + 5 * period) / 60 for period in range(len(queue))]
        axes.plot(hours, queue, color=ink, label=getattr(planner_words(planner), language), linewidth=1.6)
    axes.set_ylim(bottom=0)
    axes.set_xticks(range(int(starts_at_minute / 60) + 1, 24, 2))
    axes.set_xticklabels([f"{int(hour)}:00" for hour in axes.get_xticks()])
    axes.autoscale(axis="x", tight=True)
    axes.grid(axis="y", color="#e4e7eb")
    axes.legend(frameon=False, fontsize=8)
    return _svg(drawing, f"day-{language}")


def _drawing(rows: int) -> tuple[Drawing, Any]:
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(7.2, 0.9 + ROW_INCHES * rows))
    axes = drawing.subplots()
    axes.grid(axis="x", color="#e4e7eb")
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=INK, labelsize=9)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(MUTED)
    return drawing, axes


def _svg(drawing: Drawing, salt: str) -> str:
    """The drawing as an element to stand in a page: text as text, nothing that points outside the page."""
    import matplotlib as mpl

    written = io.StringIO()
    # The page's fonts draw the text, so that a missing glyph here means nothing.
    with warnings.catch_warnings(), mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        warnings.filterwarnings("ignore", message="Glyph")
        drawing.savefig(written, format="svg", bbox_inches="tight", transparent=True, metadata={"Date": None})
    svg = written.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    # Several drawings stand in one page: what they name inside must not clash.
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{salt}-", svg)
    return re.sub(
        r'(<svg [^>]*?)width="[^"]*"', r"\1", re.sub(r'(<svg [^>]*?)height="[^"]*"', r"\1", svg, count=1), count=1
    )
