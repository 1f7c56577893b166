"""The exchange by learned values: moves between sites, and changes of post within one, as far as they save the most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import StaffMove
from doseflow.domain.roles import ROLE_TO_IDX
from doseflow.policy.exchange import Exchange, ExchangeParams, least_people
from doseflow.policy.move_desk import MoveDesk
from doseflow.policy.move_reasons import with_reasons
from doseflow.policy.site_values import SiteValues
from doseflow.policy.situation import Situation


@dataclass(frozen=True, slots=True)
class ValueExchangeParams:
    """When a move is worth it."""

    least_gain_minutes: float = 300.0
    kept_gain_minutes: float = 0.0
    least_post_minutes: float = 200.0
    """Person-minutes that a change of post must save; it costs no travel, but the person's one move of the shift."""
    kept_post_minutes: float = 0.0
    worst_wait_first: bool = True
    most_rounds: int = 40


def value_moves(situation: Situation, values: SiteValues, params: ValueExchangeParams) -> list[StaffMove]:
    """Moves and changes of post that save the most waiting."""
    desk = MoveDesk(situation, kept_people=least_people(situation))
    desk.keep_pinned()
    for move in desk.kept:
        _count(values, desk, move)
    _keep_sent(values, desk, params)
    exchange = Exchange(
        values,
        desk,
        ExchangeParams(
            least_net=params.least_gain_minutes,
            kept_net=params.kept_gain_minutes,
            worst_wait_first=params.worst_wait_first,
        ),
    )
    for _ in range(params.most_rounds):
        if not exchange.round():
            break
    for _ in range(params.most_rounds):
        if not _change_posts(values, desk, params):
            break
    return [*desk.kept, *with_reasons(situation, 10.0, list(desk.new.values()))]


def _count(values: SiteValues, desk: MoveDesk, move: StaffMove) -> None:
    from_idx, to_idx = desk.ends_of(move)
    values.move(
        from_idx, to_idx, ROLE_TO_IDX[move.role], ROLE_TO_IDX[move.works_as], move.travel_minutes, move.people
    )


def _keep_sent(values: SiteValues, desk: MoveDesk, params: ValueExchangeParams) -> None:
    left = desk.situation.orders.sent_of(StaffMove)
    while left:
        kept = [move for move in left if _is_worth_it(values, desk, move, params) and desk.can_keep(move)]
        for move in kept:
            desk.keep(move)
            _count(values, desk, move)
        if not kept:
            return
        left = [move for move in left if move not in kept]


def _is_worth_it(values: SiteValues, desk: MoveDesk, move: StaffMove, params: ValueExchangeParams) -> bool:
    from_idx, to_idx = desk.ends_of(move)
    role_idx, works_as_idx = ROLE_TO_IDX[move.role], ROLE_TO_IDX[move.works_as]
    if from_idx == to_idx:
        return bool(values.post(np.array([from_idx]))[0, role_idx, works_as_idx] > params.kept_post_minutes)
    gain = values.gain(np.array([to_idx]), np.array([move.travel_minutes]))[0, works_as_idx]
    return bool(gain - values.loss(np.array([from_idx]))[0, role_idx] > params.kept_gain_minutes)


def _change_posts(values: SiteValues, desk: MoveDesk, params: ValueExchangeParams) -> bool:
    """Change the most worthwhile post of every site that has one; whether any was changed."""
    limits = desk.situation.state.city.limits
    stays_open = desk.situation.state.open_minutes_left >= limits.min_stay_minutes
    sites = np.flatnonzero(desk.may_receive & desk.pool.may_offer.any(axis=1) & stays_open)
    if not len(sites):
        return False
    shift_left = desk.pool.longest_shift_minutes()[sites]
    saved: FloatArray = np.where(shift_left >= limits.min_stay_minutes, values.post(sites), -np.inf)
    best = saved.reshape(len(sites), -1).argmax(axis=1)
    has_changed = False
    for site_idx, place, minutes in zip(sites.tolist(), best.tolist(), saved.reshape(len(sites), -1).max(axis=1), strict=True):
        if minutes < params.least_post_minutes:
            continue
        role_idx, works_as_idx = divmod(place, saved.shape[2])
        if desk.send(site_idx, site_idx, works_as_idx, 1, 0.0, role_idx):
            values.move(site_idx, site_idx, role_idx, works_as_idx, 0.0)
            has_changed = True
    return has_changed
