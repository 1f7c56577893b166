"""Hand-made days and small scenarios, for the tests of evaluate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from doseflow.evaluate.measures import MEASURES, PlanningRecord
from doseflow.evaluate.recorder import SUMS, DayRecord
from doseflow.simulate.scenario import Scenario

SCENARIO_TOML = """
name = "{name}"
family = "{family}"
text = "A small city on an ordinary day."
city = "synthetic:6"
days = ["monday", "tuesday"]
offered_load_share = 0.9

[window]
starts_at = 07:30:00
ends_at = {ends_at}
"""

SMALL = Scenario(
    name="small",
    family="small",
    text="A small city on an ordinary day.",
    city="synthetic:6",
    days=("monday", "tuesday"),
    offered_load_share=0.9,
)


def scenario_file(folder: Path, name: str = "small", family: str = "small", ends_at: str = "08:10:00") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(SCENARIO_TOML.format(name=name, family=family, ends_at=ends_at))
    return path


def quiet_day(num_minutes: int = 10, num_sites: int = 2) -> DayRecord:
    """A day on which nobody comes."""
    curve = np.zeros((num_minutes + 1, num_sites, 3), dtype=np.int64)
    return DayRecord(
        joined_people=curve,
        gone_people=curve,
        started_people=curve,
        queued_people=curve[0],
        in_service_people=curve[0],
        busy_minutes=curve.astype(float),
        staffed_minutes=curve.astype(float),
        added={name: np.zeros(num_sites) for name in SUMS},
        waited_minutes=np.zeros((num_sites, 3)),
        used_litres_share=np.array([0.5]),
        excursion_lot_minutes=0.0,
        rostered_people=0,
        missed_breaks=0.0,
    )


def with_added(day: DayRecord, **sums: list[float]) -> DayRecord:
    """The day with other sums."""
    return replace(day, added=day.added | {name: np.array(value, dtype=float) for name, value in sums.items()})


NO_PLANNING = PlanningRecord(np.zeros(0), 0, 0, 0)


def row(planner: str, seed: int, scenario: str = "small", family: str = "small", **measures: float) -> dict:
    """A row of results."""
    return {
        "planner": planner,
        "scenario": scenario,
        "family": family,
        "seed": seed,
        "version": "0",
        "code_digest": "code",
        "scenario_digest": "scenario",
        "measures": dict.fromkeys(MEASURES, 1.0) | measures,
        "starts_at_minute": 450,
        "queue_by_period": [0, 3, 5],
        "cycles": 2,
        "seconds": 0.1,
    }
