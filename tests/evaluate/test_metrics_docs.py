"""The page of metrics names every figure that an evaluation gives."""

from __future__ import annotations

import re
from pathlib import Path

from evaluate_samples import row

from doseflow.evaluate.comparison import ALL_FAMILIES, compare
from doseflow.evaluate.measures import MEASURES
from doseflow.evaluate.planners import LADDER
from doseflow.evaluate.report_words import FAMILY_WORDS, MEASURE_WORDS, PLANNER_WORDS
from doseflow.simulate.scenario_file import packaged_scenarios

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"


def test_every_figure_stands_in_the_tables_and_nothing_else():
    planners = ("static", "rules", "mpc12@seasonal_naive", "mpc12_perfect")
    rows = [row(planner, seed) for planner in planners for seed in (1, 2)]
    given = {figure.name for figure in compare(rows, planners).figures()}
    cells = [
        line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `") and "--" not in line
    ]
    assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == given
    assert given >= set(MEASURES)


def test_the_report_has_words_for_what_it_shows():
    assert set(PLANNER_WORDS) >= set(LADDER)
    assert set(MEASURE_WORDS) <= set(MEASURES) | {"gap_closed_share"}
    assert set(FAMILY_WORDS) == {one.family for one in packaged_scenarios()} | {ALL_FAMILIES}
