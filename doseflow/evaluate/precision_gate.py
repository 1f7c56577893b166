"""
What a coarser net does to decisions: held-out days lived with the FP32 net and with it, in common random numbers.

On the days of the FP32 net every few cycles are planned once more with the other, and the plans compared. No figure on
tensors decides: a large error may change nothing, and a small one a tie between two sites.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.bootstrap import make_planner, open_forecaster, open_policy
from doseflow.domain.cycle import Cycle
from doseflow.evaluate.measures import measures_of_day
from doseflow.evaluate.past_weeks import history_of
from doseflow.evaluate.planners import SOLVER_MILLISECONDS
from doseflow.evaluate.played_day import DayPlay
from doseflow.evaluate.resampling import interval95
from doseflow.evaluate.run import window_end
from doseflow.feasible.referee import referee
from doseflow.forecast.bookings_first import BookingsFirst
from doseflow.forecast.learned_forecast import LearnedForecast
from doseflow.forecast.net_inputs import net_inputs
from doseflow.live.clocks import SimulatedClock
from doseflow.pipeline import Planner, plan_state
from doseflow.policy.learned_policy import LearnedPolicy
from doseflow.ports import Engine
from doseflow.serve.variant import DecisionGate, why_gate_fails
from doseflow.settings import Settings
from doseflow.simulate.scenario import Scenario
from doseflow.simulate.scenario_city import simulated_city_of
from doseflow.simulate.scenario_file import packaged_scenarios
from doseflow.simulate.step_params import step_params
from doseflow.telemetry.stopwatch import Stopwatch

SUITE = "heldout"
_RESAMPLES = 4000

Engines = Mapping[str, Engine]
"""Engines by the name of their net, `forecaster` and `policy`; what is not given is the shipped FP32 net."""
Advance = Callable[[], None]


@dataclass(frozen=True)
class GateParams:
    """Days of every held-out scenario, and every how many cycles plans are compared."""

    seeds: tuple[int, ...] = (901, 902, 903, 904)
    stride: int = 8
    scenarios: tuple[Scenario, ...] = field(default_factory=lambda: packaged_scenarios(SUITE))

    @property
    def num_days(self) -> int:
        """Days that are lived with each net."""
        return len(self.seeds) * len(self.scenarios)


@dataclass(frozen=True)
class GateOutcome:
    """What the gate found; `tensor_error` is as in `Variant`."""

    gate: DecisionGate
    tensor_error: float

    @property
    def reason(self) -> str | None:
        """Why the net must not serve, in a sentence; None where it may."""
        return why_gate_fails(self.gate)


@dataclass
class FineDays:
    """
    Days lived with the FP32 net: mean waits, and what the others said of the same cycles.

    `same` and `either` count decisions of each cycle that both plans had, and that either had.
    """

    waits_minutes: list[float]
    same: dict[str, list[int]]
    either: dict[str, list[int]]
    violations: dict[str, int]
    tensor_error: dict[str, float]


class BesideEngine:
    """Answers with the fine engine, and asks the others for the same, noting how far they are off."""

    def __init__(self, fine: Engine, others: Engines) -> None:
        self.name, self._fine, self._others = fine.name, fine, others
        self.tensor_error = dict.fromkeys(others, 0.0)

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The fine engine's outputs."""
        outputs = self._fine.run(inputs)
        for name, other in self._others.items():
            for output, array in other.run(inputs).items():
                expected = outputs[output]
                off = np.abs(array - expected) / np.maximum(np.abs(expected), 1.0)
                self.tensor_error[name] = max(self.tensor_error[name], float(off.max(initial=0.0)))
        return outputs


def judge(
    net: str, fine: Engine, others: Engines, params: GateParams, advance: Advance = lambda: None
) -> dict[str, GateOutcome]:
    """
    Judge coarser forms of a net.

    Parameters
    ----------
    net
        `forecaster` or `policy`.
    fine, others
        The FP32 net, and the others by a name of their own.
    advance
        Called after every day that was lived.
    """
    lived = fine_days(net, fine, others, params, advance)
    outcomes = {}
    for name, engine in others.items():
        waits = []
        for scenario, seed in _days(params):
            waits.append(_live(scenario, seed, planner_with({net: engine})))
            advance()
        outcomes[name] = GateOutcome(_gate(lived, name, waits), lived.tensor_error[name])
    return outcomes


def fine_days(net: str, fine: Engine, others: Engines, params: GateParams, advance: Advance = lambda: None) -> FineDays:
    """Live the days with the FP32 net, and plan every few cycles with the others too."""
    beside = BesideEngine(fine, others)
    planner = planner_with({net: beside})
    rivals = {name: planner_with({net: engine}) for name, engine in others.items()}
    same: dict[str, list[int]] = {name: [] for name in others}
    either: dict[str, list[int]] = {name: [] for name in others}
    lived = FineDays([], same, either, dict.fromkeys(others, 0), beside.tensor_error)

    def look(cycle: Cycle) -> None:
        for name, rival in rivals.items():
            told = _planned_again(cycle, rival)
            ours, theirs = _decisions(cycle), _decisions(told)
            same[name].append((ours & theirs).total())
            either[name].append((ours | theirs).total())
            found = referee(told.state, told.forecast, [one.decision for one in told.plan.decisions])
            lived.violations[name] += sum(violation.hard for violation in found)

    for scenario, seed in _days(params):
        lived.waits_minutes.append(_live(scenario, seed, planner, look, params.stride))
        advance()
    return lived


def planner_with(engines: Engines, settings: Settings | None = None) -> Planner:
    """The learned planner with the learned forecast, on given engines."""
    chosen = (settings or Settings()).model_copy(update={"planner": "rules", "forecaster": "bookings_first"})
    feasible = replace(chosen.feasible, time_limit_milliseconds=SOLVER_MILLISECONDS)
    chosen = chosen.model_copy(update={"feasible": feasible})
    forecaster = LearnedForecast(
        engines.get("forecaster") or open_forecaster(chosen).engine,
        BookingsFirst(chosen.forecast),
        partial(net_inputs, params=chosen.forecast.bookings),
    )
    policy = LearnedPolicy(engines.get("policy") or open_policy(chosen).engine, chosen.rules)
    return replace(make_planner(chosen), forecaster=forecaster, policy=policy)


def _days(params: GateParams) -> list[tuple[Scenario, int]]:
    return [(scenario, seed) for scenario in params.scenarios for seed in params.seeds]


def _live(
    scenario: Scenario, seed: int, planner: Planner, look: Callable[[Cycle], None] | None = None, stride: int = 1
) -> float:
    """Mean wait of a day, in minutes."""
    city = simulated_city_of(scenario, seed)
    assumed = scenario.simulation_params()
    history = history_of(city.city, city.past_weeks_arrivals(), city.now)
    settings = Settings()
    play = DayPlay(city, planner, history, step_params(city.city, assumed), settings.intake)
    on_cycle = None if look is None else _every(stride, look)
    played = play.play(until=window_end(scenario, city), on_cycle=on_cycle)
    return float(measures_of_day(played.record, played.planning, city.city)["mean_wait_minutes"])


def _every(stride: int, look: Callable[[Cycle], None]) -> Callable[[Cycle], None]:
    seen: list[None] = []

    def on_cycle(cycle: Cycle) -> None:
        if len(seen) % stride == 0:
            look(cycle)
        seen.append(None)

    return on_cycle


def _planned_again(cycle: Cycle, planner: Planner) -> Cycle:
    stopwatch = Stopwatch(SimulatedClock(cycle.state.as_of))
    return plan_state(cycle.state, (), cycle_id=cycle.cycle_id, planner=planner, stopwatch=stopwatch)


def _decisions(cycle: Cycle) -> Counter[str]:
    return Counter(repr(one.decision) for one in cycle.plan.decisions)


def _gate(lived: FineDays, name: str, waits_minutes: Sequence[float]) -> DecisionGate:
    fine, coarse = np.array(lived.waits_minutes), np.array(waits_minutes)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(fine), (_RESAMPLES, len(fine)))
    draws = (coarse - fine)[rows].mean(axis=1) / fine[rows].mean(axis=1)
    same, either = np.array(lived.same[name]), np.array(lived.either[name])
    return DecisionGate(
        num_cycles=len(same),
        identical_share=float(same.sum() / max(either.sum(), 1)),
        identical_plans_share=float((same == either).mean()),
        num_violations=lived.violations[name],
        num_days=len(fine),
        loss_share=float((coarse - fine).mean() / fine.mean()),
        loss_ci95=interval95(draws) if len(fine) > 1 else None,
    )
