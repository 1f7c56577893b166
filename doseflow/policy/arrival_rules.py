"""Arrival levers: fewer or more appointments, a better time for early comers, a named neighbour for walk-ins."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.decisions import Decision, HoldSlots, ReleaseSlots, SendWalkIns, TellArrivalTime, Why
from doseflow.domain.forecast import MEDIAN_IDX, ArrivalForecast
from doseflow.domain.report import BOOKING_BINS
from doseflow.policy.outlook import WaitOutlook
from doseflow.policy.situation import Situation
from doseflow.policy.walk_in_worth import BIN_MINUTES, BIN_PERIODS, WALK_IN_PERIODS, ExpectedWaits, WalkInWorth
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES

_FIRST_RELEASED_BIN = 2
"""People need half an hour to find and take an appointment."""
_MOST_DELAY_MINUTES = 30.0
D = TypeVar("D", HoldSlots, ReleaseSlots, SendWalkIns, TellArrivalTime)


@dataclass(frozen=True, slots=True)
class ArrivalParams:
    """See docs/background/forecast-and-rules.md."""

    act_above_minutes: float = 30.0
    """Expected wait from which people are held off."""
    keep_above_minutes: float = 20.0
    """Expected wait down to which what was asked before stands."""
    room_below_minutes: float = 5.0
    """Expected wait below which there may be room for more."""
    room_utilisation_share: float = 0.6
    """A site has room for people up to this share of what it can serve."""
    min_early_minutes: float = 10.0
    """Mean earliness from which people are told a time."""
    min_advantage_minutes: float = 10.0
    """Minutes that a walk-in must gain, the way included."""
    min_released_people: int = 2
    """Fewer free places are not worth an order."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("act_above_minutes", 0, 240),
            ("keep_above_minutes", 0, 240),
            ("room_below_minutes", 0, 240),
            ("room_utilisation_share", 0, 1),
            ("min_early_minutes", 0, 600),
            ("min_advantage_minutes", 0, 240),
            ("min_released_people", 1, 10_000),
        ):
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {getattr(self, name)}")
        if not self.room_below_minutes <= self.keep_above_minutes <= self.act_above_minutes:
            raise ValueError(
                "keep_above_minutes: must lie between room_below_minutes and act_above_minutes, or plans would flap"
            )


def arrival_levers(
    situation: Situation,
    forecast: ArrivalForecast,
    outlook: WaitOutlook,
    spare_doses: FloatArray,
    params: ArrivalParams,
    walk_ins: WalkInWorth | None = None,
) -> list[Decision]:
    """
    All levers on arrivals.

    Walk-ins may be sent on in any cycle; appointments and arrival times are new only in the first cycle of a quarter
    hour, since a booking bin is as long and people should not be written to every five minutes.

    Parameters
    ----------
    spare_doses
        Doses of a site beyond a busy rest of the day, (S,); appointments are offered only as far as there are any.
    walk_ins
        What sending walk-ins on is worth; by the waits of `outlook` unless given.
    """
    worth = walk_ins or ExpectedWaits(outlook, params.act_above_minutes, params.min_advantage_minutes)
    desk = _LeverDesk(situation, forecast, outlook, spare_doses, params, worth)
    return [*desk.held_slots(), *desk.told_times(), *desk.sent_walk_ins(), *desk.released_slots()]


class _LeverDesk:
    """What the levers share: who may be asked, how many people each may concern, and how long waits will be."""

    def __init__(
        self,
        situation: Situation,
        forecast: ArrivalForecast,
        outlook: WaitOutlook,
        spare_doses: FloatArray,
        params: ArrivalParams,
        worth: WalkInWorth,
    ) -> None:
        state = situation.state
        limits = state.limits
        self._situation, self._state, self._sites = situation, state, state.city.sites
        self._orders, self._outlook, self._params = situation.orders, outlook, params
        self._spare_doses, self._worth = spare_doses, worth
        self._may_act: BoolArray = situation.standing.operating & situation.standing.alterable
        self._open_minutes: list[float] = state.open_minutes_left.tolist()
        self._waits: list[float] = state.observed_wait_minutes.tolist()
        self._can_send: list[bool] = self._may_act.tolist()
        self._can_take: list[bool] = (self._may_act & (spare_doses >= 1)).tolist()
        self._begins_quarter = state.as_of.minute % BIN_MINUTES < PERIOD_MINUTES
        self._peak = outlook.peak_minutes
        by_bin = (state.city.num_sites, BOOKING_BINS, BIN_PERIODS)
        self._bin_wait = outlook.wait_minutes.reshape(by_bin).mean(axis=2)
        self._bin_arrivals = situation.arrivals_people.reshape(by_bin).sum(axis=2)
        self._changeable = _whole(limits.max_slot_change_share * state.booked_people)
        self._unbooked = np.maximum(usual_slots(situation)[:, None] - state.booked_people, 0.0)
        coming = state.booked_people.sum(axis=1) * (1 - state.no_show_share)
        self._early_people = np.where(state.mean_early_minutes > 0, _whole(coming), 0)
        median = forecast.arrivals_people[:, :WALK_IN_PERIODS, MEDIAN_IDX].sum(axis=1)
        self._walk_ins = _whole(limits.max_walk_ins_sent_share * median * state.walk_in_share)

    def held_slots(self) -> list[HoldSlots]:
        """The bin in which people would wait longest, where the wait gets too long and slots should still be free."""
        slots = self._orders.pinned_of(HoldSlots)
        for sent in self._orders.sent_of(HoldSlots):
            site_idx = self._idx(sent.site_id)
            if self._is_kept(site_idx) and sent.people <= self._changeable[site_idx, sent.bin_idx]:
                slots.append(sent)
        if not self._begins_quarter:
            return slots
        # A site that has just said that its slots are taken need not be asked about the next quarter hour.
        done = {slot.site_id for slot in (*slots, *self._refused_holds())}
        holdable = np.minimum(self._changeable, _whole(self._unbooked))
        usable = (holdable >= 1) & (self._bin_wait > self._params.keep_above_minutes)
        usable[:, 0] = False
        waits = np.where(usable, self._bin_wait, -1.0)
        worst_bin, worst_wait = waits.argmax(axis=1).tolist(), waits.max(axis=1).round(1).tolist()
        for site_idx in self._asked(usable.any(axis=1), done):
            bin_idx = worst_bin[site_idx]
            why = Why("queue_ahead", {"wait_minutes": worst_wait[site_idx]})
            people = holdable.item(site_idx, bin_idx)
            slots += self._unless_barred(HoldSlots(self._sites[site_idx].site_id, bin_idx, people, why))
        return slots

    def told_times(self) -> list[TellArrivalTime]:
        """Early comers of the quarter hours after this one, where their place is free later and is not now."""
        told = self._orders.pinned_of(TellArrivalTime)
        for sent in self._orders.sent_of(TellArrivalTime):
            site_idx = self._idx(sent.site_id)
            if self._is_kept(site_idx) and sent.people <= self._early_people[site_idx]:
                told.append(sent)
        if not self._begins_quarter:
            return told
        early = self._state.mean_early_minutes
        soon_booked = _whole(self._state.booked_people[:, 1:3].sum(axis=1) * (1 - self._state.no_show_share))
        people = np.minimum(soon_booked, self._early_people)
        may_gain = (early >= self._params.min_early_minutes) & (people >= 1) & self._falls_later()
        for site_idx in self._asked(may_gain, {one.site_id for one in told}):
            delay = PERIOD_MINUTES * round(min(float(early[site_idx]), _MOST_DELAY_MINUTES) / PERIOD_MINUTES)
            if delay > self._state.open_minutes_left[site_idx]:
                continue
            why = Why("early_arrivals", {"mean_early_minutes": round(float(early[site_idx]), 1)})
            told += self._unless_barred(
                TellArrivalTime(self._sites[site_idx].site_id, int(people[site_idx]), float(delay), why)
            )
        return told

    def sent_walk_ins(self) -> list[SendWalkIns]:
        """Walk-ins to the neighbour where they gain most, from the most crowded site first."""
        room = self._free_people_of_half_hour()
        left = self._walk_ins.astype(np.float64)
        for bound in self._orders.bound_of(SendWalkIns):
            left[self._idx(bound.from_site_id)] -= bound.people
            room[self._idx(bound.to_site_id)] -= bound.people
        sent_on = self._orders.pinned_of(SendWalkIns)
        for sent in self._orders.sent_of(SendWalkIns):
            from_idx, to_idx = self._idx(sent.from_site_id), self._idx(sent.to_site_id)
            gain = self._gain_minutes(from_idx, to_idx, sent.travel_minutes)
            if gain >= 0 and sent.people <= min(left[from_idx], room[to_idx]):
                sent_on.append(sent)
        for send in sent_on:
            left[self._idx(send.from_site_id)] = 0.0
            room[self._idx(send.to_site_id)] -= send.people
        crowding = self._worth.crowding_minutes
        crowded = np.flatnonzero(self._may_act & (crowding > self._worth.crowded_above_minutes) & (left >= 1)).tolist()
        for from_idx in sorted(crowded, key=lambda idx: (-crowding[idx], idx)):
            for send in self._walk_ins_to_best_neighbour(from_idx, int(left[from_idx]), room):
                sent_on.append(send)
                room[self._idx(send.to_site_id)] -= send.people
        return sent_on

    def released_slots(self) -> list[ReleaseSlots]:
        """The bin with the most room, where nobody will wait and doses are to spare."""
        params = self._params
        free = params.room_utilisation_share * self._outlook.served_per_minute * BIN_MINUTES
        free_people = np.nan_to_num(free[:, None] - self._bin_arrivals)
        stays_open = self._state.open_minutes_left[:, None] >= BIN_MINUTES * (np.arange(BOOKING_BINS) + 1)
        people = np.minimum(self._changeable, np.floor(np.maximum(free_people, 0.0)))
        people = np.where(stays_open, np.minimum(people, np.nan_to_num(self._spare_doses)[:, None]), 0.0)
        people[:, :_FIRST_RELEASED_BIN] = 0.0
        slots = self._orders.pinned_of(ReleaseSlots)
        for sent in self._orders.sent_of(ReleaseSlots):
            site_idx = self._idx(sent.site_id)
            still_calm = self._may_act[site_idx] and self._peak[site_idx] < params.keep_above_minutes
            if still_calm and sent.people <= self._changeable[site_idx, sent.bin_idx]:
                slots.append(sent)
        if not self._begins_quarter:
            return slots
        done = {slot.site_id for slot in slots}
        has_room = self._may_act & (self._peak < params.room_below_minutes)
        has_room &= people.max(axis=1) >= params.min_released_people
        for site_idx in np.flatnonzero(has_room).tolist():
            bin_idx = int(people[site_idx].argmax())
            why = Why("room_free", {"free_people": float(np.floor(free_people[site_idx, bin_idx]))})
            slot = ReleaseSlots(self._sites[site_idx].site_id, bin_idx, int(people[site_idx, bin_idx]), why)
            if slot.site_id not in done:
                slots += self._unless_barred(slot)
        return slots

    def _walk_ins_to_best_neighbour(self, from_idx: int, people: int, room: FloatArray) -> list[SendWalkIns]:
        choices = []
        for travel, to_idx in self._situation.reach.from_site(from_idx):
            if room.item(to_idx) < 1:
                continue
            gain = self._gain_minutes(from_idx, to_idx, travel)
            if gain >= 0:
                choices.append((-gain, to_idx, travel))
        choices.sort()
        for place, (cost, to_idx, travel) in enumerate(choices):
            if -cost < self._worth.least_gain_minutes:
                break
            # Whoever comes first among the others is the best alternative.
            other = next((one for at, one in enumerate(choices) if at != place), None)
            sent = min(people, int(room[to_idx]))
            send = SendWalkIns(
                from_site_id=self._sites[from_idx].site_id,
                to_site_id=self._sites[to_idx].site_id,
                people=sent,
                travel_minutes=travel,
                why=self._walk_in_why(from_idx, sent, -cost, other),
            )
            if send.key not in self._orders.barred_keys:
                return [send]
        return []

    def _walk_in_why(self, from_idx: int, people: int, gain: float, other: tuple[float, int, float] | None) -> Why:
        """The reason with what it saves, and what the next best neighbour would."""
        why = self._worth.why(from_idx)
        facts: dict[str, float | str] = {
            "expected_saving_minutes": round(people * gain, 1),
            "alternative_saving_minutes": round(people * -other[0], 1) if other else 0.0,
            "alternative_site_id": self._sites[other[1]].site_id if other else "",
        }
        return replace(why, facts=why.facts | facts)

    def _gain_minutes(self, from_idx: int, to_idx: int, travel_minutes: float) -> float:
        """Minutes that a walk-in gains by going there, negative or minus infinity where nobody should."""
        # Lists: this is asked for thousands of pairs, and an array takes as long as ten of a list to give one number.
        limits = self._state.limits
        stays_open = self._open_minutes[to_idx] >= travel_minutes + limits.min_stay_minutes
        is_near = travel_minutes <= limits.max_travel_minutes / 2
        if not (is_near and stays_open and self._can_take[to_idx] and self._can_send[from_idx]):
            return -math.inf
        gain = self._worth.gain_minutes(from_idx, to_idx, travel_minutes)
        seen_longer = self._waits[to_idx] > self._waits[from_idx]
        return gain if math.isfinite(gain) and not seen_longer else -math.inf

    def _free_people_of_half_hour(self) -> FloatArray:
        """People that a site could serve in the next half hour beyond those it expects, (S,)."""
        minutes = WALK_IN_PERIODS * PERIOD_MINUTES
        expected = self._situation.arrivals_people[:, :WALK_IN_PERIODS].sum(axis=1)
        free: FloatArray = np.maximum(np.nan_to_num(self._outlook.served_per_minute * minutes - expected), 0.0)
        return free

    def _falls_later(self) -> BoolArray:
        """Whether the wait half an hour to an hour ahead is shorter than in the coming half hour, (S,)."""
        falls: BoolArray = self._bin_wait[:, 2:4].mean(axis=1) < self._bin_wait[:, :2].mean(axis=1)
        return falls

    def _asked(self, extra: BoolArray, done: set[str]) -> list[int]:
        crowded = self._may_act & (self._peak > self._params.act_above_minutes) & extra
        return [idx for idx in np.flatnonzero(crowded).tolist() if self._sites[idx].site_id not in done]

    def _refused_holds(self) -> list[HoldSlots]:
        return [decision for decision in self._state.commitments.refused if isinstance(decision, HoldSlots)]

    def _is_kept(self, site_idx: int) -> bool:
        return bool(self._may_act[site_idx] and self._peak[site_idx] > self._params.keep_above_minutes)

    def _unless_barred(self, decision: D) -> list[D]:
        return [] if decision.key in self._orders.barred_keys else [decision]

    def _idx(self, site_id: str) -> int:
        return self._state.city.site_to_idx[site_id]


def usual_slots(situation: Situation) -> FloatArray:
    """Appointments of a quarter hour when a site's daily capacity is spread evenly over its hours, (S,)."""
    opens, closes = situation.state.city.opening_minutes.T
    open_minutes = np.where(closes <= opens, closes - opens + 24 * MINUTES_PER_HOUR, closes - opens)
    capacity = np.array([site.daily_capacity_people for site in situation.state.city.sites], dtype=np.float64)
    slots: FloatArray = capacity * BIN_MINUTES / open_minutes
    return slots


def _whole(people: FloatArray) -> IntArray:
    """People in whole numbers, rounded down; unknown is nobody to be asked."""
    return np.floor(np.nan_to_num(people) + 1e-9).astype(np.int64)
