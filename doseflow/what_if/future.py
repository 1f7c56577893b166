"""One future: the world lived through to the end of the day, planned by the rules every hour, and at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import orjson

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import Decision
from doseflow.domain.orders import Commitments, ReceiptStatus
from doseflow.domain.report import ReceivedReport
from doseflow.domain.state import CityState
from doseflow.errors import EngineTimedOut
from doseflow.intake.body import AcceptedItem, read_body
from doseflow.intake.params import IntakeParams
from doseflow.live.clocks import WallClock
from doseflow.pipeline import Planner, plan_state
from doseflow.simulate.draws import NumpyDraws
from doseflow.simulate.executing import Errand, carry_out
from doseflow.simulate.reporting import Reporters, report_payloads
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.transition import step
from doseflow.simulate.world import World
from doseflow.state.fold import fold
from doseflow.telemetry.stopwatch import Stopwatch
from doseflow.units import PERIOD_MINUTES, datetime_from_epoch_minutes

PLAN_EVERY_MINUTES = 60
RECORD_EVERY_MINUTES = 15


@dataclass
class FutureRecord:
    """
    What one future left behind, a row every quarter of an hour.

    `waiting_people`, `waited_minutes` (of the quarter) and `started_people` (at the needle, in the quarter) are each a
    list of (S,); `doses` and `lost` are of the whole rest of the day, (S,); `first_orders` is what the first plan asks.
    """

    waiting_people: list[FloatArray] = field(default_factory=list)
    waited_minutes: list[FloatArray] = field(default_factory=list)
    started_people: list[FloatArray] = field(default_factory=list)
    doses: FloatArray = field(default_factory=lambda: np.zeros(0))
    lost: FloatArray = field(default_factory=lambda: np.zeros(0))
    first_orders: tuple[Decision, ...] = ()


@dataclass
class Future:
    """
    A world with the plans made for it.

    Parameters
    ----------
    past_weeks_people
        Arrivals in the coming 24 periods of past weeks at each planned moment, (moments, S, W, T).
    gives_up_at
        Monotonic seconds after which there is no use in going on.
    """

    world: World
    state: CityState
    commitments: Commitments
    planner: Planner
    reporters: Reporters
    past_weeks_people: FloatArray
    seed: int
    gives_up_at: float
    _errands: tuple[Errand, ...] = ()
    _planned: int = 0

    def live(self, until: float) -> FutureRecord:
        """
        Live until a moment.

        Raises
        ------
        EngineTimedOut
        """
        record, draws = FutureRecord(), NumpyDraws(np.random.default_rng([self.seed, 1]))
        rng = np.random.default_rng([self.seed, 2])
        start = before = ago = self.world
        for number in range(round((until - start.epoch_minutes) / self._params.assumed.step_minutes)):
            into = number * self._params.assumed.step_minutes
            if into and into % RECORD_EVERY_MINUTES == 0:
                _note(record, before, self.world)
                before = self.world
            if into % PLAN_EVERY_MINUTES == 0:
                decisions = self._plan(ago)
                record.first_orders = record.first_orders if into else decisions
                self._send(decisions, rng)
            if into % PERIOD_MINUTES == 0:
                self.world, self._errands, _ = carry_out(self.world, self._errands, self.state.city, self._params, rng)
                ago = self.world
            self.world = step(self.world, draws, self._params)
        _note(record, before, self.world)
        return _ended(record, start, self.world)

    @property
    def _params(self) -> StepParams:
        return self.reporters.params

    def _plan(self, five_minutes_ago: World) -> tuple[Decision, ...]:
        if time.monotonic() > self.gives_up_at:
            raise EngineTimedOut("the futures took longer than they were given")
        as_of = datetime_from_epoch_minutes(self.world.epoch_minutes)
        past = self.past_weeks_people[min(self._planned, len(self.past_weeks_people) - 1)]
        self.state = fold(self.state, self._reports(five_minutes_ago, as_of), past, self._bound(), as_of)
        cycle = plan_state(
            self.state, (), cycle_id=f"{as_of:%H%M}", planner=self.planner, stopwatch=Stopwatch(WallClock())
        )
        self._planned += 1
        return tuple(planned.decision for planned in cycle.plan.decisions)

    def _reports(self, five_minutes_ago: World, as_of: datetime) -> list[ReceivedReport]:
        body = orjson.dumps(report_payloads(self.world, five_minutes_ago, self.reporters))
        items = read_body(body, self.state.city, as_of, IntakeParams(), _forget)
        return [item.received for item in items if isinstance(item, AcceptedItem)]

    def _bound(self) -> Commitments:
        """What people in command and earlier orders of this future lay on the next plan."""
        begun = tuple(one.decision for one in self._errands if one.status is ReceiptStatus.UNDER_WAY)
        promised = tuple(one.decision for one in self._errands if one.status is ReceiptStatus.ACKNOWLEDGED)
        kept = self.commitments
        return Commitments(
            acknowledged=promised,
            under_way=begun,
            pinned=kept.pinned,
            frozen_site_ids=kept.frozen_site_ids,
            suspended_site_ids=kept.suspended_site_ids,
            overridden=kept.overridden,
            incidents=kept.incidents,
        )

    def _send(self, decisions: Sequence[Decision], rng: np.random.Generator) -> None:
        """Tell the sites what is new; who has not answered by the next plan is asked no more."""
        left = [one for one in self._errands if one.status is not None]
        known = {one.decision.key for one in left}
        new = [one for one in decisions if one.key not in known]
        answers_at = self.world.epoch_minutes + rng.exponential(self._params.assumed.answer_minutes, len(new))
        self._errands = (
            *left,
            *(
                Errand(f"{self._planned}-{k}", one, None, at)
                for k, (one, at) in enumerate(zip(new, answers_at, strict=True))
            ),
        )


def _forget(_refused: Any) -> None:
    """Nobody looks into the quarantine of a future."""


def _note(record: FutureRecord, before: World, now: World) -> None:
    record.waiting_people.append(now.queued_people.sum(axis=-1).astype(np.float64))
    record.waited_minutes.append((now.totals.waited_minutes - before.totals.waited_minutes).sum(axis=-1))
    record.started_people.append((now.totals.started - before.totals.started)[:, -1].astype(np.float64))


def _ended(record: FutureRecord, start: World, end: World) -> FutureRecord:
    def lost(world: World) -> FloatArray:
        totals = world.totals
        people: FloatArray = (totals.balked + totals.left + totals.turned_away).astype(np.float64)
        return people

    record.doses = (end.totals.doses_given - start.totals.doses_given).astype(np.float64)
    record.lost = lost(end) - lost(start)
    return record
