"""
The planners that can be compared, by name: those a city can run, and two that know what no city knows.

`mpc12@learned` is `mpc12` with the forecaster `learned`; without a mark a planner has the forecaster of the settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from doseflow.bootstrap import make_planner
from doseflow.errors import SettingsWrong
from doseflow.evaluate.generator_forecast import GeneratorForecast
from doseflow.evaluate.perfect_forecast import PerfectForecast
from doseflow.pipeline import Planner
from doseflow.policy.mpc.mpc_staffing import mpc_staffing
from doseflow.policy.mpc.params import FluidParams, MpcParams
from doseflow.policy.rules_policy import RulesPolicy
from doseflow.settings import Settings
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.replayed_city import SimulatedCity

REFERENCE = "static"
RULES = "rules"
BOUND = "mpc12_perfect"
INFORMED = "scenario_mpc_informed"
FORECASTER_MARK = "@"
NAIVE = "mpc12@seasonal_naive"
"""The planner of the bound with a plain forecast: where the way that a better forecast can go begins."""

LADDER: tuple[str, ...] = (
    REFERENCE,
    RULES,
    "proportional",
    "max_pressure",
    "c_mu",
    "index",
    "lp",
    "mpc6",
    "mpc12",
    "scenario_mpc",
    "learned",
    INFORMED,
    BOUND,
)
"""From the weakest idea to the one that knows the future."""

_POLICY_OF = {BOUND: "mpc12", INFORMED: "scenario_mpc"}

SOLVER_MILLISECONDS = 1_000.0
"""The repair's time limit in a played day: long enough that a slow machine gives the same table as a fast one."""


SURE = FluidParams(usable_share=1.0, margin_minutes=0.0, move_minutes=400.0)
"""Who knows the arrivals plans without a margin for chance, and may move for less."""


@dataclass(frozen=True)
class DayKnowledge:
    """What a planner that knows more than a city may look at."""

    city: SimulatedCity
    params: SimulationParams
    seed: int


def check_planners(names: Sequence[str], settings: Settings) -> None:
    """
    Refuse names that no planner has.

    Raises
    ------
    SettingsWrong
        The text gives the names that there are.
    """
    for name in names:
        if not _exists(name, settings):
            known = [one for one in LADDER if _exists(one, settings)]
            raise SettingsWrong(
                f"planner: must be one of {', '.join(known)}, or such a planner and a forecaster as in"
                f" {NAIVE}, got {name!r}"
            )


def planner_of(name: str, settings: Settings, known: DayKnowledge) -> Planner:
    """
    The planner of a name, for one day.

    Raises
    ------
    SettingsWrong
    """
    planner = make_planner(_settings_of(name, settings))
    if name == BOUND:
        staffing = mpc_staffing(MpcParams(fluid=SURE))
        policy = RulesPolicy(settings.rules, name=BOUND, staffing=staffing)
        return replace(planner, forecaster=PerfectForecast(known.city), policy=policy)
    if name == INFORMED:
        return replace(planner, forecaster=GeneratorForecast(known.city, known.params, known.seed))
    return planner


def policy_of(name: str) -> str:
    """What plans, without the forecaster that it is named with."""
    policy, _, _ = name.partition(FORECASTER_MARK)
    return _POLICY_OF.get(policy, policy)


def _exists(name: str, settings: Settings) -> bool:
    policy, mark, _ = name.partition(FORECASTER_MARK)
    if mark and policy in _POLICY_OF:  # these have a forecaster of their own
        return False
    try:
        make_planner(_settings_of(name, settings))
    except SettingsWrong:
        return False
    return True


def _settings_of(name: str, settings: Settings) -> Settings:
    feasible = replace(settings.feasible, time_limit_milliseconds=SOLVER_MILLISECONDS)
    _, mark, forecaster = name.partition(FORECASTER_MARK)
    chosen = {"forecaster": forecaster} if mark else {}
    return settings.model_copy(update={"planner": policy_of(name), "feasible": feasible, **chosen})
