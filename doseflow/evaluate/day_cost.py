"""What a day costs people under `learned` with some decision layer: the judge of a search for a better one."""

from __future__ import annotations

from doseflow.errors import TrainingWrong
from doseflow.evaluate.run import Run, play
from doseflow.policy.learned_policy import LearnedParams
from doseflow.settings import read_settings
from doseflow.simulate.scenario import Scenario

PLANNER = "learned"
LOST_PERSON_MINUTES = 60.0
"""What a person lost counts beside the mean wait, as in the labels of the net: by waits alone losing people pays."""


def cost_of_learned_day(params: LearnedParams, scenario: Scenario, seed: int) -> float:
    """
    Minutes that the day cost each person: their wait, and for those lost what the labels of the net count.

    Raises
    ------
    TrainingWrong
        The day could not be played.
    """
    settings = read_settings().model_copy(update={"learned": params})
    row = play(Run(PLANNER, scenario, seed), settings, "")
    if "failed" in row:
        raise TrainingWrong(f"--by evolution: a day could not be played: {row['failed']}")
    measures = row["measures"]
    return float(measures["mean_wait_minutes"] + LOST_PERSON_MINUTES * measures["people_lost_share"])
