"""
The decision layer of `learned` searched by an evolution strategy on played training days: `--by evolution`.

The net stays as it is. Searched are the numbers on top of it: how much the gains of each role count, what a move must
save, and the price from which walk-ins are sent on. Held-out families and the packaged training cities are not played.
Who plays a day is not known here: this room trains, and a day is played in `evaluate`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.errors import TrainingWrong
from doseflow.policy.arrival_prices import PriceParams
from doseflow.policy.learned_policy import LearnedParams
from doseflow.policy.site_values import ValueWeights
from doseflow.simulate.scenario import Scenario
from doseflow.train.by_processes import by_processes
from doseflow.train.evolution import Evolution
from doseflow.train.training_scenarios import training_scenario

FIRST_DAY_SEED = 700_000
"""Days of the search; no net has learned from them or was judged by them."""
SEARCHED = (
    "weights.registrar",
    "weights.screener",
    "weights.vaccinator",
    "weights.observer",
    "least_gain_minutes",
    "walk_ins.crowded_above_minutes",
    "walk_ins.least_gain_minutes",
)
"""Each is searched by the logarithm of its ratio to what the settings say."""
_CHECKPOINT = "evolution.json"

Say = Callable[[int], None]
"""Told how many days have been played."""
DayCost = Callable[[LearnedParams, Scenario, int], float]
"""What the day of a scenario and a seed costs under a decision layer; less is better."""


@dataclass(frozen=True)
class SearchParams:
    """How long and how widely is searched."""

    seed: int = 1
    num_generations: int = 5
    num_pairs: int = 4
    days_per_generation: int = 3
    spread: float = 0.3
    """Of the logarithm of each number; 0.3 is about a third more or less."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("num_generations", 1, 1000),
            ("num_pairs", 1, 100),
            ("days_per_generation", 1, 1000),
            ("spread", 0.001, 1),
        ):
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {getattr(self, name)}")

    @property
    def num_days(self) -> int:
        """Days that are played in all."""
        return self.num_generations * 2 * self.num_pairs * self.days_per_generation

    def day_seeds(self, generation: int) -> range:
        """Seeds of the days of a generation; no two generations share one."""
        first = FIRST_DAY_SEED + (self.seed * 1000 + generation) * self.days_per_generation
        return range(first, first + self.days_per_generation)


def search(
    params: SearchParams, folder: Path, usual: LearnedParams, day_cost: DayCost, say: Say, workers: int | None
) -> LearnedParams:
    """
    Search, or go on where `folder` has a checkpoint of the same search; every generation is kept there.

    Raises
    ------
    TrainingWrong
        The folder holds another search or cannot be written.
    """
    evolution, history = _kept(params, folder)
    done = iter(range(evolution.generation * params.num_days // params.num_generations + 1, params.num_days + 1))
    while evolution.generation < params.num_generations:
        candidates = evolution.candidates(params.num_pairs, params.seed)
        seeds = params.day_seeds(evolution.generation)
        layers = [params_at(usual, one) for one in candidates]
        costs = costs_of(layers, seeds, day_cost, workers, lambda: say(next(done)))
        evolution = evolution.told(candidates, costs)
        history = [*history, {"costs": costs.tolist(), "mean": evolution.mean.tolist()}]
        _keep(params, folder, evolution, history, usual)
    return params_at(usual, evolution.mean)


def costs_of(
    layers: Sequence[LearnedParams], seeds: range, day_cost: DayCost, workers: int | None, on_day: Callable[[], None]
) -> FloatArray:
    """Mean cost of each decision layer over the same days, (2 n,), each day over its mean of all layers."""
    orders = [_DayOrder(day_cost, one, seed) for seed in seeds for one in layers]
    costs = np.array(by_processes(_cost_of, orders, workers, on_day)).reshape(len(seeds), len(layers))
    # A busy day has more to tell in minutes than a calm one has; neither is to outweigh the other.
    ratio: FloatArray = (costs / costs.mean(axis=1, keepdims=True)).mean(axis=0)
    return ratio


def params_at(usual: LearnedParams, point: FloatArray) -> LearnedParams:
    """
    The decision layer at a point of the search: each number times the exponential of its coordinate.

    A number stays within what settings may say, and a move's gain above what keeps one that was sent.
    """
    factor = dict(zip(SEARCHED, np.exp(point), strict=True))

    def times(name: str, value: float) -> float:
        low, high = bounds[name.partition(".")[0]]
        return float(np.clip(value * factor[name], low, high))

    bounds = {
        "weights": (0.1, 10.0),
        "least_gain_minutes": (np.nextafter(usual.kept_gain_minutes, np.inf), 10_000.0),
        "walk_ins": (0.0, 1000.0),
    }

    weights, walk_ins = usual.weights, usual.walk_ins
    return replace(
        usual,
        least_gain_minutes=times("least_gain_minutes", usual.least_gain_minutes),
        weights=ValueWeights(**{role: times(f"weights.{role}", value) for role, value in asdict(weights).items()}),
        walk_ins=PriceParams(**{name: times(f"walk_ins.{name}", value) for name, value in asdict(walk_ins).items()}),
    )


def toml_of(params: LearnedParams) -> str:
    """The decision layer as a section of doseflow.toml."""
    plain = asdict(params)
    sections = {"learned": {name: value for name, value in plain.items() if not isinstance(value, dict)}}
    sections |= {f"learned.{name}": value for name, value in plain.items() if isinstance(value, dict)}
    lines = [
        line
        for section, values in sections.items()
        for line in (f"[{section}]", *(f"{name} = {value!r}" for name, value in values.items()), "")
    ]
    return "\n".join(lines)


class _DayOrder(NamedTuple):
    day_cost: DayCost
    layer: LearnedParams
    seed: int


def _cost_of(order: _DayOrder) -> float:
    return order.day_cost(order.layer, training_scenario(order.seed), order.seed)


def _keep(
    params: SearchParams, folder: Path, evolution: Evolution, history: list[dict[str, Any]], usual: LearnedParams
) -> None:
    state = {
        "search": asdict(params),
        "searched": list(SEARCHED),
        "mean": evolution.mean.tolist(),
        "spread": evolution.spread,
        "generation": evolution.generation,
        "generations": history,
    }
    part = folder / f"{_CHECKPOINT}.part"
    part.write_text(json.dumps(state, indent=1), encoding="utf-8")
    part.replace(folder / _CHECKPOINT)  # whole or not at all, whenever the search is killed
    (folder / "learned.toml").write_text(toml_of(params_at(usual, evolution.mean)), encoding="utf-8")


def _kept(params: SearchParams, folder: Path) -> tuple[Evolution, list[dict[str, Any]]]:
    path = folder / _CHECKPOINT
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            return Evolution(np.zeros(len(SEARCHED)), params.spread), []
        state = json.loads(path.read_text(encoding="utf-8"))
        # A longer search of the same kind goes on where a shorter one ended.
        same = {**state["search"], "num_generations": params.num_generations} == asdict(params)
        evolution = Evolution(np.array(state["mean"]), state["spread"], state["generation"])
        history: list[dict[str, Any]] = state["generations"]
    except OSError as error:
        raise TrainingWrong(f"--out: {folder} cannot be used: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise TrainingWrong(f"--out: {path} cannot be read as a search; remove it") from error
    if not same or state["searched"] != list(SEARCHED):
        raise TrainingWrong(f"--out: {path} is another search; give another folder or remove it")
    return evolution, history
