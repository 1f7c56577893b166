"""Staff moves: whoever falls short calls, and the nearest who can spare somebody sends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import StaffMove
from doseflow.domain.roles import NUM_ROLES, OBSERVATION_IDX, ROLE_TO_IDX
from doseflow.policy.move_desk import MoveDesk
from doseflow.policy.move_reasons import serving_now, with_reasons
from doseflow.policy.queueing import WAIT_CEILING_MINUTES
from doseflow.policy.situation import Situation
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES

_HOUR_PERIODS = MINUTES_PER_HOUR // PERIOD_MINUTES


@dataclass(frozen=True, slots=True)
class StaffingParams:
    """See docs/background/forecast-and-rules.md."""

    relief_wait_minutes: float = 10.0
    """Wait of the moment from which a move is said to relieve a queue, not to fill a gap."""

    def __post_init__(self) -> None:
        if not 0 <= self.relief_wait_minutes <= WAIT_CEILING_MINUTES:
            raise ValueError(
                f"relief_wait_minutes: must lie in 0..{WAIT_CEILING_MINUTES:g}, got {self.relief_wait_minutes}"
            )


class Shortage(NamedTuple):
    """A site and role short of `people`."""

    site_idx: int
    role_idx: int
    people: float


def staff_moves(situation: Situation, params: StaffingParams) -> list[StaffMove]:
    """
    Moves that bring short sites to their target.

    What was pinned or sent and is still wanted stands as it was. Then the worst shortage first: below the minimum team,
    then the longest wait, then the largest share missing; each takes from the nearest sites that can spare somebody.
    """
    waits = _hour_waits(situation)
    desk = MoveDesk(situation)
    desk.keep_pinned()
    for move in situation.orders.sent_of(StaffMove):
        if is_under_target(desk, move) and desk.can_keep(move):
            desk.keep(move)
    for shortage in shortages(desk, waits):
        if desk.pool.is_exhausted:
            break
        fill(desk, shortage)
    return [*desk.kept, *with_reasons(situation, params.relief_wait_minutes, list(desk.new.values()))]


def is_under_target(desk: MoveDesk, move: StaffMove) -> bool:
    """Whether the receiver of a move still has fewer people than the rules bring it to."""
    cell = desk.ends_of(move)[1], ROLE_TO_IDX[move.works_as]
    return bool(desk.present_people[cell] < desk.situation.needs.target_people[cell])


def _hour_waits(situation: Situation) -> FloatArray:
    """Mean fluid wait of the coming hour by stage, (S, R); 0 for observation and where it is unknown."""
    servers = serving_now(situation)
    waits = np.zeros(servers.shape)
    by_period = situation.wait_minutes(servers, num_periods=_HOUR_PERIODS)
    waits[:, :OBSERVATION_IDX] = np.nan_to_num(by_period.mean(axis=-1))
    return waits


def shortages(desk: MoveDesk, waits: FloatArray) -> Iterator[Shortage]:
    """Sites and roles under the level at which they call for help, the worst first."""
    needs, city, present = desk.situation.needs, desk.situation.state.city, desk.present_people
    # The padding -1 of the neighbour table points at the row put at the end.
    may_offer = np.concatenate([desk.pool.may_offer, np.zeros((1, NUM_ROLES), dtype=bool)])
    has_giver = may_offer[city.neighbour_idx].any(axis=1)
    short = (present < needs.call_people) & desk.may_receive[:, None] & has_giver
    site_idx, role_idx = np.nonzero(short)
    missing = (needs.target_people - present)[site_idx, role_idx]
    below_minimum = (present < city.minimum_team_people)[site_idx, role_idx]
    share = missing / np.maximum(needs.target_people[site_idx, role_idx], 1.0)
    order = np.lexsort((role_idx, site_idx, -share, -waits[site_idx, role_idx], ~below_minimum))
    for position in order.tolist():
        yield Shortage(int(site_idx[position]), int(role_idx[position]), float(missing[position]))


def fill(desk: MoveDesk, shortage: Shortage) -> None:
    """Take the people from the nearest sites that have them to spare."""
    to_idx, works_as_idx, missing = shortage
    for travel, from_idx in _givers_nearest_first(desk, to_idx, works_as_idx):
        missing -= desk.send(from_idx, to_idx, works_as_idx, missing, travel)
        if missing < 1:
            return


def _givers_nearest_first(desk: MoveDesk, to_idx: int, works_as_idx: int) -> list[tuple[float, int]]:
    # Nobody is taken from where people are seen to wait longer.
    observed, may_offer = desk.situation.state.observed_wait_minutes, desk.pool.may_offer
    return [
        (travel, from_idx)
        for travel, from_idx in desk.situation.reach.to_site(to_idx)
        if may_offer.item(from_idx, works_as_idx)
        and desk.is_reachable(to_idx, travel)
        and not observed.item(from_idx) > observed.item(to_idx)
    ]
