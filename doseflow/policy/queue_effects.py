"""
What orders save in person-minutes by the fluid queue, until the shift ends, beside what else could be ordered.

Asked only where somebody wants to know, after the plan is made: no cycle waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import (
    Decision,
    HoldSlots,
    ReleaseSlots,
    SendWalkIns,
    StaffMove,
    StationChange,
    TellArrivalTime,
)
from doseflow.domain.order_effect import Alternative, Instead, NotReckoned, OrderEffect
from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.roles import OBSERVATION_IDX, ROLE_TO_IDX, STAGE_TO_IDX
from doseflow.policy.arrival_rules import usual_slots
from doseflow.policy.fluid_line import FluidLine
from doseflow.policy.look_ahead import LookAhead, LookAheadParams, look_ahead
from doseflow.policy.situation import Situation
from doseflow.policy.time_ahead import GRID_ENDS_MINUTES, GRID_MINUTES, share_after
from doseflow.policy.walk_in_worth import BIN_MINUTES, WALK_IN_PERIODS
from doseflow.units import PERIOD_MINUTES

_DELAYS_MINUTES = range(5, 31, 5)
_MOST_GIVERS = 8
"""Other givers that a move is compared with, the nearest first."""
_LEAST_MINUTES = 0.05
"""Less would be shown as 0, which doing nothing saves too."""


@dataclass(frozen=True)
class _Line:
    """One site as it would be: people by role, (G, R), and who comes, (G, C)."""

    site_idx: int
    people: FloatArray
    come_people: FloatArray


class QueueEffects:
    """
    Effects of one city's orders.

    Parameters
    ----------
    decisions
        All that is ordered: stations are looked at without the people who leave.
    """

    def __init__(self, situation: Situation, decisions: Sequence[Decision], params: LookAheadParams) -> None:
        self._situation, self._params = situation, params
        self._city = situation.state.city
        self._ahead: LookAhead = look_ahead(situation, params)
        self._there = situation.heads.now_people.copy()
        for move in decisions:
            if isinstance(move, StaffMove):
                self._there[self._idx(move.from_site_id), ROLE_TO_IDX[move.role]] -= move.people
        self._of: dict[type, Callable[..., OrderEffect]] = {
            StationChange: self._of_stations,
            StaffMove: self._of_move,
            HoldSlots: self._of_slots,
            ReleaseSlots: self._of_slots,
            TellArrivalTime: self._of_times,
            SendWalkIns: self._of_walk_ins,
        }

    def __call__(self, decision: Decision) -> OrderEffect | None:
        """The effect of an order of staff, stations or arrivals; None of any other."""
        reckon = self._of.get(type(decision))
        if reckon is None:
            return None
        site_id = decision.to_site_id if isinstance(decision, StaffMove) else getattr(decision, "site_id", None)
        if site_id is not None and not self._is_known(self._idx(site_id)):
            return OrderEffect(not_reckoned=NotReckoned.UNKNOWN_SITE)
        return reckon(decision)

    def _of_stations(self, change: StationChange) -> OrderEffect:
        """Each number of stations within one step of what is open or ordered, with the people who are there."""
        site_idx, stage_idx = self._idx(change.site_id), STAGE_TO_IDX[change.stage]
        step = self._situation.state.limits.max_station_changes
        possible = self._situation.state.stations_possible[site_idx, stage_idx]
        most = min(change.open_before + step, int(possible) if np.isfinite(possible) else change.open_before + step)
        # More than there are people for saves what so many save.
        most = min(most, int(self._there[site_idx, stage_idx]))
        numbers = [change.open_before, *range(max(change.open_before - step, 0), most + 1)]
        ways = {number: [self._with_stations(site_idx, stage_idx, number)] for number in numbers}
        ways.setdefault(change.open_stations, [self._with_stations(site_idx, stage_idx, change.open_stations)])
        return self._compared(ways, change.open_before, change.open_stations, Instead.STATIONS)

    def _of_move(self, move: StaffMove) -> OrderEffect:
        """The same person from each of the nearest sites that could spare one."""
        to_idx, from_idx = self._idx(move.to_site_id), self._idx(move.from_site_id)
        role_idx, works_as_idx = ROLE_TO_IDX[move.role], ROLE_TO_IDX[move.works_as]
        givers = {from_idx: move.travel_minutes}
        least = self._city.minimum_team_people[:, role_idx] + move.people
        for travel, giver_idx in self._situation.reach.to_site(to_idx):
            can_spare = self._situation.heads.staying_people[giver_idx, role_idx] >= least[giver_idx]
            if can_spare and travel <= self._city.limits.max_travel_minutes and len(givers) <= _MOST_GIVERS:
                givers.setdefault(giver_idx, travel)
        saved = {
            giver_idx: self._saved(
                [self._line(giver_idx), self._line(to_idx)],
                [
                    self._with_people(giver_idx, role_idx, -move.people, 0.0),
                    self._with_people(to_idx, works_as_idx, move.people, travel),
                ],
            )
            for giver_idx, travel in givers.items()
        }
        return _best_of(saved, None, from_idx, Instead.SITE)

    def _of_slots(self, slots: HoldSlots | ReleaseSlots) -> OrderEffect:
        """As many appointments in each of the quarter hours from the next one on, were all of them taken."""
        site_idx, sign = self._idx(slots.site_id), -1 if isinstance(slots, HoldSlots) else 1
        booked = self._situation.state.booked_people[site_idx]
        limit = self._situation.state.limits.max_slot_change_share * booked
        if sign < 0:
            # Only what nobody has booked yet can be held back.
            limit = np.minimum(limit, usual_slots(self._situation)[site_idx] - booked)
        bins = [bin_idx for bin_idx in range(1, BOOKING_BINS) if limit[bin_idx] + 1e-9 >= slots.people]
        bins = sorted({*bins, slots.bin_idx})
        no_show = np.nan_to_num(self._situation.state.no_show_share[site_idx])
        people = sign * slots.people * (1 - no_show)
        ways: dict[int, list[_Line]] = {-1: [self._line(site_idx)]}
        for bin_idx in bins:
            ways[bin_idx] = [self._with_arrivals(site_idx, bin_idx * BIN_MINUTES, BIN_MINUTES, people)]
        return self._compared(ways, -1, slots.bin_idx, Instead.QUARTER)

    def _of_times(self, told: TellArrivalTime) -> OrderEffect:
        """The people of the quarter hours after this one, so much later; beside other delays."""
        site_idx = self._idx(told.site_id)
        ways: dict[int, list[_Line]] = {0: [self._line(site_idx)]}
        # Nobody is asked to come after their own time.
        most = np.nan_to_num(self._situation.state.mean_early_minutes[site_idx])
        for delay in sorted({*(one for one in _DELAYS_MINUTES if one <= most), int(told.delay_minutes)}):
            ways[delay] = [self._delayed(site_idx, told.people, delay)]
        return self._compared(ways, 0, int(told.delay_minutes), Instead.DELAY)

    def _of_walk_ins(self, send: SendWalkIns) -> OrderEffect:
        """Waiting saved here less that made there; the way is not waiting."""
        from_idx, to_idx = self._idx(send.from_site_id), self._idx(send.to_site_id)
        minutes = float(WALK_IN_PERIODS * PERIOD_MINUTES)
        saved = self._saved(
            [self._line(from_idx), self._line(to_idx)],
            [
                self._with_arrivals(from_idx, 0.0, minutes, -send.people),
                self._with_arrivals(to_idx, send.travel_minutes, minutes, send.people),
            ],
        )
        return OrderEffect(saved, alternative=Alternative(Instead.UNKNOWN))

    # --- lines as they would be --------------------------------------------------------------------------------------

    def _line(self, site_idx: int) -> _Line:
        return _Line(site_idx, self._ahead.people[:, :, site_idx], self._ahead.come_people[:, :, site_idx])

    def _with_people(self, site_idx: int, role_idx: int, people: float, travel_minutes: float) -> _Line:
        line = self._line(site_idx)
        changed = line.people.copy()
        at_minutes = self._params.departure_minutes + travel_minutes
        changed[:, role_idx] += people * share_after(np.array([at_minutes]))[:, 0]
        return _Line(site_idx, np.maximum(changed, 0.0), line.come_people)

    def _with_stations(self, site_idx: int, stage_idx: int, stations: int) -> _Line:
        line = self._line(site_idx)
        people = np.minimum(line.people, np.maximum(self._there[site_idx], 0.0))
        people[:, stage_idx] = np.minimum(people[:, stage_idx], stations)
        return _Line(site_idx, people, line.come_people)

    def _with_arrivals(self, site_idx: int, starts_minutes: float, minutes: float, people: float) -> _Line:
        """More people who come evenly over a time, or fewer; no more are taken off than come in it."""
        line = self._line(site_idx)
        share = _share_within(starts_minutes, minutes)[:, None]
        coming = np.diff(line.come_people, axis=0, prepend=0.0)
        if people < 0:
            within = coming * share
            total = np.maximum(within.sum(axis=0), 1e-9)
            coming = coming + within * np.maximum(people / total, -1.0)
        else:
            coming = coming + people * GRID_MINUTES[:, None] * share / minutes
        return _Line(site_idx, line.people, np.cumsum(coming, axis=0))

    def _delayed(self, site_idx: int, people: float, delay_minutes: float) -> _Line:
        """Evenly out of the two quarter hours after this one; those who come are told, and no others."""
        fewer = self._with_arrivals(site_idx, BIN_MINUTES, 2 * BIN_MINUTES, -people)
        as_is = self._line(site_idx).come_people
        # Who is taken off in each case comes again, later.
        taken = (as_is - fewer.come_people)[-1]
        later = _share_within(BIN_MINUTES + delay_minutes, 2 * BIN_MINUTES) * GRID_MINUTES / (2 * BIN_MINUTES)
        return _Line(site_idx, fewer.people, fewer.come_people + np.cumsum(later)[:, None] * taken)

    # --- waiting -----------------------------------------------------------------------------------------------------

    def _compared(self, ways: dict[int, list[_Line]], as_is: int, ordered: int, instead: Instead) -> OrderEffect:
        waiting = self._waiting_minutes([lines[0] for lines in ways.values()])
        by_way = dict(zip(ways, waiting.tolist(), strict=True))
        return _best_of({way: by_way[as_is] - one for way, one in by_way.items()}, as_is, ordered, instead)

    def _saved(self, before: list[_Line], after: list[_Line]) -> float:
        waiting = self._waiting_minutes([*before, *after])
        return float(waiting[: len(before)].sum() - waiting[len(before) :].sum())

    def _waiting_minutes(self, lines: Sequence[_Line]) -> FloatArray:
        """Person-minutes of waiting of each, (N,)."""
        sites = np.array([line.site_idx for line in lines])
        here = LookAhead(
            queue_people=self._ahead.queue_people[:, sites],
            come_people=np.stack([line.come_people for line in lines], axis=-1),
            people=np.stack([line.people for line in lines], axis=-1),
            most_people=self._ahead.most_people[:, sites],
            per_minute=self._ahead.per_minute,
            counted_minutes=self._ahead.counted_minutes[:, sites],
            last_minutes=self._ahead.last_minutes[:, sites],
        )
        return FluidLine(here, np.arange(len(lines)), here.people).waiting_minutes

    def _is_known(self, site_idx: int) -> bool:
        state = self._situation.state
        arrivals = self._situation.arrivals_people[site_idx]
        return bool(np.isfinite(arrivals).all() and np.isfinite(state.waiting_people[site_idx, :OBSERVATION_IDX]).all())

    def _idx(self, site_id: str) -> int:
        return self._city.site_to_idx[site_id]


def _share_within(starts_minutes: float, minutes: float) -> FloatArray:
    """Share of each step that lies in a time, (G,)."""
    ends = starts_minutes + minutes
    low = np.maximum(GRID_ENDS_MINUTES - GRID_MINUTES, starts_minutes)
    share: FloatArray = np.clip(np.minimum(GRID_ENDS_MINUTES, ends) - low, 0.0, None) / GRID_MINUTES
    return share


def _best_of(saved: dict[int, float], as_is: int | None, ordered: int, instead: Instead) -> OrderEffect:
    """What is ordered, beside the best of the rest, doing nothing among it."""
    others = {way: one for way, one in saved.items() if way not in (as_is, ordered)}
    best = max(others, key=lambda way: others[way], default=None)
    if best is None or others[best] < _LEAST_MINUTES:
        return OrderEffect(saved[ordered])
    return OrderEffect(saved[ordered], alternative=Alternative(instead, best, others[best]))
