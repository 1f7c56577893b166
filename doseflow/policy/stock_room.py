"""What can still be moved: the bookkeeping of vials, cold volume and vans while decisions are made."""

from __future__ import annotations

import math
from itertools import takewhile

from doseflow.domain.decisions import Decision, DoseTransfer, FridgeMove, Why
from doseflow.domain.forecast import ArrivalForecast
from doseflow.policy.rows_by_site import RowsBySite
from doseflow.policy.situation import Situation
from doseflow.policy.spare_doses import spare_doses
from doseflow.policy.stock import Stock
from doseflow.policy.van_trips import VanTrips

_VOLUME_SLACK_LITRES = 1e-6
_SAFE_BUDGET_SHARE = 0.5
"""A fridge whose own content has spent more of its excursion budget takes nothing in: its sensor counts for all."""


class StockRoom:
    """
    Vials, cold volume and vans, fewer and fewer as they are taken.

    Invariants: a lot gives no more than its free whole vials, a site no more than its spare doses (a failing fridge
    may be emptied whole), a fridge takes no more than its free volume, a van makes one trip and carries no more than
    it holds.
    """

    def __init__(
        self, situation: Situation, stock: Stock, forecast: ArrivalForecast, *, most_filled_share: float = 1.0
    ) -> None:
        state = situation.state
        self._situation, self._stock, self._city = situation, stock, state.city
        self._fridges, self._lots = state.fridges, state.lots
        self.lot_rows = RowsBySite(self._lots.site_idx, self._city.num_sites)
        self._fridge_rows = RowsBySite(self._fridges.site_idx, self._city.num_sites)
        self._vials: list[int] = stock.free_vial_doses.tolist()
        self._spare: list[float] = spare_doses(situation, stock, forecast).tolist()
        self._room: list[float] = (self._fridges.volume_possible_litres - self._fridges.volume_used_litres).tolist()
        self._most_filled_share = most_filled_share
        self._leaving_litres = [0.0] * len(self._fridges.fridge_id)
        self._moved_within: set[tuple[int, int]] = set()
        self._vans = VanTrips(state, situation.orders)
        self._taken_keys = set(situation.orders.barred_keys)
        for transfer in situation.orders.bound_of(DoseTransfer):
            self._book_arrival(transfer.to_site_id, transfer)
        for move in situation.orders.bound_of(FridgeMove):
            self._book_arrival(move.site_id, move)
        for promised in state.commitments.acknowledged:
            self._book_promised_departure(promised)

    def leaving_litres(self, fridge_row: int) -> float:
        """Volume that decisions made so far, and promised ones, take out of a fridge."""
        return self._leaving_litres[fridge_row]

    def vial_doses(self, lot_row: int) -> int:
        """Free doses of a lot in whole vials."""
        return self._vials[lot_row]

    def has_van(self, site_idx: int) -> bool:
        """Whether a free van stands at a site."""
        return self._vans.stands_idle_at(site_idx)

    def lots_first_expired_first(self, site_idx: int, product_idx: int, travel_minutes: float) -> list[int]:
        """
        Lots of a product that may leave a site now, in the order in which they must.

        None where doses of the product move between the site's own fridges in this cycle, and none after one of which
        nobody knows the fridge: the order would be broken.
        """
        standing = self._situation.standing
        may_give = standing.alterable[site_idx] and standing.stock_fresh[site_idx]
        if (site_idx, product_idx) in self._moved_within or not may_give:
            return []
        life = self._stock.life_minutes
        rows = [
            row
            for row in self.lot_rows(site_idx)
            if self._lots.product_idx[row] == product_idx
            and self._stock.usable[row]
            and self.outlives(row, travel_minutes)
            and self._vials[row] > 0
        ]
        rows.sort(key=lambda row: float(life[row]))
        return list(takewhile(lambda row: self._lots.fridge_row[row] >= 0, rows))

    def outlives(self, lot_row: int, travel_minutes: float) -> bool:
        """Whether a lot has life enough left when a trip ends; not where its expiry is unknown."""
        return bool(self._stock.life_minutes[lot_row] >= travel_minutes + self._city.limits.min_lot_life_minutes)

    def fridge_for(
        self, site_idx: int, product_idx: int, *, filled_share: float = 1.0, but_not: int = -1
    ) -> int | None:
        """The fridge of a site that is powered, in the product's band and has the most room; None where none is."""
        room = {row: self._litres_free(row, filled_share) for row in self._fridge_rows(site_idx) if row != but_not}
        fitting = [row for row, litres in room.items() if litres > 0 and self._is_safe(row, product_idx)]
        return max(fitting, key=lambda row: (room[row], -row)) if fitting else None

    def move_within(
        self, lot_row: int, to_fridge_row: int, doses: int, why: Why, *, filled_share: float = 1.0
    ) -> FridgeMove | None:
        """Move up to so many doses of a lot to another fridge of its site, which may be filled to `filled_share`."""
        site_idx = int(self._lots.site_idx[lot_row])
        doses = self._whole_vials(
            lot_row, min(doses, self._vials[lot_row], self._doses_of_room(lot_row, to_fridge_row, filled_share))
        )
        product_idx = int(self._lots.product_idx[lot_row])
        move = FridgeMove(
            site_id=self._city.sites[site_idx].site_id,
            product_id=self._city.products[product_idx].product_id,
            lot_number=self._lots.lot_number[lot_row],
            from_fridge_id=self._fridges.fridge_id[int(self._lots.fridge_row[lot_row])],
            to_fridge_id=self._fridges.fridge_id[to_fridge_row],
            doses=doses,
            why=why,
        )
        if doses <= 0 or move.key in self._taken_keys:
            return None
        self._book_vials(lot_row, to_fridge_row, doses)
        self._moved_within.add((site_idx, product_idx))
        self._taken_keys.add(move.key)
        return move

    def ship(self, lot_row: int, to_idx: int, doses: float, why: Why) -> DoseTransfer | None:
        """
        Send up to so many doses of a lot to another site, as far as spare, room and van hold; None where nothing goes.

        A failing fridge may be emptied whatever its site can spare, and into the last free litre.
        """
        from_idx, product_idx = int(self._lots.site_idx[lot_row]), int(self._lots.product_idx[lot_row])
        filled_share = 1.0 if self._stock.failing[lot_row] else self._most_filled_share
        to_fridge_row = self.fridge_for(to_idx, product_idx, filled_share=filled_share)
        van_idx = self._vans.van_for(from_idx, to_idx)
        if to_fridge_row is None or van_idx is None or not self.may_store(to_idx, product_idx):
            return None
        van_doses = self._vans.litres_left(van_idx) / self._stock.litres_per_dose[lot_row]
        spare = math.inf if self._stock.failing[lot_row] else self._spare[from_idx]
        asked = min(
            self._vials[lot_row],
            self._doses_of_room(lot_row, to_fridge_row, filled_share),
            van_doses,
            spare,
            self._vials_up(lot_row, doses),
        )
        transfer = self._transfer(lot_row, to_idx, to_fridge_row, van_idx, self._whole_vials(lot_row, asked), why)
        if transfer.doses <= 0 or transfer.key in self._taken_keys:
            return None
        self._book_shipment(transfer, lot_row, to_fridge_row)
        return transfer

    def keep(self, transfer: DoseTransfer) -> bool:
        """Book a transfer ordered before, unchanged; False, and nothing booked, where it cannot be carried out."""
        sites = self._city.site_to_idx
        from_idx, to_idx = sites[transfer.from_site_id], sites[transfer.to_site_id]
        lot_row = self._lot_row(from_idx, transfer.from_fridge_id, transfer.lot_number)
        to_fridge_row = self._fridge_row(to_idx, transfer.to_fridge_id)
        van_idx = self._city.van_to_idx.get(transfer.van_id, -1)
        if lot_row is None or to_fridge_row is None or not self._vans.can_go(van_idx, from_idx, to_idx):
            return False
        product_idx = int(self._lots.product_idx[lot_row])
        litres = transfer.doses * float(self._stock.litres_per_dose[lot_row])
        spare = math.inf if self._stock.failing[lot_row] else self._spare[from_idx]
        may_leave = (
            self.outlives(lot_row, transfer.travel_minutes)
            if self._stock.failing[lot_row]
            else self.lots_first_expired_first(from_idx, product_idx, transfer.travel_minutes)[:1] == [lot_row]
        )
        can_go = (
            may_leave
            and transfer.doses <= min(self._vials[lot_row], spare)
            and self._is_safe(to_fridge_row, product_idx)
            and litres <= min(self._room[to_fridge_row], self._vans.litres_left(van_idx)) + _VOLUME_SLACK_LITRES
        )
        if can_go:
            self._book_shipment(transfer, lot_row, to_fridge_row)
        return can_go

    def keep_within(self, move: FridgeMove) -> bool:
        """Book a move between fridges ordered before, unchanged; False where it cannot be carried out any more."""
        site_idx = self._city.site_to_idx[move.site_id]
        lot_row = self._lot_row(site_idx, move.from_fridge_id, move.lot_number)
        to_fridge_row = self._fridge_row(site_idx, move.to_fridge_id)
        if lot_row is None or to_fridge_row is None:
            return False
        product_idx = int(self._lots.product_idx[lot_row])
        can_go = (
            bool(self._stock.usable[lot_row])
            and self._is_safe(to_fridge_row, product_idx)
            and move.doses <= self._vials[lot_row]
            and move.doses <= self._doses_of_room(lot_row, to_fridge_row)
        )
        if can_go:
            self._book_vials(lot_row, to_fridge_row, move.doses)
            self._moved_within.add((site_idx, product_idx))
            self._taken_keys.add(move.key)
        return can_go

    def lot_row(self, site_id: str, fridge_id: str, lot_number: str) -> int | None:
        """Row of a lot by what a decision calls it; None where it is not there."""
        return self._lot_row(self._city.site_to_idx[site_id], fridge_id, lot_number)

    def may_store(self, site_idx: int, product_idx: int) -> bool:
        """Whether a site may store and give a product."""
        return self._city.products[product_idx].product_id in self._city.sites[site_idx].products

    def _is_safe(self, fridge_row: int, product_idx: int) -> bool:
        fridges, product = self._fridges, self._city.products[product_idx]
        site_id = self._city.sites[int(fridges.site_idx[fridge_row])].site_id
        incidents = self._situation.state.commitments.incidents
        return bool(
            fridges.power_on[fridge_row] == 1
            and not incidents.is_failed(site_id, fridges.fridge_id[fridge_row])
            and product.storage_low_celsius <= fridges.temperature_celsius[fridge_row] <= product.storage_high_celsius
            and not fridges.excursion_minutes[fridge_row] > _SAFE_BUDGET_SHARE * product.excursion_budget_minutes
        )

    def _litres_free(self, fridge_row: int, filled_share: float) -> float:
        return self._room[fridge_row] - (1 - filled_share) * float(self._fridges.volume_possible_litres[fridge_row])

    def _doses_of_room(self, lot_row: int, fridge_row: int, filled_share: float = 1.0) -> float:
        litres = self._litres_free(fridge_row, filled_share) + _VOLUME_SLACK_LITRES
        return litres / float(self._stock.litres_per_dose[lot_row])

    def _whole_vials(self, lot_row: int, doses: float) -> int:
        per_vial = int(self._stock.doses_per_vial[lot_row])
        return max(0, math.floor(doses / per_vial)) * per_vial

    def _vials_up(self, lot_row: int, doses: float) -> float:
        per_vial = int(self._stock.doses_per_vial[lot_row])
        return math.ceil(doses / per_vial) * per_vial

    def _transfer(
        self, lot_row: int, to_idx: int, to_fridge_row: int, van_idx: int, doses: int, why: Why
    ) -> DoseTransfer:
        from_idx = int(self._lots.site_idx[lot_row])
        return DoseTransfer(
            from_site_id=self._city.sites[from_idx].site_id,
            to_site_id=self._city.sites[to_idx].site_id,
            product_id=self._city.products[int(self._lots.product_idx[lot_row])].product_id,
            lot_number=self._lots.lot_number[lot_row],
            from_fridge_id=self._fridges.fridge_id[int(self._lots.fridge_row[lot_row])],
            to_fridge_id=self._fridges.fridge_id[to_fridge_row],
            van_id=self._city.vans[van_idx].van_id,
            doses=doses,
            travel_minutes=self._city.travel_by_pair[from_idx, to_idx],
            why=why,
        )

    def _book_shipment(self, transfer: DoseTransfer, lot_row: int, to_fridge_row: int) -> None:
        sites = self._city.site_to_idx
        from_idx, to_idx = sites[transfer.from_site_id], sites[transfer.to_site_id]
        van_idx = self._city.van_to_idx[transfer.van_id]
        self._vans.load(van_idx, from_idx, to_idx, transfer.doses * float(self._stock.litres_per_dose[lot_row]))
        if not self._stock.failing[lot_row]:
            self._spare[from_idx] -= transfer.doses
        self._book_vials(lot_row, to_fridge_row, transfer.doses)
        self._taken_keys.add(transfer.key)

    def _book_vials(self, lot_row: int, to_fridge_row: int, doses: int) -> None:
        litres = doses * float(self._stock.litres_per_dose[lot_row])
        self._vials[lot_row] -= doses
        self._room[to_fridge_row] -= litres
        self._leaving_litres[int(self._lots.fridge_row[lot_row])] += litres

    def _book_arrival(self, site_id: str, decision: DoseTransfer | FridgeMove) -> None:
        """Take the room that something on its way will fill."""
        row = self._fridge_row(self._city.site_to_idx[site_id], decision.to_fridge_id)
        product_idx = self._city.product_to_idx.get(decision.product_id)
        if row is not None and product_idx is not None:
            product = self._city.products[product_idx]
            self._room[row] -= decision.doses * product.litres_per_vial / product.doses_per_vial

    def _book_promised_departure(self, decision: Decision) -> None:
        """Note the volume of what a site has promised to take out of a fridge and its report still shows there."""
        if not isinstance(decision, DoseTransfer | FridgeMove):
            return
        site_id = decision.from_site_id if isinstance(decision, DoseTransfer) else decision.site_id
        site_idx = self._city.site_to_idx.get(site_id)
        lot_row = None if site_idx is None else self._lot_row(site_idx, decision.from_fridge_id, decision.lot_number)
        if lot_row is not None:
            litres = decision.doses * float(self._stock.litres_per_dose[lot_row])
            self._leaving_litres[int(self._lots.fridge_row[lot_row])] += litres

    def _fridge_row(self, site_idx: int, fridge_id: str) -> int | None:
        return next((row for row in self._fridge_rows(site_idx) if self._fridges.fridge_id[row] == fridge_id), None)

    def _lot_row(self, site_idx: int, fridge_id: str, lot_number: str) -> int | None:
        fridge_row = self._fridge_row(site_idx, fridge_id)
        return next(
            (
                row
                for row in self.lot_rows(site_idx)
                if self._lots.fridge_row[row] == fridge_row and self._lots.lot_number[row] == lot_number
            ),
            None,
        )
