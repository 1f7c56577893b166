"""Rules about stations: how many a site has, who staffs them, and where people sit afterwards."""

from __future__ import annotations

import math
from collections.abc import Iterator

from doseflow.domain.roles import OBSERVATION_IDX, ROLES, STAGES, VACCINATION_IDX
from doseflow.feasible.entries import StationEntry
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup, whole_below, whole_or_none
from doseflow.feasible.rule import ASSUMED, OPERATING_LIMIT, Finding, Rule
from doseflow.feasible.words import counted, plain


def most_stations(lookup: StateLookup, site_idx: int, stage_idx: int, open_now: int) -> int:
    """Stations that may be open: those that exist, or what is open now where nobody knows how many do."""
    possible = whole_or_none(lookup.state.stations_possible.item(site_idx, stage_idx))
    return open_now if possible is None else max(possible, open_now)


def most_vaccinating(lookup: StateLookup, site_idx: int, open_now: int) -> int:
    """
    Vaccination stations whose people find a seat afterwards; what is open now where that is more already.

    People on seats are the rate of vaccination times the stay (Little's law), so a station fills stay / service seats.
    """
    seats = lookup.state.seats_possible.item(site_idx)
    service_minutes, stay_minutes = (lookup.city.service_minutes[idx] for idx in (VACCINATION_IDX, OBSERVATION_IDX))
    return open_now if math.isnan(seats) else max(open_now, whole_below(seats * service_minutes / stay_minutes))


def is_closing_suspended(ledger: Ledger, entry: StationEntry) -> bool:
    """Whether a change closes a stage of a suspended site, which goes before every rule about stations."""
    return entry.open_after == 0 and entry.site_idx in ledger.lookup.suspended


def _finding(ledger: Ledger, entry: StationEntry, bound: int, why: str) -> Finding:
    site, stage = ledger.lookup.name(entry.site_idx), STAGES[entry.stage_idx]
    sentence = f"{site}: {counted(entry.open_after, f'{stage} station')} asked for, {bound} may be open: {why}"
    return Finding(entry.decision.site_id, sentence, abs(entry.open_after - bound), (entry.position,))


def _known(ledger: Ledger) -> Iterator[tuple[StationEntry, int]]:
    """Station changes where it is known how many are open now."""
    for entry in ledger.station_changes:
        if entry.open_now is not None:
            yield entry, entry.open_now


def _stations_as_reported(ledger: Ledger) -> Iterator[Finding]:
    for entry in ledger.station_changes:
        if entry.open_now != entry.decision.open_before and not is_closing_suspended(ledger, entry):
            reported = "unknown" if entry.open_now is None else str(entry.open_now)
            site, stage = ledger.lookup.name(entry.site_idx), STAGES[entry.stage_idx]
            sentence = (
                f"{site}: {stage} stations open now are {reported}, not {plain(entry.decision.open_before)} as said"
            )
            yield Finding(entry.decision.site_id, sentence, 1.0, (entry.position,))


def _stations_possible(ledger: Ledger) -> Iterator[Finding]:
    for entry, now in _known(ledger):
        bound = most_stations(ledger.lookup, entry.site_idx, entry.stage_idx, now)
        if entry.open_after > bound:
            yield _finding(ledger, entry, bound, "there are no more")


def _stations_staffed(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    for site_idx, role_idx in dict.fromkeys([*ledger.moves_out, *ledger.stations]):
        moves, entry = ledger.moves_out.get((site_idx, role_idx), []), ledger.stations.get((site_idx, role_idx))
        now = lookup.open_now(site_idx, role_idx)
        site, stage, role = lookup.name(site_idx), STAGES[role_idx], str(ROLES[role_idx])
        positions = (*((entry.position,) if entry else ()), *(move.position for move in moves))
        if now is None:
            if moves:
                sentence = f"{site}: nobody knows how many {stage} stations are open, so no {role} leaves"
                yield Finding(lookup.site_id(site_idx), sentence, sum(move.people for move in moves), positions)
            continue
        on_duty = lookup.on_duty[site_idx][role_idx]
        left = on_duty - sum(move.people for move in moves)
        after = now if entry is None else entry.open_after
        over = after - left - max(0, now - on_duty)
        if over > 0:
            stations = counted(after, f"{stage} station")
            sentence = f"{site}: {stations} would be open with {counted(max(left, 0), role)} left to staff them"
            yield Finding(lookup.site_id(site_idx), sentence, over, positions)


def _station_churn(ledger: Ledger) -> Iterator[Finding]:
    most = ledger.lookup.limits.max_station_changes
    for entry, now in _known(ledger):
        if abs(entry.open_after - now) > most and not is_closing_suspended(ledger, entry):
            bound = now + most if entry.open_after > now else now - most
            yield _finding(ledger, entry, bound, f"{now} are open and one cycle changes at most {most}")


def _seats_hold(ledger: Ledger) -> Iterator[Finding]:
    for entry, now in _known(ledger):
        if entry.stage_idx == VACCINATION_IDX:
            bound = most_vaccinating(ledger.lookup, entry.site_idx, now)
            if entry.open_after > bound:
                yield _finding(ledger, entry, bound, "the observation seats hold no more people")


def _open_when_running(ledger: Ledger) -> Iterator[Finding]:
    for entry, now in _known(ledger):
        if entry.open_after > now and not ledger.lookup.state.is_open.item(entry.site_idx):
            yield _finding(ledger, entry, now, "the site is closed at this hour")


STATION_RULES = (
    Rule(
        name="stations_as_reported",
        hard=True,
        sentence="A station change starts from the number of stations that the state knows to be open.",
        sentence_zh="台位变更须以已知的现开台数为准",
        reason="An order that starts from a wrong number ends at a wrong number.",
        source="vaccinespotter 61 (false availability)",
        check=_stations_as_reported,
        each_alone=True,
    ),
    Rule(
        name="stations_possible",
        hard=True,
        sentence="No more stations open than the site has.",
        sentence_zh="开放台数不得超过现有台数",
        reason="A station is a desk and a place; ordering one does not build it.",
        source="report class 11",
        check=_stations_possible,
        unit="stations",
    ),
    Rule(
        name="stations_staffed",
        hard=True,
        sentence="Every open station has a person of its role after people left; where some lack one now, no more do.",
        sentence_zh="人员调出后每个开放台位须有人值守",
        reason="People queue at a station that looks open and serves nobody.",
        source=ASSUMED,
        check=_stations_staffed,
        unit="stations",
    ),
    Rule(
        name="station_churn",
        hard=True,
        sentence="One cycle opens or closes at most `max_station_changes` stations of a stage at a site.",
        sentence_zh="一次开关台数不得超过上限",
        reason="A hall that is rearranged every five minutes serves nobody well.",
        source=OPERATING_LIMIT,
        check=_station_churn,
        unit="stations",
    ),
    Rule(
        name="seats_hold",
        hard=True,
        sentence="Opening vaccination stations keeps the people expected in observation within the seats.",
        sentence_zh="增开接种台后留观人数不得超过座位数",
        reason="Everybody is observed for 15 minutes: 80 % of syncope comes within them.",
        source="CDC 40160 (observation); Little's law",
        check=_seats_hold,
        unit="stations",
    ),
    Rule(
        name="open_when_running",
        hard=True,
        sentence="No station opens at a site that is closed at this hour.",
        sentence_zh="未开放的接种点不得开台",
        reason="Nobody is there to open it.",
        source="site opening hours",
        check=_open_when_running,
        unit="stations",
    ),
)
