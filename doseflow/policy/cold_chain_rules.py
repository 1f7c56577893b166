"""Cold chain: what is lost goes out of use, and what is in danger goes to another fridge, or else to another site."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray
from doseflow.domain.decisions import FridgeMove, MarkUnusable, Why
from doseflow.policy.dose_rules import DoseDesk
from doseflow.policy.situation import Situation
from doseflow.policy.stock import Stock
from doseflow.policy.stock_room import StockRoom
from doseflow.units import MINUTES_PER_HOUR

RECALLED = "recalled"
_ROUNDING_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class ColdChainParams:
    """See docs/background/forecast-and-rules.md."""

    act_below_minutes: float = 180.0
    """Excursion budget left below which a lot outside its band is moved."""
    act_before_edge_minutes: float = 60.0
    """Without power, a lot is moved when its fridge is so near to leaving the band."""
    warming_celsius_per_hour: float = 1.0
    """Warming of a fridge without power."""
    full_share: float = 0.95
    """A fridge filled beyond this share of its volume is relieved, and no delivery fills one further."""
    relieved_share: float = 0.85
    """A full fridge is relieved down to this share, into others filled no further."""
    outer_share: float = 0.1
    """Outer part of the band, on each side, in which the set-point is corrected."""
    set_point_step_celsius: float = 1.0
    """How far from the middle of the band the set-point is put against the drift."""
    pre_cool_share: float = 0.25
    """Where in the band a fridge is pre-cooled to, from its low end."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("act_below_minutes", 0, 10_000),
            ("act_before_edge_minutes", 0, 10_000),
            ("warming_celsius_per_hour", 0.01, 100),
            ("full_share", 0.1, 2),
            ("relieved_share", 0.1, 2),
            ("outer_share", 0, 0.25),
            ("set_point_step_celsius", 0, 10),
            ("pre_cool_share", 0, 0.5),
        ):
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}: must lie in {low:g}..{high:g}, got {getattr(self, name)}")
        if self.relieved_share > self.full_share:
            raise ValueError("relieved_share: must be at most full_share, or doses would go to and fro")


def unusable_lots(situation: Situation, stock: Stock) -> list[MarkUnusable]:
    """Lots that are past their expiry or their excursion budget: all of their doses go out of use."""
    state, city = situation.state, situation.state.city
    lots, standing = state.lots, situation.standing
    doses = lots.unopened_doses + lots.open_vial_doses
    # A recall holds at a frozen site too, and however old the reading is.
    may_act = (standing.alterable & standing.stock_fresh)[lots.site_idx] | stock.recalled
    known_place = (lots.fridge_row >= 0) & may_act
    pinned = situation.orders.pinned_of(MarkUnusable)
    refused = {decision.key for decision in state.commitments.refused}
    not_again = situation.orders.barred_keys | {pin.key for pin in pinned}
    marks = []
    for row in np.flatnonzero(~stock.usable & (doses > 0) & known_place).tolist():
        mark = MarkUnusable(
            site_id=city.sites[int(lots.site_idx[row])].site_id,
            fridge_id=state.fridges.fridge_id[int(lots.fridge_row[row])],
            product_id=city.products[int(lots.product_idx[row])].product_id,
            lot_number=lots.lot_number[row],
            doses=int(doses[row]),
            why=_why_unusable(situation, stock, row),
        )
        if mark.key not in not_again or (stock.recalled[row] and mark.key in refused):
            marks.append(mark)
    return [*pinned, *marks]


def lots_out_of_danger(
    situation: Situation, stock: Stock, room: StockRoom, desk: DoseDesk, params: ColdChainParams
) -> list[FridgeMove]:
    """
    Moves out of failing and over-full fridges, into other fridges of the site; what finds no room there goes by van.

    What would be lost first moves first.
    """
    minutes_to_loss, in_danger = _danger(situation, stock, params)
    moves = _kept_moves(situation, stock, room, params)
    rows = np.flatnonzero(in_danger)
    for row in rows[np.argsort(minutes_to_loss[rows], kind="stable")].tolist():
        why = _why_failing(stock, row, float(minutes_to_loss[row]))
        moves += _to_other_fridges(situation, room, row, room.vial_doses(row), why)
        if room.vial_doses(row) > 0:
            desk.evacuate(row, why)
    return moves + _out_of_full_fridges(situation, stock, room, params)


def _why_failing(stock: Stock, row: int, minutes_to_loss: float) -> Why:
    """What is known of the danger; a figure that is not is left out."""
    facts: dict[str, float | str] = {}
    if np.isfinite(stock.celsius[row]):
        facts["temperature_celsius"] = round(float(stock.celsius[row]), 1)
    if np.isfinite(stock.budget_left_minutes[row]):
        facts["minutes_to_loss"] = round(minutes_to_loss)
    return Why("failing_fridge", facts)


def _why_unusable(situation: Situation, stock: Stock, row: int) -> Why:
    if stock.recalled[row]:
        return Why(RECALLED)
    if stock.life_minutes[row] <= 0:
        return Why("expired")
    lots = situation.state.lots
    excursion = situation.state.fridges.excursion_minutes[int(lots.fridge_row[row])]
    budget = situation.state.city.products[int(lots.product_idx[row])].excursion_budget_minutes
    return Why("excursion_spent", {"excursion_minutes": round(float(excursion)), "budget_minutes": budget})


def _danger(situation: Situation, stock: Stock, params: ColdChainParams) -> tuple[FloatArray, BoolArray]:
    """Minutes until each lot is lost where it lies, infinite where safe; whether it must move now; both (lots,)."""
    state, standing = situation.state, situation.standing
    lots, products = state.lots, state.city.products
    high = np.array([product.storage_high_celsius for product in products])[lots.product_idx]
    # Where the budget spent, or the temperature without power, is unknown, nothing is taken to be left.
    budget_left = np.nan_to_num(stock.budget_left_minutes)
    to_edge = (high - stock.celsius) / params.warming_celsius_per_hour * MINUTES_PER_HOUR
    to_edge = np.maximum(np.nan_to_num(to_edge), 0.0)
    outside = stock.excess_celsius > 0
    unpowered = stock.failing & ~outside
    minutes_to_loss = np.where(outside, budget_left, np.where(unpowered, to_edge + budget_left, np.inf))
    outside_too_long = outside & (budget_left <= params.act_below_minutes)
    leaving_soon = unpowered & (to_edge <= params.act_before_edge_minutes)
    may_act = standing.alterable & standing.stock_fresh & standing.fridges_fresh
    must_leave = outside_too_long | leaving_soon | stock.given_up
    in_danger: BoolArray = must_leave & stock.usable & (stock.free_doses > 0)
    return minutes_to_loss, in_danger & may_act[lots.site_idx]


def _kept_moves(situation: Situation, stock: Stock, room: StockRoom, params: ColdChainParams) -> list[FridgeMove]:
    """Pinned moves, and those sent before whose fridge is still failing or still too full."""
    fridges, lots = situation.state.fridges, situation.state.lots
    kept = situation.orders.pinned_of(FridgeMove)
    for move in kept:
        room.keep_within(move)
    for move in situation.orders.sent_of(FridgeMove):
        row = room.lot_row(move.site_id, move.from_fridge_id, move.lot_number)
        if row is None:
            continue
        fridge_row = int(lots.fridge_row[row])
        limit_litres = params.relieved_share * fridges.volume_possible_litres[fridge_row]
        wanted = stock.failing[row] or fridges.volume_used_litres[fridge_row] > limit_litres
        if wanted and room.keep_within(move):
            kept.append(move)
    return kept


def _to_other_fridges(
    situation: Situation, room: StockRoom, row: int, doses: int, why: Why, *, filled_share: float = 1.0
) -> list[FridgeMove]:
    """Move doses of a lot into the other fridges of its site, the emptiest first."""
    lots = situation.state.lots
    site_idx, product_idx, from_row = int(lots.site_idx[row]), int(lots.product_idx[row]), int(lots.fridge_row[row])
    moves: list[FridgeMove] = []
    while doses > 0:
        to_row = room.fridge_for(site_idx, product_idx, filled_share=filled_share, but_not=from_row)
        move = None if to_row is None else room.move_within(row, to_row, doses, why, filled_share=filled_share)
        if move is None:
            break
        moves.append(move)
        doses -= move.doses
    return moves


def _out_of_full_fridges(
    situation: Situation, stock: Stock, room: StockRoom, params: ColdChainParams
) -> list[FridgeMove]:
    """Move what expires last out of fridges that are too full to keep their temperature."""
    fridges, standing = situation.state.fridges, situation.standing
    filled_share = fridges.volume_used_litres / fridges.volume_possible_litres
    may_act = standing.alterable & standing.stock_fresh
    full = (filled_share > params.full_share) & may_act[fridges.site_idx]
    moves: list[FridgeMove] = []
    for fridge_row in np.flatnonzero(full).tolist():
        why = Why("fridge_full", {"volume_used_share": round(float(filled_share[fridge_row]), 2)})
        kept_litres = params.relieved_share * float(fridges.volume_possible_litres[fridge_row])
        excess_litres = float(fridges.volume_used_litres[fridge_row]) - room.leaving_litres(fridge_row) - kept_litres
        for row in _lots_last_expired_first(situation, stock, room, fridge_row):
            if excess_litres <= 0:
                break
            litres_per_vial = float(stock.litres_per_dose[row]) * int(stock.doses_per_vial[row])
            doses = math.ceil(excess_litres / litres_per_vial - _ROUNDING_SLACK) * int(stock.doses_per_vial[row])
            doses = min(room.vial_doses(row), doses)
            # Filled no further than this one is emptied, or the doses would come back next.
            made = _to_other_fridges(situation, room, row, doses, why, filled_share=params.relieved_share)
            excess_litres -= sum(move.doses for move in made) * float(stock.litres_per_dose[row])
            moves += made
    return moves


def _lots_last_expired_first(situation: Situation, stock: Stock, room: StockRoom, fridge_row: int) -> list[int]:
    lots = situation.state.lots
    rows = [
        row
        for row in room.lot_rows(int(situation.state.fridges.site_idx[fridge_row]))
        if lots.fridge_row[row] == fridge_row and stock.usable[row] and room.vial_doses(row) > 0
    ]
    return sorted(rows, key=lambda row: -float(np.nan_to_num(stock.life_minutes[row])))
