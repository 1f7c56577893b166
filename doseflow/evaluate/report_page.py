"""The report: one page for a health official, complete in itself, in two languages. Needs `doseflow[evaluate]`."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from doseflow import __version__
from doseflow.bench.figures import Figure, this_machine
from doseflow.errors import EnvironmentUnfit
from doseflow.evaluate.command import Evaluation
from doseflow.evaluate.comparison import ALL_FAMILIES, seed_ranges
from doseflow.evaluate.planners import BOUND, REFERENCE, RULES
from doseflow.evaluate.report_headline import headline, unsure_words
from doseflow.evaluate.report_plots import MAX_CURVES, day_plot, dot_plot, family_plot
from doseflow.evaluate.report_words import MEASURE_WORDS, PLOTTED, family_words, planner_words
from doseflow.evaluate.run import Row

TEMPLATE = Path(__file__).parent / "report.html.j2"
SHOWN_FIRST = (REFERENCE, RULES, "index", "mpc12", "scenario_mpc", "learned", BOUND)
"""Planners of the plots that have room for a few only."""


@dataclass(frozen=True)
class Cell:
    """A value of the table with its interval, ready to be read."""

    value: str
    interval: str


def require_report_libraries() -> None:
    """
    Check that the libraries of the report are there, before hours of runs.

    Raises
    ------
    EnvironmentUnfit
    """
    missing = [name for name in ("matplotlib", "jinja2") if importlib.util.find_spec(name) is None]
    if missing:
        raise EnvironmentUnfit(f"--report needs {' and '.join(missing)}: pip install 'doseflow[evaluate]'")


def write_report(path: Path, outcome: Evaluation) -> None:
    """Write the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(report_html(outcome), encoding="utf-8")


def report_html(outcome: Evaluation) -> str:
    """The page."""
    from jinja2 import Environment, StrictUndefined

    comparison, figures = outcome.comparison, outcome.comparison.figures()
    planners = comparison.planners
    few = tuple(one for one in SHOWN_FIRST if one in planners)[:MAX_CURVES] or planners[:MAX_CURVES]
    of_all = {(one.params["planner"], one.name): one for one in figures if one.params["family"] == ALL_FAMILIES}
    has_days = bool(comparison.families)
    day = _typical_day(outcome.rows, few) if has_days else None
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return page.from_string(TEMPLATE.read_text(encoding="utf-8")).render(
        headline=headline(of_all, planners),
        unsure=unsure_words() if comparison.is_unsure else None,
        params=comparison.params,
        plots=[(MEASURE_WORDS[name], _plot(name, of_all, planners)) for name in PLOTTED] if has_days else [],
        family_plot=family_plot("mean_wait_minutes", figures, few) if has_days else None,
        day=day,
        day_plot=day_plot({row["planner"]: row["queue_by_period"] for row in day}, day[0]["starts_at_minute"])
        if day
        else None,
        measures=MEASURE_WORDS,
        table=[(planner_words(one), one, _cells(of_all, one)) for one in planners],
        scenarios=[(family_words(one.family), one) for one in outcome.scenarios],
        seeds=seed_ranges(outcome.seeds),
        num_days=comparison.families[-1].num_days if has_days else 0,
        failed=outcome.failed,
        version=__version__,
        machine=this_machine(),
    )


def _plot(name: str, of_all: dict[tuple[str, str], Figure], planners: Sequence[str]) -> object:
    return dot_plot(name, {planner: of_all[planner, name] for planner in planners})


def _cells(of_all: dict[tuple[str, str], Figure], planner: str) -> list[Cell]:
    return [_cell(of_all.get((planner, name)), words.factor, words.form) for name, words in MEASURE_WORDS.items()]


def _cell(figure: Figure | None, factor: float, form: str) -> Cell:
    if figure is None or np.isnan(figure.value):
        return Cell("–", "")
    interval = "" if figure.ci95 is None else "–".join(format(end * factor, form) for end in figure.ci95)
    return Cell(format(figure.value * factor, form), interval)


def _typical_day(rows: Sequence[Row], planners: Sequence[str]) -> list[Row] | None:
    """The day, played by all of these, whose wait under the first of them is nearest to the median."""
    by_day: dict[tuple[str, int], dict[str, Row]] = {}
    for row in rows:
        if "failed" not in row:
            by_day.setdefault((row["scenario"], row["seed"]), {})[row["planner"]] = row
    whole = [[of_day[one] for one in planners] for of_day in by_day.values() if set(planners) <= set(of_day)]
    if not whole:
        return None
    waits = np.array([of_day[0]["measures"]["mean_wait_minutes"] for of_day in whole])
    return whole[int(np.argmin(np.abs(waits - np.median(waits))))]
