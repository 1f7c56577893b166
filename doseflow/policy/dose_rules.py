"""Dose transfers: to sites that would run out today, and of lots that would expire unused."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import DoseTransfer, Why
from doseflow.domain.forecast import ArrivalForecast
from doseflow.policy.dose_outlook import DoseOutlook, dose_outlook
from doseflow.policy.situation import Situation
from doseflow.policy.stock import Stock
from doseflow.policy.stock_room import StockRoom
from doseflow.units import MINUTES_PER_HOUR


@dataclass(frozen=True, slots=True)
class DoseParams:
    """See docs/background/forecast-and-rules.md."""

    rescue_horizon_hours: float = 48.0
    """Lots that live longer are left to the site's own use."""
    min_rescue_doses: int = 12
    """Fewer doses in danger are not worth a van's trip."""
    typical_fill_share: float = 0.65
    """Doses of a typical day over a site's daily capacity."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("rescue_horizon_hours", 1, 24 * 30),
            ("min_rescue_doses", 1, 10_000),
            ("typical_fill_share", 0, 1),
        ):
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {getattr(self, name)}")


class DoseDesk:
    """Transfers decided so far, with doses counted where they will be."""

    def __init__(
        self, situation: Situation, stock: Stock, room: StockRoom, forecast: ArrivalForecast, params: DoseParams
    ) -> None:
        self._situation, self._stock, self._room, self._params = situation, stock, room, params
        self._city = situation.state.city
        self._outlook: DoseOutlook = dose_outlook(
            situation,
            stock,
            forecast,
            typical_fill_share=params.typical_fill_share,
            horizon_hours=params.rescue_horizon_hours,
        )
        self._supply = self._outlook.supply_doses.copy()
        standing = situation.standing
        self._may_receive = standing.operating & standing.alterable & standing.stock_fresh
        self.transfers: list[DoseTransfer] = []

    @property
    def spare_doses(self) -> FloatArray:
        """Doses on hand and coming beyond a busy rest of the day, (S,), at least 0; NaN where that is unknown."""
        spare: FloatArray = np.maximum(self._supply - self._outlook.busy_needed_doses, 0.0)
        return spare

    def keep_earlier(self) -> None:
        """Pinned transfers, and those sent before that are still of use and can still be carried out."""
        for pin in self._situation.orders.pinned_of(DoseTransfer):
            self._room.keep(pin)
            self._add(pin)
        for transfer in self._situation.orders.sent_of(DoseTransfer):
            if self._is_still_wanted(transfer) and self._room.keep(transfer):
                self._add(transfer)

    def evacuate(self, lot_row: int, why: Why) -> None:
        """Send a lot from a failing fridge to the nearest site that can keep it; no order of expiry holds it back."""
        from_idx = int(self._situation.state.lots.site_idx[lot_row])
        for travel, to_idx in self._situation.reach.from_site(from_idx):
            if self._room.vial_doses(lot_row) == 0 or not self._room.outlives(lot_row, travel):
                return
            if self._may_receive[to_idx]:
                self._ship(lot_row, to_idx, self._room.vial_doses(lot_row), why)

    def relieve_stock_outs(self) -> None:
        """Bring doses to the sites that will run out today, those first that run out soonest."""
        outlook = self._outlook
        short = self._may_receive & (self._supply < outlook.needed_doses)
        for to_idx in sorted(np.flatnonzero(short).tolist(), key=lambda idx: (outlook.hours_left[idx], idx)):
            why = Why(
                "stock_out_ahead",
                {
                    "doses_on_hand": float(self._stock.doses_on_hand[to_idx]),
                    "doses_needed": round(float(outlook.busy_needed_doses[to_idx])),
                    "hours_left": round(float(outlook.hours_left[to_idx]), 1),
                },
            )
            for travel, from_idx in self._situation.reach.to_site(to_idx):
                if not self._room.has_van(from_idx):
                    continue
                self._bring(from_idx, to_idx, travel, why)
                if self._supply[to_idx] >= outlook.busy_needed_doses[to_idx]:
                    break

    def rescue_expiring(self) -> None:
        """Send what would expire unused to the nearest site that will use it in time."""
        lots = self._situation.state.lots
        for lot_row in self._endangered_rows():
            from_idx, product_idx = int(lots.site_idx[lot_row]), int(lots.product_idx[lot_row])
            life = float(self._stock.life_minutes[lot_row])
            why = Why("expiry_ahead", {"hours_to_expiry": round(life / MINUTES_PER_HOUR, 1)})
            left = min(float(self._outlook.at_risk_doses[lot_row]), self._room.vial_doses(lot_row))
            per_vial = int(self._stock.doses_per_vial[lot_row])
            for travel, to_idx in self._situation.reach.from_site(from_idx):
                usable = min(left, self._usable_at(to_idx, life - travel)) // per_vial * per_vial
                if usable < self._params.min_rescue_doses or not self._leaves_first(lot_row, product_idx, travel):
                    continue
                left -= self._ship(lot_row, to_idx, usable, why)

    def _endangered_rows(self) -> list[int]:
        """Lots in danger where a van stands and a neighbour may use enough of them, the shortest life first."""
        site_idx = self._situation.state.lots.site_idx
        rows = np.flatnonzero(self._outlook.at_risk_doses >= self._params.min_rescue_doses)
        rows = rows[[self._room.has_van(idx) for idx in site_idx[rows].tolist()]]
        neighbours = self._city.neighbour_idx[site_idx[rows]]
        life = self._stock.life_minutes[rows]
        usable = self._outlook.used_within(neighbours, life[:, None]) - self._supply[neighbours]
        usable = np.where((neighbours >= 0) & self._may_receive[neighbours], usable, 0.0)
        rows = rows[(usable >= self._params.min_rescue_doses).any(axis=1)]
        by_life: list[int] = rows[np.argsort(self._stock.life_minutes[rows], kind="stable")].tolist()
        return by_life

    def _bring(self, from_idx: int, to_idx: int, travel: float, why: Why) -> None:
        """Take whole vials of one product after the other, lots in the order of expiry, until enough is on its way."""
        target = self._outlook.busy_needed_doses[to_idx]
        for product_idx in self._products_most_first(from_idx, to_idx):
            for lot_row in self._room.lots_first_expired_first(from_idx, product_idx, travel):
                missing = target - self._supply[to_idx]
                if missing <= 0:
                    return
                self._ship(lot_row, to_idx, missing, why)
                if self._room.vial_doses(lot_row) > 0:
                    break

    def _products_most_first(self, from_idx: int, to_idx: int) -> list[int]:
        lots = self._situation.state.lots
        doses: dict[int, int] = {}
        for row in self._room.lot_rows(from_idx):
            product_idx = int(lots.product_idx[row])
            doses[product_idx] = doses.get(product_idx, 0) + self._room.vial_doses(row)
        storable = [idx for idx in doses if doses[idx] > 0 and self._room.may_store(to_idx, idx)]
        return sorted(storable, key=lambda idx: (-doses[idx], idx))

    def _leaves_first(self, lot_row: int, product_idx: int, travel: float) -> bool:
        from_idx = int(self._situation.state.lots.site_idx[lot_row])
        return self._room.lots_first_expired_first(from_idx, product_idx, travel)[:1] == [lot_row]

    def _usable_at(self, site_idx: int, minutes: float) -> float:
        """Doses that a site will use in time beyond what it has."""
        if not self._may_receive[site_idx]:
            return 0.0
        usable = float(self._outlook.used_within(np.array([site_idx]), np.array([minutes]))[0] - self._supply[site_idx])
        return 0.0 if np.isnan(usable) else usable

    def _is_still_wanted(self, transfer: DoseTransfer) -> bool:
        to_idx = self._city.site_to_idx[transfer.to_site_id]
        row = self._room.lot_row(transfer.from_site_id, transfer.from_fridge_id, transfer.lot_number)
        if row is None or not self._may_receive[to_idx]:
            return False
        runs_out = bool(self._supply[to_idx] < self._outlook.busy_needed_doses[to_idx])
        return runs_out or bool(self._stock.failing[row]) or bool(self._outlook.at_risk_doses[row] > 0)

    def _ship(self, lot_row: int, to_idx: int, doses: float, why: Why) -> int:
        """Send doses of a lot into one fridge of the receiver after the other; how many go."""
        sent = 0
        while sent < doses and (transfer := self._room.ship(lot_row, to_idx, doses - sent, why)) is not None:
            self._add(transfer)
            sent += transfer.doses
        return sent

    def _add(self, transfer: DoseTransfer) -> None:
        self.transfers.append(transfer)
        self._supply[self._city.site_to_idx[transfer.to_site_id]] += transfer.doses
