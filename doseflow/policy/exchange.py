"""
The exchange of people between sites, one person a move, by what a person is worth at either end.

Every round makes the moves of the largest net worth that share no site, and values the sites that they touch anew:
what the second person is worth is thus reckoned after the first has been counted. Planners differ in the worth alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.decisions import StaffMove
from doseflow.domain.roles import NUM_ROLES, ROLE_TO_IDX
from doseflow.policy.move_desk import MoveDesk
from doseflow.policy.move_effects import MoveEffect, with_effects
from doseflow.policy.move_reasons import with_reasons
from doseflow.policy.situation import Situation


class PersonWorth(Protocol):
    """What one person is worth, in any unit that both ends of a move share."""

    may_gain: BoolArray
    """Sites that somebody more could be worth anything to, (S,)."""

    def gain(self, to_idx: IntArray, travel_minutes: FloatArray) -> FloatArray:
        """Worth of one more who is sent now, (P, R), to sites and over travels, both (P,)."""

    def loss(self, from_idx: IntArray) -> FloatArray:
        """Worth of one fewer who is sent away now, (P, R), at sites (P,)."""

    def move(
        self, from_idx: int, to_idx: int, role_idx: int, works_as_idx: int, travel_minutes: float, people: int = 1
    ) -> None:
        """Count people as sent."""


@dataclass(frozen=True, slots=True)
class ExchangeParams:
    """When a move is made."""

    least_net: float
    """What a new move must be worth, gain less loss."""
    kept_net: float = 0.0
    """What the first person of a move sent before must be worth more than, for it to stand."""
    most_rounds: int = 40
    worst_wait_first: bool = True
    """Whether nobody is taken from where people are seen to wait longer."""
    relief_wait_minutes: float = 10.0
    """Wait of the moment from which a move is said to relieve a queue."""
    is_in_minutes: bool = False
    """Whether worth is in person-minutes of waiting, which the reason of a move then says."""

    def __post_init__(self) -> None:
        if not self.least_net > self.kept_net:
            raise ValueError("least_net: must be more than kept_net, or plans would flap")
        if not 1 <= self.most_rounds <= 1000:
            raise ValueError(f"most_rounds: must lie in 1..1000, got {self.most_rounds}")
        if not 0 <= self.relief_wait_minutes <= 240:
            raise ValueError(f"relief_wait_minutes: must lie in 0..240, got {self.relief_wait_minutes}")


def exchange_moves(
    situation: Situation, worth: PersonWorth, params: ExchangeParams, *, kept_people: FloatArray | None = None
) -> list[StaffMove]:
    """
    Moves by worth: what is pinned, what was sent and is still worth it, and new ones until none is.

    `kept_people` are those whom no site gives away, (S, R), as the rules keep them unless given.
    """
    desk = MoveDesk(situation, kept_people=kept_people)
    desk.keep_pinned()
    _count(worth, desk, desk.kept)
    _keep_sent(worth, desk, params)
    exchange = Exchange(worth, desk, params)
    for _ in range(params.most_rounds):
        if desk.pool.is_exhausted or not exchange.round():
            break
    new = with_reasons(situation, params.relief_wait_minutes, list(desk.new.values()))
    return [*desk.kept, *(with_effects(situation.state.city, new, exchange.effects) if params.is_in_minutes else new)]


def least_people(situation: Situation) -> FloatArray:
    """People below whom no rule lets a site go, (S, R): its minimum team, or who watches those still seated."""
    minimum = situation.state.city.minimum_team_people.astype(np.float64)
    return np.where(situation.standing.operating[:, None], minimum, situation.needs.give_people)


def _keep_sent(worth: PersonWorth, desk: MoveDesk, params: ExchangeParams) -> None:
    """Keep what is still worth it; one move may be worth it only beside another, so the rest is looked at again."""
    left = desk.situation.orders.sent_of(StaffMove)
    while left:
        nets = _nets_of(worth, desk, left)
        kept = [move for move, net in zip(left, nets, strict=True) if net > params.kept_net and _keep(desk, move)]
        if not kept:
            return
        _count(worth, desk, kept)
        left = [move for move in left if move not in kept]


def _keep(desk: MoveDesk, move: StaffMove) -> bool:
    can_keep = desk.can_keep(move)
    if can_keep:
        desk.keep(move)
    return can_keep


def _nets_of(worth: PersonWorth, desk: MoveDesk, moves: list[StaffMove]) -> list[float]:
    """What the first person of each move is worth."""
    from_idx, to_idx = np.array([desk.ends_of(move) for move in moves]).T
    rows = np.arange(len(moves))
    gain = worth.gain(to_idx, np.array([move.travel_minutes for move in moves]))
    loss = worth.loss(from_idx)
    nets: list[float] = (
        gain[rows, [ROLE_TO_IDX[one.works_as] for one in moves]] - loss[rows, [ROLE_TO_IDX[one.role] for one in moves]]
    ).tolist()
    return nets


def _count(worth: PersonWorth, desk: MoveDesk, moves: list[StaffMove]) -> None:
    for move in moves:
        roles = ROLE_TO_IDX[move.role], ROLE_TO_IDX[move.works_as]
        worth.move(*desk.ends_of(move), *roles, move.travel_minutes, move.people)


class Exchange:
    """
    Rounds of moves over the trips that are allowed and might be worth it.

    Attributes
    ----------
    effects
        What each person sent was worth when they were, in the order of sending.
    """

    def __init__(self, worth: PersonWorth, desk: MoveDesk, params: ExchangeParams) -> None:
        self._worth, self._desk, self._params = worth, desk, params
        state, pairs = desk.situation.state, desk.situation.reach.pairs
        limits = state.limits
        offers = np.asarray(desk.pool.may_offer.any(axis=1))
        may: BoolArray = (desk.may_receive & worth.may_gain)[pairs.to_idx]
        may &= offers[pairs.from_idx]
        may &= pairs.travel_minutes <= limits.max_travel_minutes
        may &= state.open_minutes_left[pairs.to_idx] >= pairs.travel_minutes + limits.min_stay_minutes
        if params.worst_wait_first:
            may &= ~(state.observed_wait_minutes[pairs.from_idx] > state.observed_wait_minutes[pairs.to_idx])
        self._from_idx, self._to_idx = pairs.from_idx[may], pairs.to_idx[may]
        self._travel_minutes = pairs.travel_minutes[may]
        self._may: BoolArray = np.ones((len(self._from_idx), NUM_ROLES, NUM_ROLES), dtype=np.bool_)
        self._shift_minutes = self._travel_minutes + limits.min_stay_minutes
        self._net: FloatArray = np.full(self._may.shape, -np.inf)
        self._stale: BoolArray = np.ones(len(self._from_idx), dtype=np.bool_)
        self.effects: list[MoveEffect] = []

    def round(self) -> bool:
        """Send one person on each of the best moves that share no site; whether anybody went."""
        if not len(self._from_idx):
            return False
        touched: set[int] = set()
        changed: set[int] = set()
        for pair, role_idx, works_as_idx in self._best_first():
            from_idx, to_idx = self._from_idx.item(pair), self._to_idx.item(pair)
            # Where a better move may change what this one is worth, it is looked at again in the next round.
            if from_idx in touched or to_idx in touched:
                touched |= {from_idx, to_idx}
                continue
            travel = self._travel_minutes.item(pair)
            if self._desk.send(from_idx, to_idx, works_as_idx, 1, travel, role_idx):
                self.effects.append(self._effect(pair, role_idx, works_as_idx))
                self._worth.move(from_idx, to_idx, role_idx, works_as_idx, travel)
                touched |= {from_idx, to_idx}
                changed |= {from_idx, to_idx}
            else:
                self._may[pair, role_idx, works_as_idx] = False
        self._net[~self._may] = -np.inf
        sites = list(changed)
        self._stale = np.isin(self._from_idx, sites) | np.isin(self._to_idx, sites)
        return bool(changed)

    def _best_first(self) -> list[tuple[int, int, int]]:
        """Trip, role and role worked as of the moves that are worth it; equal ones over the shortest way first."""
        # The sort is stable and trips are ordered by names, so that the order of sites decides nothing.
        self._look_again(np.flatnonzero(self._stale))
        pairs = np.flatnonzero(self._net.max(axis=(1, 2)) >= self._params.least_net)
        at, role_idx, works_as_idx = np.nonzero(self._net[pairs] >= self._params.least_net)
        pair = pairs[at]
        order = np.lexsort((self._travel_minutes[pair], -self._net[pair, role_idx, works_as_idx]))
        return list(zip(pair[order].tolist(), role_idx[order].tolist(), works_as_idx[order].tolist(), strict=True))

    def _look_again(self, pairs: IntArray) -> None:
        """Reckon trips whose sites have changed; all others are worth what they were."""
        to_idx, from_idx = self._to_idx[pairs], self._from_idx[pairs]
        gain, loss = self._worth.gain(to_idx, self._travel_minutes[pairs]), self._worth.loss(from_idx)
        shift_left = self._desk.pool.longest_shift_minutes()[from_idx]
        is_allowed = self._may[pairs] & (shift_left >= self._shift_minutes[pairs, None, None])
        self._net[pairs] = np.where(is_allowed, gain[:, None, :] - loss[:, :, None], -np.inf)

    def _effect(self, pair: int, role_idx: int, works_as_idx: int) -> MoveEffect:
        """What a move is worth, beside the best that another giver could have done for the same taker."""
        from_idx, to_idx = self._from_idx.item(pair), self._to_idx.item(pair)
        others = np.flatnonzero((self._to_idx == to_idx) & (self._from_idx != from_idx))
        nets = self._net[others].max(axis=(1, 2))
        best = int(nets.argmax()) if len(others) else -1
        helps = best >= 0 and nets[best] > 0
        return MoveEffect(
            (from_idx, to_idx, role_idx, works_as_idx),
            self._net.item(pair, role_idx, works_as_idx),
            float(nets[best]) if helps else 0.0,
            self._from_idx.item(others[best]) if helps else None,
        )
