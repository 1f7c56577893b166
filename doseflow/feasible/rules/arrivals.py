"""Rules about people on their way: how many appointments change, and how many are asked to come later or elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from doseflow.domain.forecast import MEDIAN_IDX
from doseflow.feasible.entries import SendEntry, SlotEntry
from doseflow.feasible.ledger import Ledger, grouped
from doseflow.feasible.lookup import whole_below
from doseflow.feasible.rule import ASSUMED, OPERATING_LIMIT, Finding, Rule
from doseflow.feasible.rules.staff import travel_objection
from doseflow.feasible.words import BIN_MINUTES, counted, plain

HALF_HOUR_PERIODS = 6
"""Periods of five minutes whose walk-ins may be sent."""


def changeable_slots(ledger: Ledger, site_idx: int, bin_idx: int) -> int:
    """People by whom a booking bin may be changed; 0 where its bookings are unknown."""
    booked = ledger.lookup.state.booked_people.item(site_idx, bin_idx)
    return 0 if math.isnan(booked) else whole_below(ledger.lookup.limits.max_slot_change_share * booked)


def sendable_walk_ins(ledger: Ledger, site_idx: int) -> int:
    """Walk-ins of the next half hour that may be sent from a site; 0 where the forecast or their share is unknown."""
    median = ledger.forecast.arrivals_people[site_idx, :HALF_HOUR_PERIODS, MEDIAN_IDX]
    expected = float(median.sum()) * float(ledger.lookup.state.walk_in_share.item(site_idx))
    return 0 if math.isnan(expected) else whole_below(ledger.lookup.limits.max_walk_ins_sent_share * expected)


def expected_early_people(ledger: Ledger, site_idx: int) -> int:
    """Booked people of the next two hours who are expected to come early; 0 where anything about them is unknown."""
    state = ledger.lookup.state
    early_minutes, no_show = state.mean_early_minutes.item(site_idx), state.no_show_share.item(site_idx)
    coming = float(sum(state.booked_people[site_idx].tolist())) * (1 - no_show)
    return whole_below(coming) if early_minutes > 0 and not math.isnan(coming) else 0


def slots_by_bin(ledger: Ledger) -> dict[tuple[int, int], list[SlotEntry]]:
    """Changes of slots by site and booking bin."""
    return grouped(ledger.slot_changes, lambda entry: (entry.site_idx, entry.decision.bin_idx))


def sendings_by_giver(ledger: Ledger) -> dict[int, list[SendEntry]]:
    """Walk-ins sent away, by the site they come to first."""
    return grouped(ledger.sendings, lambda entry: entry.from_idx)


def _positions(entries: Sequence[SlotEntry] | Sequence[SendEntry]) -> tuple[int, ...]:
    return tuple(entry.position for entry in entries)


def _slots_within_share(ledger: Ledger) -> Iterator[Finding]:
    for (site_idx, bin_idx), entries in slots_by_bin(ledger).items():
        asked, bound = sum(entry.people for entry in entries), changeable_slots(ledger, site_idx, bin_idx)
        if asked > bound:
            when = f"in the quarter hour {bin_idx * BIN_MINUTES} min ahead"
            sentence = (
                f"{ledger.lookup.name(site_idx)}: {counted(asked, 'appointment')} to change {when}, {bound} may be"
            )
            yield Finding(ledger.lookup.site_id(site_idx), sentence, asked - bound, _positions(entries))


def _send_walk_ins(ledger: Ledger) -> Iterator[Finding]:
    for site_idx, entries in sendings_by_giver(ledger).items():
        asked, bound = sum(entry.people for entry in entries), sendable_walk_ins(ledger, site_idx)
        if asked > bound:
            people = counted(asked, "walk-in")
            sentence = f"{ledger.lookup.name(site_idx)}: {people} to be sent in the next half hour, {bound} may be"
            yield Finding(ledger.lookup.site_id(site_idx), sentence, asked - bound, _positions(entries))


def _walk_in_reach(ledger: Ledger) -> Iterator[Finding]:
    lookup, most = ledger.lookup, ledger.lookup.limits.max_travel_minutes / 2
    for entry in ledger.sendings:
        objection = travel_objection(lookup, entry.from_idx, entry.to_idx, entry.decision.travel_minutes, most)
        if not lookup.state.is_open.item(entry.to_idx):
            objection = f"{lookup.name(entry.to_idx)} is closed at this hour"
        if objection is not None:
            yield Finding(entry.decision.from_site_id, objection, 1.0, (entry.position,))


def _tell_arrival_time(ledger: Ledger) -> Iterator[Finding]:
    for entry in ledger.tellings:
        bound = expected_early_people(ledger, entry.site_idx)
        if entry.people > bound:
            people = counted(entry.people, "person", "people")
            sentence = (
                f"{ledger.lookup.name(entry.site_idx)}: {people} to be told a later time, {bound} are expected early"
            )
            yield Finding(entry.decision.site_id, sentence, entry.people - bound, (entry.position,))


def _told_before_closing(ledger: Ledger) -> Iterator[Finding]:
    for entry in ledger.tellings:
        left = ledger.lookup.state.open_minutes_left.item(entry.site_idx)
        if not entry.decision.delay_minutes <= left:
            delay = plain(entry.decision.delay_minutes)
            site = ledger.lookup.name(entry.site_idx)
            sentence = f"{site} closes in {plain(left)} min, people are asked to come {delay} min later"
            yield Finding(entry.decision.site_id, sentence, 1.0, (entry.position,))


def _shorter_wait(ledger: Ledger) -> Iterator[Finding]:
    wait = ledger.lookup.state.observed_wait_minutes
    for entry in ledger.sendings:
        here, there = wait.item(entry.from_idx), wait.item(entry.to_idx)
        if there > here:
            sentence = (
                f"walk-ins of {ledger.lookup.name(entry.from_idx)}, who wait {plain(here)} min, are sent to "
                f"{ledger.lookup.name(entry.to_idx)}, where people wait {plain(there)} min"
            )
            yield Finding(entry.decision.from_site_id, sentence, there - here, (entry.position,))


ARRIVAL_RULES = (
    Rule(
        name="slots_within_share",
        hard=True,
        sentence="Released and held appointments change at most `max_slot_change_share` of a quarter hour's bookings.",
        sentence_zh="增放或收回的预约号不得超过该时段已约人数的规定比例",
        reason="Bookings are promises; the plan nudges them and does not rewrite the day.",
        source=OPERATING_LIMIT,
        check=_slots_within_share,
        unit="people",
    ),
    Rule(
        name="walk_in_reach",
        hard=True,
        sentence="Walk-ins are sent only to a site that is open and at most half of `max_travel_minutes` away.",
        sentence_zh="只能引导到开放且路程较近的接种点",
        reason="Many walk-ins come on foot, and a closed door at the end of the way is worse than a queue.",
        source=OPERATING_LIMIT,
        check=_walk_in_reach,
        each_alone=True,
    ),
    Rule(
        name="send_walk_ins",
        hard=True,
        sentence="At most `max_walk_ins_sent_share` of the walk-ins expected in the next half hour are sent.",
        sentence_zh="引导人数不得超过预计未预约人数的规定比例",
        reason="Not everybody can travel, and a forecast is not a person.",
        source=OPERATING_LIMIT,
        check=_send_walk_ins,
        unit="people",
    ),
    Rule(
        name="tell_arrival_time",
        hard=True,
        sentence="No more people are told to come later than are booked, expected to come, and early at this site.",
        sentence_zh="通知晚到的人数不得超过预计提前到达的预约人数",
        reason="Asking people who are on time to be late would move the queue, not shorten it.",
        source="Winterthur survey: 41 % came 20 min or more early",
        check=_tell_arrival_time,
        unit="people",
    ),
    Rule(
        name="told_before_closing",
        hard=True,
        sentence="The delay that people are asked for ends before the site closes.",
        sentence_zh="推迟后的到达时间须在关门之前",
        reason="A person who does as asked must still be served.",
        source=ASSUMED,
        check=_told_before_closing,
        each_alone=True,
    ),
    Rule(
        name="shorter_wait",
        hard=False,
        sentence="Walk-ins are not sent to a site whose observed wait is longer.",
        sentence_zh="不宜引导到等候更长的接种点",
        reason="Nobody should travel in order to wait longer.",
        source=ASSUMED,
        check=_shorter_wait,
        unit="minutes",
    ),
)
