"""
The days that nets learn from: the training families, spread over cities, sizes, habits and faults.

Held-out families, the real city and the packaged city seeds are never among them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from doseflow.simulate.scenario import WEEKDAYS, FaultShares, Scenario
from doseflow.simulate.scenario_file import packaged_scenarios

FIRST_CITY_SEED = 10_000
"""City seeds of packaged scenarios are far below."""
SMALLEST_CITY, LARGEST_CITY = 30, 64


def training_scenario(seed: int) -> Scenario:
    """The scenario of a seed: a family, and around it a city, habits and faults of its own."""
    rng = np.random.default_rng([seed, 71])
    families = packaged_scenarios("training")
    family = families[int(rng.integers(len(families)))]
    missing_share = float(rng.choice([0.01, 0.05, 0.15, 0.3, 0.45]))
    faults = FaultShares(
        late_share=float(rng.uniform(0, 0.05)),
        missing_share=missing_share,
        repeated_share=0.005,
        wrong_share=0.003,
        untold_share=float(rng.choice([0.02, 0.1, 0.4])),
    )
    habits = {
        "no_show_share": float(rng.uniform(0.0, 0.15)),
        "early_mean_minutes": float(rng.uniform(0.0, 25.0)),
        "early_sd_minutes": float(rng.uniform(4.0, 20.0)),
        "walk_in_share": float(rng.choice([0.02, 0.08, 0.15, 0.3, 0.4])),
        "same_day_booking_share": float(rng.uniform(0.0, 0.3)),
    }
    return replace(
        family,
        name=f"training_{seed}",
        city=f"synthetic:{int(rng.integers(SMALLEST_CITY, LARGEST_CITY + 1))}",
        city_seed=FIRST_CITY_SEED + seed,
        days=(str(rng.choice(WEEKDAYS[:6])),),
        load_scale=float(rng.uniform(0.5, 1.3)),
        params={**family.params, **habits},
        report_faults=faults,
    )
