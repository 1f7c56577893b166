"""MpcStaffing: the staffing rule that asks a linear programme, and `myopic`, `mpc` and `scenario` ways to set it up."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import structlog

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import StaffMove
from doseflow.domain.roles import ROLE_TO_IDX
from doseflow.policy.move_desk import MoveDesk
from doseflow.policy.move_reasons import with_reasons
from doseflow.policy.mpc.arcs import Arcs, Ways, arcs_between, ways_of
from doseflow.policy.mpc.fluid_city import FluidCity, fluid_city
from doseflow.policy.mpc.futures import sampled_futures
from doseflow.policy.mpc.givers import givers, kept_people
from doseflow.policy.mpc.highs_lp import solve
from doseflow.policy.mpc.horizon import counted_minutes, until_shift_ends
from doseflow.policy.mpc.margins import Margins, margins
from doseflow.policy.mpc.move_orders import send_people
from doseflow.policy.mpc.params import FluidParams, MpcParams, MyopicParams, ScenarioParams
from doseflow.policy.mpc.programme import FluidProgramme, Stakes, modelled_cells
from doseflow.policy.mpc.time_grid import TimeGrid
from doseflow.policy.mpc.whole_moves import whole_people
from doseflow.policy.situation import Situation
from doseflow.units import PERIOD_MINUTES

Futures = Callable[[Situation], FloatArray]
"""Arrivals to plan against, by future, site and period until the shift ends, (K, S, 72)."""

LATER_DECISION_STEP = 3

_log = structlog.get_logger(__name__)


@dataclass
class SolveRecord:
    """
    What became of the decisions so far.

    `without_need` had no queue ahead, or nobody to send; `out_of_time` met the time limit and made no new moves.
    """

    solved: int = 0
    without_need: int = 0
    out_of_time: int = 0
    last_seconds: float = 0.0
    last_columns: int = 0


class MpcStaffing:
    """
    Staff moves that a fluid model of the coming blocks would make first.

    The same situation gives the same moves, as long as the solver answers in time.
    """

    def __init__(self, grid: TimeGrid, params: FluidParams, futures: Futures) -> None:
        self.record = SolveRecord()
        self._grid, self._params, self._futures = grid, params, futures
        self._least_need = params.least_need_minutes
        self._ways: Ways | None = None

    def __call__(self, situation: Situation) -> list[StaffMove]:
        """Moves for the whole city, those that stand from earlier cycles first."""
        kept = kept_people(situation)
        desk = MoveDesk(situation, kept_people=kept)
        desk.keep_pinned()
        waiting = counted_minutes(situation, self._grid, self._params)
        city = fluid_city(situation, self._futures(situation), self._grid, self._params)
        city = self._keep_sent(desk, city.with_moves(desk.kept, situation.state), waiting)
        giving, need, least = givers(situation, kept), city.need_minutes(waiting), self._least_need
        arcs = arcs_between(situation, self._ways_of(situation), giving, need, least, desk.may_receive)
        if not len(arcs):
            self.record.without_need += 1
            return desk.kept
        stakes = self._stakes(situation, arcs, waiting)
        programme = FluidProgramme(city, arcs, giving, modelled_cells(city, giving, arcs, need), stakes)
        people = whole_people(self._sent_now(programme), city, arcs, giving, stakes)
        new = send_people(desk, arcs, people)
        return [*desk.kept, *with_reasons(situation, self._params.relief_wait_minutes, new)]

    def reads(self, situation: Situation) -> tuple[FluidCity, FloatArray, Margins]:
        """
        What the programme sees before anybody is sent: the fluid city, what waiting counts, (S, B), and the margins.
        """
        city = fluid_city(situation, self._futures(situation), self._grid, self._params)
        waiting = counted_minutes(situation, self._grid, self._params)
        return city, waiting, margins(situation, self._params.margin_minutes)

    def _keep_sent(self, desk: MoveDesk, city: FluidCity, waiting_minutes: FloatArray) -> FluidCity:
        """Let moves sent before stand where help is still wanted, one after the other."""
        for move in desk.situation.orders.sent_of(StaffMove):
            _, to_idx = desk.ends_of(move)
            need = city.need_minutes(waiting_minutes)[to_idx, ROLE_TO_IDX[move.works_as]]
            if need > self._least_need and desk.can_keep(move):
                desk.keep(move)
                city = city.with_moves([move], desk.situation.state)
        return city

    def _sent_now(self, model: FluidProgramme) -> FloatArray:
        """People whom the programme sends now over each arc, (J,); nobody where its time is up."""
        started = time.perf_counter()
        answer = solve(model.programme, self._params.time_limit_seconds)
        self.record.last_seconds = time.perf_counter() - started
        self.record.last_columns = len(model.programme.costs)
        if answer.values is None:
            self.record.out_of_time += 1
            _log.warning("staffing_out_of_time", status=answer.status, seconds=round(self.record.last_seconds, 3))
            return np.zeros(model.num_arcs)
        self.record.solved += 1
        return model.sent_now(answer.values)

    def _stakes(self, situation: Situation, arcs: Arcs, waiting_minutes: FloatArray) -> Stakes:
        params = self._params
        return Stakes(
            move_minutes=params.move_minutes + params.travel_weight * arcs.travel_minutes,
            waiting_minutes=waiting_minutes,
            margins=margins(situation, params.margin_minutes),
            city_people=float(situation.state.limits.max_city_moved_people),
        )

    def _ways_of(self, situation: Situation) -> Ways:
        if self._ways is None or self._ways.city is not situation.state.city:
            self._ways = ways_of(situation.state.city)
        return self._ways


def mean_future(situation: Situation) -> FloatArray:
    """The one future that goes as planned for, (1, S, 72)."""
    return until_shift_ends(situation, situation.arrivals_people[None])


def myopic_staffing(params: MyopicParams) -> MpcStaffing:
    """`lp`: one block ahead, travel a cost and not a delay."""
    grid = TimeGrid((params.block_minutes,), has_delays=False)
    return MpcStaffing(grid, params.fluid, mean_future)


def mpc_staffing(params: MpcParams) -> MpcStaffing:
    """`mpc6` and `mpc12`: some periods ahead, and what follows from them until the shift ends."""
    blocks = (float(PERIOD_MINUTES),) * params.num_periods + params.tail_block_minutes
    return MpcStaffing(_delayed(blocks, params.num_periods, params.fluid), params.fluid, mean_future)


def scenario_staffing(params: ScenarioParams) -> MpcStaffing:
    """`scenario_mpc`: the first moves shared by sampled futures, the later ones each future's own."""
    grid = _delayed(params.block_minutes, params.num_deciding, params.fluid)

    def futures(situation: Situation) -> FloatArray:
        return until_shift_ends(situation, sampled_futures(situation, params))

    return MpcStaffing(grid, params.fluid, futures)


def _delayed(blocks: tuple[float, ...], num_deciding: int, params: FluidParams) -> TimeGrid:
    """Moves after the first are never ordered, so that every third block of those that decide is enough for them."""
    deciding = (0, *range(1, num_deciding, LATER_DECISION_STEP))
    return TimeGrid(blocks, deciding, params.set_out_minutes, params.begin_minutes)
