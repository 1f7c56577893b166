"""Rules about people: who is there, qualified, rested and near enough, and what a site keeps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

from doseflow.domain.roles import NUM_ROLES, ROLES, VACCINATION_IDX
from doseflow.feasible.entries import MoveEntry
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup, whole_below
from doseflow.feasible.rule import ASSUMED, OPERATING_LIMIT, Finding, Rule
from doseflow.feasible.words import clock, counted, plain
from doseflow.units import epoch_minutes_from_datetime

TRAVEL_TOLERANCE_MINUTES = 0.5
"""Travel minutes that a decision may differ from the city's table: it was rounded, not invented."""


def role_sets(moves: Sequence[MoveEntry]) -> list[tuple[int, ...]]:
    """Every set of roles that moves of a group work as: if each finds enough qualified people, all do (Hall 1935)."""
    roles = sorted({move.works_as_idx for move in moves})
    if len(roles) == 1:
        return [(roles[0],)]
    return [chosen for size in range(1, len(roles) + 1) for chosen in combinations(roles, size)]


def working_as(moves: Sequence[MoveEntry], works_as: tuple[int, ...]) -> Sequence[MoveEntry]:
    """The moves whose people work as one of some roles."""
    return moves if len(moves) == 1 else [move for move in moves if move.works_as_idx in works_as]


def movable_share_people(lookup: StateLookup, site_idx: int, role_idx: int) -> int:
    """People of a role that one cycle may take from a site."""
    on_duty = lookup.on_duty[site_idx][role_idx]
    return max(1, whole_below(lookup.limits.max_moved_share * on_duty))


def rested_people(lookup: StateLookup, site_idx: int, role_idx: int) -> int:
    """People of a role at a site whose break does not fall due within the hour; all, where no break is known."""
    due = lookup.state.breaks_due_people.item(site_idx, role_idx)
    on_duty = lookup.on_duty[site_idx][role_idx]
    return on_duty if math.isnan(due) else max(0, on_duty - math.ceil(due))


def _people(moves: Sequence[MoveEntry]) -> int:
    return sum([move.people for move in moves])


def _positions(moves: Sequence[MoveEntry]) -> tuple[int, ...]:
    return tuple(move.position for move in moves)


def _too_many(ledger: Ledger, moves: Sequence[MoveEntry], bound: int, why: str) -> Finding:
    asked, giver = _people(moves), moves[0].from_idx
    people = counted(asked, str(ROLES[moves[0].role_idx]))
    sentence = f"{ledger.lookup.name(giver)}: {people} asked to leave, {bound} may: {why}"
    return Finding(ledger.lookup.site_id(giver), sentence, asked - bound, _positions(moves))


def _staff_on_hand(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    for rows, moves in ledger.moves_by_group.items():
        free = lookup.group_people(rows)
        if _people(moves) > free:
            ends = clock(moves[0].decision.shift_ends_at, lookup.city)
            yield _too_many(ledger, moves, free, f"so many with a shift ending at {ends} are free")


def _staff_qualified(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    for rows, moves in ledger.moves_by_group.items():
        for works_as in role_sets(moves):
            chosen = working_as(moves, works_as)
            qualified = lookup.qualified_people(rows, works_as, may_still_move=False)
            if _people(chosen) > qualified and qualified < lookup.group_people(rows):
                roles = " or ".join(ROLES[role_idx] for role_idx in works_as)
                yield _too_many(ledger, chosen, qualified, f"so many are qualified to work as {roles}")


def _moves_per_shift(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    for rows, moves in ledger.moves_by_group.items():
        for works_as in role_sets(moves):
            chosen = working_as(moves, works_as)
            movable = lookup.qualified_people(rows, works_as, may_still_move=True)
            if _people(chosen) > movable and movable < lookup.qualified_people(rows, works_as, may_still_move=False):
                most = counted(lookup.limits.max_moves_per_shift, "move")
                yield _too_many(ledger, chosen, movable, f"the others have had their {most} in this shift")


def _break_protected(ledger: Ledger) -> Iterator[Finding]:
    for (site_idx, role_idx), moves in ledger.moves_out.items():
        rested = rested_people(ledger.lookup, site_idx, role_idx)
        if _people(moves) > rested and rested < ledger.lookup.on_duty[site_idx][role_idx]:
            yield _too_many(ledger, moves, rested, "the others' break falls due within the hour")


def _churn_per_role(ledger: Ledger) -> Iterator[Finding]:
    for (site_idx, role_idx), moves in ledger.moves_out.items():
        bound = movable_share_people(ledger.lookup, site_idx, role_idx)
        if _people(moves) > bound:
            share = f"at most a share of {ledger.lookup.limits.max_moved_share:g} leaves in one cycle"
            yield _too_many(ledger, moves, bound, f"{share}, and one person always may")


def _churn_city(ledger: Ledger) -> Iterator[Finding]:
    asked, bound = _people(ledger.moves), ledger.lookup.limits.max_city_moved_people
    if asked > bound:
        sentence = (
            f"{counted(asked, 'person', 'people')} would travel in one cycle, at most {bound} may in the whole city"
        )
        yield Finding(ledger.moves[0].decision.from_site_id, sentence, asked - bound, _positions(ledger.moves))


def _shift_covers_move(ledger: Ledger) -> Iterator[Finding]:
    lookup, stay = ledger.lookup, ledger.lookup.limits.min_stay_minutes
    for move in ledger.moves:
        travel = lookup.city.travel_by_pair.get((move.from_idx, move.to_idx), 0.0)
        left = epoch_minutes_from_datetime(move.decision.shift_ends_at) - lookup.as_of_minutes
        if left < travel + stay:
            trip = f"{plain(travel)} min of travel to {lookup.name(move.to_idx)}"
            sentence = (
                f"{lookup.name(move.from_idx)}: a shift that ends in {plain(left)} min does not cover {trip} "
                f"and a stay of {plain(stay)} min"
            )
            yield Finding(move.decision.from_site_id, sentence, travel + stay - left, (move.position,))


def travel_objection(
    lookup: StateLookup, from_idx: int, to_idx: int, said_minutes: float, most_minutes: float
) -> str | None:
    """What is wrong with a trip: unknown, too long, or not as the decision says; None if nothing is."""
    travel = lookup.city.travel_by_pair.get((from_idx, to_idx))
    if travel is not None and travel <= most_minutes and abs(travel - said_minutes) <= TRAVEL_TOLERANCE_MINUTES:
        return None
    pair = f"{lookup.name(from_idx)} to {lookup.name(to_idx)}"
    if travel is None or math.isnan(travel):
        return f"{pair}: no travel time is known between them"
    if travel > most_minutes:
        return f"{pair}: {plain(travel)} min of travel, at most {plain(most_minutes)} min are allowed"
    return f"{pair}: the travel is {plain(travel)} min, not {plain(said_minutes)} min as said"


def _travel_reach(ledger: Ledger) -> Iterator[Finding]:
    lookup, most = ledger.lookup, ledger.lookup.limits.max_travel_minutes
    for move in ledger.moves:
        objection = travel_objection(lookup, move.from_idx, move.to_idx, move.decision.travel_minutes, most)
        if objection is not None:
            yield Finding(move.decision.from_site_id, objection, 1.0, (move.position,))


def team_needed_people(lookup: StateLookup, site_idx: int, role_idx: int) -> int:
    """People of a role a site must keep while it runs: its minimum team, or what it has now where it runs on less."""
    needed = int(lookup.city.minimum_team_people[site_idx, role_idx])
    runs_now = lookup.open_now(site_idx, VACCINATION_IDX) != 0
    return min(needed, lookup.on_duty[site_idx][role_idx]) if runs_now else needed


def teams_touched(ledger: Ledger) -> list[tuple[int, int]]:
    """Sites and roles whose team may fall short: people leave, or the site starts vaccinating."""
    starting = [
        site_idx
        for site_idx, stage_idx in ledger.stations
        if stage_idx == VACCINATION_IDX and ledger.lookup.open_now(site_idx, stage_idx) == 0
    ]
    return list(dict.fromkeys([*ledger.moves_out, *((site, role) for site in starting for role in range(NUM_ROLES))]))


def _minimum_team(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    for site_idx, role_idx in teams_touched(ledger):
        if ledger.open_after(site_idx, VACCINATION_IDX) == 0:
            continue
        moves = ledger.moves_out.get((site_idx, role_idx), [])
        left = lookup.on_duty[site_idx][role_idx] - _people(moves)
        needed = team_needed_people(lookup, site_idx, role_idx)
        if left < needed:
            opening = ledger.stations.get((site_idx, VACCINATION_IDX))
            starts_now = opening is not None and lookup.open_now(site_idx, VACCINATION_IDX) == 0
            positions = (*((opening.position,) if opening and starts_now else ()), *_positions(moves))
            role = str(ROLES[role_idx])
            sentence = (
                f"{lookup.name(site_idx)}: {counted(max(left, 0), role)} would be left while it runs, it needs {needed}"
            )
            yield Finding(lookup.site_id(site_idx), sentence, needed - left, positions)


def _move_worth_travel(ledger: Ledger) -> Iterator[Finding]:
    lookup, stay = ledger.lookup, ledger.lookup.limits.min_stay_minutes
    for move in ledger.moves:
        open_minutes = lookup.state.open_minutes_left.item(move.to_idx)
        left = open_minutes - lookup.city.travel_by_pair.get((move.from_idx, move.to_idx), 0.0)
        if left < stay:
            sentence = (
                f"{lookup.name(move.to_idx)} closes {plain(max(left, 0.0))} min after the people from "
                f"{lookup.name(move.from_idx)} arrive, a stay of {plain(stay)} min is worth the travel"
            )
            yield Finding(move.decision.to_site_id, sentence, stay - left, (move.position,))


def _worst_wait_first(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    for move in ledger.moves:
        giver = lookup.state.observed_wait_minutes.item(move.from_idx)
        taker = lookup.state.observed_wait_minutes.item(move.to_idx)
        if taker < giver:
            sentence = (
                f"{lookup.name(move.to_idx)}, with a wait of {plain(taker)} min, is helped by "
                f"{lookup.name(move.from_idx)}, where people wait {plain(giver)} min"
            )
            yield Finding(move.decision.from_site_id, sentence, giver - taker, (move.position,))


def _breaks_known(ledger: Ledger) -> Iterator[Finding]:
    lookup = ledger.lookup
    for (site_idx, role_idx), moves in ledger.moves_out.items():
        if math.isnan(lookup.state.breaks_due_people.item(site_idx, role_idx)):
            role = str(ROLES[role_idx])
            sentence = (
                f"{lookup.name(site_idx)}: it is not known whose break is due among {role}s; ask before they leave"
            )
            yield Finding(lookup.site_id(site_idx), sentence, _people(moves), _positions(moves))


STAFF_RULES = (
    Rule(
        name="staff_on_hand",
        hard=True,
        sentence="No more people leave a staff group than it has, less those promised to acknowledged orders.",
        sentence_zh="派出人数不得超过该组在岗且未被占用的人数",
        reason="People are conserved: somebody who is not there, or already promised, cannot be sent.",
        source="conservation",
        check=_staff_on_hand,
        unit="people",
    ),
    Rule(
        name="staff_qualified",
        hard=True,
        sentence="People work only as what they are qualified for.",
        sentence_zh="只能从事有资质的岗位",
        reason="Vaccinating and health inquiry are licensed work.",
        source=ASSUMED,
        check=_staff_qualified,
        unit="people",
    ),
    Rule(
        name="moves_per_shift",
        hard=True,
        sentence="Nobody is moved more often in a shift than `max_moves_per_shift`.",
        sentence_zh="每人每班调动次数不得超过上限",
        reason="Being sent around wears people out, and vaccinators' burnout is tied to their time in the campaign.",
        source=f"{OPERATING_LIMIT}; Front Public Health, 8 Mar 2023 (201 centres in Hangzhou)",
        check=_moves_per_shift,
        unit="people",
    ),
    Rule(
        name="break_protected",
        hard=True,
        sentence="People whose break falls due within the hour stay where they are.",
        sentence_zh="一小时内应休息的人员不得调动",
        reason="A break missed on the road is a break missed.",
        source=ASSUMED,
        check=_break_protected,
        unit="people",
    ),
    Rule(
        name="churn_per_role",
        hard=True,
        sentence="At most `max_moved_share` of a site's people of one role leave in one cycle; one person always may.",
        sentence_zh="同一岗位一次调出人数不得超过规定比例",
        reason="A team that loses most of its people at once cannot hand over its work.",
        source=OPERATING_LIMIT,
        check=_churn_per_role,
        unit="people",
    ),
    Rule(
        name="churn_city",
        hard=True,
        sentence="At most `max_city_moved_people` are sent travelling in one cycle.",
        sentence_zh="全市一次调动总人数不得超过上限",
        reason="People on the road serve nobody.",
        source=OPERATING_LIMIT,
        check=_churn_city,
        unit="people",
    ),
    Rule(
        name="shift_covers_move",
        hard=True,
        sentence="After the travel at least `min_stay_minutes` of the shift are left.",
        sentence_zh="到达后剩余班时不得少于规定时间",
        reason="A move must be worth its travel, and nobody ends a shift far from home late.",
        source=OPERATING_LIMIT,
        check=_shift_covers_move,
        each_alone=True,
    ),
    Rule(
        name="travel_reach",
        hard=True,
        sentence="People move only over a known travel time of at most `max_travel_minutes`, rightly told.",
        sentence_zh="路程须已知且不超过上限",
        reason="Longer trips cost more working time than they give.",
        source=OPERATING_LIMIT,
        check=_travel_reach,
        each_alone=True,
    ),
    Rule(
        name="minimum_team",
        hard=True,
        sentence="A site that vaccinates keeps its minimum team of every role; where it has less now, it loses nobody.",
        sentence_zh="运行中的接种点须保留最低人员配置",
        reason="Without a screener or an observer nobody may be vaccinated, however many vaccinators there are.",
        source=ASSUMED,
        check=_minimum_team,
        unit="people",
    ),
    Rule(
        name="worst_wait_first",
        hard=False,
        sentence="People are not taken from a site where the wait is longer than where they are sent.",
        sentence_zh="不宜从等候更长的接种点抽调人员",
        reason="Fairness: the public sees who waits longest.",
        source="fairness of distance rules asked for by users (covidliste 270)",
        check=_worst_wait_first,
        unit="minutes",
    ),
    Rule(
        name="move_worth_travel",
        hard=False,
        sentence="The receiving site stays open at least `min_stay_minutes` after people arrive.",
        sentence_zh="接收点在人员到达后应仍开放足够时间",
        reason="Help that comes as the doors close is no help.",
        source=OPERATING_LIMIT,
        check=_move_worth_travel,
        unit="minutes",
    ),
    Rule(
        name="breaks_known",
        hard=False,
        sentence="It is known whose break is due where people are taken from.",
        sentence_zh="调出前应掌握休息安排",
        reason="Unknown is not none: the site should ask before people leave.",
        source=ASSUMED,
        check=_breaks_known,
        unit="people",
    ),
)
