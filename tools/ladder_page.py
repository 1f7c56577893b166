"""
Writes the table of docs/background/ladder.md from a results file of figures: ladder_page.py FIGURES.json [PAGE.md]

    doseflow evaluate --suite heldout --seeds 30 --json figures.json && python tools/ladder_page.py figures.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

MARK = "<!-- the table: tools/ladder_page.py -->"
COLUMNS = (
    ("mean_wait_minutes", "mean wait, min", 1.0, "{:.1f}"),
    ("p95_wait_minutes", "p95 wait, min", 1.0, "{:.0f}"),
    ("people_lost_share", "lost, %", 100.0, "{:.1f}"),
    ("busy_block_share", "busy blocks, %", 100.0, "{:.1f}"),
    ("dose_utilisation_share", "doses used, %", 100.0, "{:.2f}"),
    ("cold_volume_utilisation_share", "cold volume, %", 100.0, "{:.1f}"),
    ("worst_site_wait_minutes", "worst site, min", 1.0, "{:.0f}"),
    ("wait_reduction_share", "wait against static, %", 100.0, "{:.1f}"),
    ("busy_block_reduction_share", "busy against static, %", 100.0, "{:.1f}"),
    ("gap_closed_share", "gap closed, %", 100.0, "{:.0f}"),
    ("decision_p50_milliseconds", "decision, ms", 1.0, "{:.0f}"),
)


def main() -> None:
    figures = json.loads(Path(sys.argv[1]).read_text())["figures"]
    page = Path(sys.argv[2] if len(sys.argv) > 2 else "docs/background/ladder.md")
    cells = {(f["params"]["family"], f["params"]["planner"], f["name"]): f for f in figures if "planner" in f["params"]}
    families = list(dict.fromkeys(family for family, _, _ in cells))
    planners = list(dict.fromkeys(planner for _, planner, _ in cells))
    runs = max(f["n"] for (family, _, _), f in cells.items() if family == "all")
    lines = [MARK, "", f"All families together, n = {runs} days a planner:", "", *_table(cells, "all", planners)]
    lines += [
        "",
        "Mean wait by family, minutes:",
        "",
        *_by_family(cells, [f for f in families if f != "all"], planners),
    ]
    text = page.read_text()
    page.write_text(text.split(MARK)[0].rstrip() + "\n\n" + "\n".join(lines) + "\n")


def _table(cells: dict[tuple[str, str, str], Any], family: str, planners: list[str]) -> list[str]:
    head = ["planner", *(title for _, title, _, _ in COLUMNS)]
    rows = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for planner in planners:
        row = [_cell(cells.get((family, planner, name)), scale, form) for name, _, scale, form in COLUMNS]
        rows.append(f"| `{planner}` | {' | '.join(row)} |")
    return rows


def _by_family(cells: dict[tuple[str, str, str], Any], families: list[str], planners: list[str]) -> list[str]:
    rows = [f"| planner | {' | '.join(families)} |", f"|{'---|' * (len(families) + 1)}"]
    for planner in planners:
        row = [_cell(cells.get((family, planner, "mean_wait_minutes")), 1.0, "{:.1f}") for family in families]
        rows.append(f"| `{planner}` | {' | '.join(row)} |")
    return rows


def _cell(figure: dict[str, Any] | None, scale: float, form: str) -> str:
    if figure is None or figure["value"] is None:
        return "-"
    value = form.format(figure["value"] * scale)
    if not figure["ci95"]:
        return value
    low, high = (form.format(bound * scale) for bound in figure["ci95"])
    return f"{value} ({low} to {high})"


if __name__ == "__main__":
    main()
