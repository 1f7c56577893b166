"""Small days to learn from, and a run small enough for a test."""

from __future__ import annotations

from dataclasses import replace
from datetime import time

from doseflow.simulate.scenario import FaultShares, Scenario, Window
from doseflow.train.forecaster import ForecasterParams
from doseflow.train.training_scenarios import training_scenario

TINY = ForecasterParams(
    num_days=2,
    num_validation_days=1,
    num_steps=6,
    days_per_step=2,
    cycles_per_day=3,
    checkpoint_steps=2,
    width=16,
    attention_layers=1,
)
NO_FAULTS = FaultShares(late_share=0, missing_share=0, repeated_share=0, wrong_share=0, untold_share=0)


def small_scenario(seed: int, *, hours: tuple[int, int] = (9, 11), **given) -> Scenario:
    """A training scenario of six sites, as it is before anything goes wrong, over some hours of the morning."""
    window = Window(starts_at=time(hours[0]), ends_at=time(hours[1]))
    scenario = replace(training_scenario(seed), city="synthetic:6", window=window, incidents=(), days=("tuesday",))
    return replace(scenario, **given)


def silent(_what: str, _done: int, _total: int) -> None:
    """Progress that nobody looks at."""
