"""
Gathers what `doseflow evaluate --json` and `doseflow bench cycle --json` said of `learned` into one file:

    python tools/learned_policy_results.py heldout=figures.json levers=levers.json > docs/results/learned-policy.json

Every part keeps its command, its machine and the figures that speak of `learned`, of its variants, or of sizes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

NAMES = (
    "mean_wait_minutes",
    "p95_wait_minutes",
    "people_lost_share",
    "busy_block_share",
    "worst_site_wait_minutes",
    "worst_district_wait_minutes",
    "dose_utilisation_share",
    "cold_volume_utilisation_share",
    "decision_p50_milliseconds",
    "referee_violations",
    "fallbacks",
)
COMPARED = (
    "_difference_minutes",
    "_difference_share",
    "_reduction_share",
    "_closed_share",
    "_of_bound",
    "_exponent",
    "_milliseconds",
)


def main() -> None:
    parts = dict(argument.split("=", 1) for argument in sys.argv[1:])
    gathered = {part: _part(json.loads(Path(path).read_text())) for part, path in parts.items()}
    json.dump(gathered, sys.stdout, indent=1)
    sys.stdout.write("\n")


def _part(document: dict[str, Any]) -> dict[str, Any]:
    command = ["doseflow", *document["command"][1:]]
    kept = [figure for figure in document["figures"] if _speaks_of_it(figure)]
    return {"command": " ".join(command), "machine": document["machine"], "figures": kept}


def _speaks_of_it(figure: dict[str, Any]) -> bool:
    is_its = figure["params"].get("planner", "").startswith("learned")
    return is_its and (figure["name"] in NAMES or figure["name"].endswith(COMPARED))


if __name__ == "__main__":
    main()
