"""
The planners that can be compared, by name: those a city can run, and two that know what no city knows.

`mpc12@learned` is `mpc12` with the forecaster `learned`; without a mark a planner has the forecaster of the settings.
`learned-moves` is `learned` less its staff moves, and so with every other `Lever`; several may be taken off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from doseflow.bootstrap import make_planner
from doseflow.errors import SettingsWrong
from doseflow.evaluate.generator_forecast import GeneratorForecast
from doseflow.evaluate.perfect_forecast import PerfectForecast
from doseflow.pipeline import Planner
from doseflow.policy.levers import Lever
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
LESS_MARK = "-"
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
                f" {NAIVE}, or less a lever as in rules{LESS_MARK}{Lever.MOVES}, got {name!r}"
            )


def planner_of(name: str, settings: Settings, known: DayKnowledge) -> Planner:
    """
    The planner of a name, for one day.

    Raises
    ------
    SettingsWrong
    """
    settings = _settings_of(name, settings)
    planner = make_planner(settings)
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
    policy, *_ = policy.split(LESS_MARK)
    return _POLICY_OF.get(policy, policy)


def levers_off(name: str) -> tuple[Lever, ...]:
    """
    Levers that a name takes off its planner.

    Raises
    ------
    SettingsWrong
    """
    policy, _, _ = name.partition(FORECASTER_MARK)
    _, *levers = policy.split(LESS_MARK)
    try:
        return tuple(Lever(lever) for lever in levers)
    except ValueError as error:
        raise SettingsWrong(f"planner: after {LESS_MARK} must come one of {', '.join(Lever)}, got {name!r}") from error


def _exists(name: str, settings: Settings) -> bool:
    policy, _, _ = name.partition(FORECASTER_MARK)
    if policy.split(LESS_MARK)[0] in _POLICY_OF and name not in _POLICY_OF:  # these are references as they are
        return False
    if levers_off(name) and policy_of(name) == REFERENCE:  # it pulls none
        return False
    try:
        make_planner(_settings_of(name, settings))
    except SettingsWrong:
        return False
    return True


def _settings_of(name: str, settings: Settings) -> Settings:
    feasible = replace(settings.feasible, time_limit_milliseconds=SOLVER_MILLISECONDS)
    _, mark, forecaster = name.partition(FORECASTER_MARK)
    chosen: dict[str, Any] = {"forecaster": forecaster} if mark else {}
    if levers_off(name):
        chosen["rules"] = replace(settings.rules, without=(*settings.rules.without, *levers_off(name)))
    return settings.model_copy(update={"planner": policy_of(name), "feasible": feasible, **chosen})
