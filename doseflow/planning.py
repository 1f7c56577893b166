"""Planning away from the living city: one snapshot from a file, or a kept cycle again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from rich.console import Console

from doseflow.bootstrap import make_planner, make_replay_planner
from doseflow.domain.cycle import Cycle
from doseflow.domain.plan import RepairPath
from doseflow.errors import CycleNotFound, InputWrong
from doseflow.feasible.effects import explain_effect
from doseflow.intake.snapshot_file import read_snapshot
from doseflow.live.clocks import WallClock
from doseflow.live.replay import Replay, replay
from doseflow.pipeline import plan_once
from doseflow.policy.order_effects import order_effects
from doseflow.policy.rules_policy import RulesParams
from doseflow.settings import Settings
from doseflow.state.unknown import unknown_state
from doseflow.store.engine import open_store
from doseflow.store.plan_json import plan_as_json
from doseflow.telemetry.stopwatch import Stopwatch

LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class SnapshotPlan:
    """What a snapshot's plan is."""

    cycle: Cycle
    rules: RulesParams = field(default_factory=RulesParams)
    """Of the planner: effects are reckoned with the same."""

    def as_json(self) -> dict[str, Any]:
        """The plan as the HTTP API gives it."""
        return plan_as_json(self.cycle)


def plan_snapshot(data: bytes, settings: Settings) -> SnapshotPlan:
    """
    Plan one state file.

    Raises
    ------
    SnapshotWrong
    """
    snapshot = read_snapshot(data)
    cycle = plan_once(
        replace(unknown_state(snapshot.city, snapshot.as_of), recent=snapshot.recent),
        snapshot.reports,
        snapshot.arrivals_past_weeks_people,
        snapshot.commitments,
        (),
        cycle_id=f"{snapshot.as_of:%Y%m%dT%H%M%S}-snapshot",
        as_of=snapshot.as_of,
        planner=make_planner(settings),
        stopwatch=Stopwatch(WallClock()),
    )
    return SnapshotPlan(cycle, settings.rules)


def replay_cycle(cycle_id: str, store_url: str, settings: Settings) -> Replay:
    """
    Plan a kept cycle again; `latest` is the newest.

    Raises
    ------
    CycleNotFound, StoreUnavailable
    SettingsWrong, ModelNotFound, ModelWrong, EngineFailed
        The models that it was planned with cannot be had any more.
    """
    store = open_store(store_url, must_exist=True)
    try:
        latest = store.plans.latest_cycle()
        if cycle_id == "latest" and latest is None:
            raise CycleNotFound(f"{store_url} holds no cycle yet")
        cycle_id = latest["cycle_id"] if cycle_id == "latest" and latest is not None else cycle_id
        _, record = store.plans.cycle_inputs(cycle_id)
        path = RepairPath(record["repair_path"])
        forced = path if path in (RepairPath.SOLVER, RepairPath.TRIMMED) else None
        kept: dict[str, Any] = store.plans.plan(cycle_id)
        planner = make_replay_planner(settings, kept.get("models", {}), repair_path=forced)
        return replay(store.plans, cycle_id, planner, WallClock())
    finally:
        store.close()


def print_plan(outcome: SnapshotPlan, language: str, console: Console, *, with_effects: bool = False) -> None:
    """
    Print each order with its reason, in English or Chinese, and where asked what it should bring.

    Raises
    ------
    InputWrong
        The language is neither.
    """
    if language not in LANGUAGES:
        raise InputWrong(f"--language: must be en or zh, got {language!r}")
    cycle = outcome.cycle
    decisions = [order.decision for order in cycle.new_orders]
    effects = order_effects(cycle.state, cycle.forecast, decisions, outcome.rules) if with_effects else ()
    for number, order in enumerate(cycle.new_orders, start=1):
        sentence = order.reason_en if language == "en" else order.reason_zh
        _print_line(console, f"{number:3d}  {order.decision.kind:18s} {sentence}")
        if with_effects:
            effect_en, effect_zh = explain_effect(order.decision, cycle.state.city, cycle.forecast, effects[number - 1])
            _print_line(console, f"{'':24s}{effect_en if language == 'en' else effect_zh}")
    if cycle.plan.why_this_planner:
        _print_line(console, f"another planner answered: {cycle.plan.why_this_planner}")
    for dropped in cycle.plan.dropped:
        _print_line(console, f"not allowed: {dropped.reason_en if language == 'en' else dropped.reason_zh}")
    for sentence in cycle.infeasible.sentences if cycle.infeasible else ():
        _print_line(console, f"infeasible: {sentence}")
    milliseconds = sum(cycle.stage_milliseconds.values())
    _print_line(
        console,
        f"{len(cycle.new_orders)} orders for {cycle.state.city.num_sites} sites by planner {cycle.plan.planner} "
        f"(repair: {cycle.plan.repair_path}) in {milliseconds:.1f} ms",
    )


def _print_line(console: Console, line: str) -> None:
    # Sentences are data: no markup is read in them, and a pipe gets whole lines.
    console.print(line, markup=False, highlight=False, soft_wrap=True)
