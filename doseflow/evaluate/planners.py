"""
The planners that can be compared, by name: those a city can run, and two that know what no city knows.

`mpc12@learned` is `mpc12` with the forecaster `learned`; without a mark a planner has the forecaster of the settings.
`learned-moves` is `learned` less its staff moves, and so with every other `Lever`; several may be taken off.
`learned=FOLDER` is `learned` as `doseflow train policy --out FOLDER` has made it, net or decision layer or both.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from doseflow.bootstrap import make_planner
from doseflow.errors import SettingsWrong
from doseflow.evaluate.generator_forecast import GeneratorForecast
from doseflow.evaluate.perfect_forecast import PerfectForecast
from doseflow.pipeline import Planner
from doseflow.policy.learned_policy import LearnedParams
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
TRAINED_MARK = "="
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

TRAINED = "learned"
LAYER_FILE = "learned.toml"
_LAYER = TypeAdapter(LearnedParams)
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
                f"planner: must be one of {', '.join(known)}, one less a lever as in rules{LESS_MARK}{Lever.MOVES},"
                f" {TRAINED}{TRAINED_MARK}FOLDER of a training, or such a planner and a forecaster as in"
                f" {NAIVE}, got {name!r}"
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
    policy, _, _, _ = _parts_of(name)
    return _POLICY_OF.get(policy, policy)


def levers_off(name: str) -> tuple[Lever, ...]:
    """
    Levers that a name takes off its planner.

    Raises
    ------
    SettingsWrong
    """
    _, levers, _, _ = _parts_of(name)
    try:
        return tuple(Lever(lever) for lever in levers)
    except ValueError as error:
        raise SettingsWrong(f"planner: after {LESS_MARK} must come one of {', '.join(Lever)}, got {name!r}") from error


def _exists(name: str, settings: Settings) -> bool:
    policy, levers, _, trained = _parts_of(name)
    if policy in _POLICY_OF and name != policy:  # these are references as they are
        return False
    if (levers and policy == REFERENCE) or (
        trained is not None and policy != TRAINED
    ):  # it pulls none; it has learned nothing
        return False
    try:
        make_planner(_settings_of(name, settings))
    except SettingsWrong:
        return False
    return True


def _settings_of(name: str, settings: Settings) -> Settings:
    feasible = replace(settings.feasible, time_limit_milliseconds=SOLVER_MILLISECONDS)
    _, _, forecaster, trained = _parts_of(name)
    chosen: dict[str, Any] = {} if forecaster is None else {"forecaster": forecaster}
    if levers_off(name):
        chosen["rules"] = replace(settings.rules, without=(*settings.rules.without, *levers_off(name)))
    if trained is not None:
        chosen |= _trained_in(Path(trained), settings)
    return settings.model_copy(update={"planner": policy_of(name), "feasible": feasible, **chosen})


def _parts_of(name: str) -> tuple[str, list[str], str | None, str | None]:
    """Policy, levers off, forecaster and folder of a training, None where none is named."""
    rest, trained_mark, trained = name.partition(TRAINED_MARK)
    rest, forecaster_mark, forecaster = rest.partition(FORECASTER_MARK)
    policy, *levers = rest.split(LESS_MARK)
    return policy, levers, forecaster if forecaster_mark else None, trained if trained_mark else None


def _trained_in(folder: Path, settings: Settings) -> dict[str, Any]:
    """Settings that take what a training has left in its folder."""
    bundle, layer = folder / "bundle", folder / LAYER_FILE
    found: dict[str, Any] = {}
    if bundle.is_dir():
        found["bundles"] = settings.bundles.model_copy(update={"policy": str(bundle)})
    if layer.is_file():
        try:
            found["learned"] = _LAYER.validate_python(tomllib.loads(layer.read_text(encoding="utf-8"))["learned"])
        except (OSError, ValueError, KeyError) as error:
            raise SettingsWrong(f"planner: {layer} cannot be read as a decision layer: {error}") from error
    if not found:
        raise SettingsWrong(f"planner: {folder} must hold a bundle or {LAYER_FILE} of `doseflow train policy`")
    return found
