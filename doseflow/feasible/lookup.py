"""Where things stand in the tables of a state: rows by site, and by what a decision names. No rule is judged here."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from doseflow.domain.city import IntArray
from doseflow.domain.decisions import DoseTransfer, FridgeMove
from doseflow.domain.roles import NUM_ROLES
from doseflow.domain.state import CityState
from doseflow.units import epoch_minutes_from_datetime

SECONDS_PER_MINUTE = 60
_UNKNOWN = -1
WHOLE_TOLERANCE = 1e-9
"""Slack against rounding when a share of people or a volume is turned into a whole number."""


def whole_below(amount: float) -> int:
    """Largest whole number not above `amount`, forgiving the last digits of a float; at least 0."""
    return max(0, math.floor(amount + WHOLE_TOLERANCE))


class RowsBySite:
    """Rows of a table by site, from its `site_idx` column (rows,)."""

    def __init__(self, site_idx: IntArray, num_sites: int) -> None:
        self._order = np.argsort(site_idx, kind="stable")
        self._starts = np.searchsorted(site_idx[self._order], np.arange(num_sites + 1)).tolist()

    def __call__(self, site_idx: int) -> list[int]:
        """Rows of one site, in the order of the table."""
        rows: list[int] = self._order[self._starts[site_idx] : self._starts[site_idx + 1]].tolist()
        return rows


class StateLookup:
    """A state, and the ways into its tables; whole columns are read once, single sites only when asked for."""

    def __init__(self, state: CityState) -> None:
        self.state = state
        self.city = state.city
        self.limits = state.limits
        self.as_of_minutes = epoch_minutes_from_datetime(state.as_of)
        self._groups: dict[int, dict[tuple[int, int], tuple[int, ...]]] = {}
        self._fridges: dict[int, dict[str, int]] = {}
        self._lots: dict[int, dict[tuple[int, str], int]] = {}
        self.spare_doses: dict[int, int | None] = {}
        """What sites can spare, as far as it was reckoned already."""

    def name(self, site_idx: int) -> str:
        """What people call the site."""
        return self.city.sites[site_idx].name

    def site_id(self, site_idx: int) -> str:
        """The id of the site."""
        return self.city.sites[site_idx].site_id

    # Staff.

    @cached_property
    def free_people(self) -> list[int]:
        """People of each row of the staff table that no acknowledged order has taken."""
        staff = self.state.staff
        free: list[int] = np.maximum(staff.people - staff.reserved_people, 0).tolist()
        return free

    @cached_property
    def on_duty(self) -> list[list[int]]:
        """Free people by site and role, (S, R)."""
        staff, size = self.state.staff, self.city.num_sites * NUM_ROLES
        cells = staff.site_idx * NUM_ROLES + staff.role_idx
        people = np.bincount(cells, weights=np.asarray(self.free_people, dtype=np.float64), minlength=size)
        by_role: list[list[int]] = people.astype(np.int64).reshape(-1, NUM_ROLES).tolist()
        return by_role

    @cached_property
    def _staff_columns(self) -> tuple[list[int], list[int], RowsBySite]:
        staff = self.state.staff
        ends = np.nan_to_num(staff.shift_ends_epoch_minutes * SECONDS_PER_MINUTE, nan=-1.0)
        return (
            staff.role_idx.tolist(),
            np.rint(ends).astype(np.int64).tolist(),
            RowsBySite(staff.site_idx, self.city.num_sites),
        )

    def group_rows(self, site_idx: int, role_idx: int, shift_ends_epoch_minutes: float) -> tuple[int, ...]:
        """Rows of the staff group at a site with a role and an end of shift; empty where there is none."""
        groups = self._groups.get(site_idx)
        if groups is None:
            roles, ends, rows_of = self._staff_columns
            found: dict[tuple[int, int], tuple[int, ...]] = {}
            for row in rows_of(site_idx):
                key = (roles[row], ends[row])
                found[key] = (*found.get(key, ()), row)
            groups = self._groups[site_idx] = found
        return groups.get((role_idx, round(shift_ends_epoch_minutes * SECONDS_PER_MINUTE)), ())

    def group_people(self, rows: tuple[int, ...]) -> int:
        """Free people of some rows of the staff table."""
        return sum([self.free_people[row] for row in rows])

    def qualified_people(self, rows: tuple[int, ...], works_as: tuple[int, ...], *, may_still_move: bool) -> int:
        """Free people of some rows who may fill any of the roles and, where asked, have a move left in their shift."""
        staff, most, total = self.state.staff, self.limits.max_moves_per_shift, 0
        for row in rows:
            is_tired = may_still_move and staff.moves_today.item(row) >= most
            if not is_tired and any(staff.qualified.item(row, role_idx) for role_idx in works_as):
                total += self.free_people[row]
        return total

    # Stations.

    @cached_property
    def _open_now(self) -> list[list[int]]:
        known = np.nan_to_num(self.state.stations_open, nan=float(_UNKNOWN))
        counts: list[list[int]] = np.rint(known).astype(np.int64).tolist()
        return counts

    def open_now(self, site_idx: int, stage_idx: int) -> int | None:
        """Stations of a stage that are open, None where unknown."""
        count = self._open_now[site_idx][stage_idx]
        return None if count == _UNKNOWN else count

    # Doses and fridges.

    @cached_property
    def _lot_rows(self) -> RowsBySite:
        return RowsBySite(self.state.lots.site_idx, self.city.num_sites)

    @cached_property
    def _fridge_rows(self) -> RowsBySite:
        return RowsBySite(self.state.fridges.site_idx, self.city.num_sites)

    def lot_rows(self, site_idx: int) -> list[int]:
        """Rows of the lots at a site."""
        return self._lot_rows(site_idx)

    def fridge_row(self, site_idx: int, fridge_id: str) -> int | None:
        """Row of a fridge of a site, None where the site has no such fridge."""
        fridges = self._fridges.get(site_idx)
        if fridges is None:
            ids = self.state.fridges.fridge_id
            fridges = self._fridges[site_idx] = {ids[row]: row for row in reversed(self._fridge_rows(site_idx))}
        return fridges.get(fridge_id)

    def lot_row(self, site_idx: int, fridge_row: int, lot_number: str) -> int | None:
        """Row of a lot in a fridge, None where it is not there."""
        lots = self._lots.get(site_idx)
        if lots is None:
            table = self.state.lots
            lots = self._lots[site_idx] = {
                (table.fridge_row.item(row), table.lot_number[row]): row for row in reversed(self.lot_rows(site_idx))
            }
        return lots.get((fridge_row, lot_number))

    def free_doses(self, lot_row: int) -> int:
        """Unopened doses of a lot row that no acknowledged order has taken."""
        lots = self.state.lots
        return max(0, int(lots.unopened_doses.item(lot_row)) - int(lots.reserved_doses.item(lot_row)))

    def doses_per_vial(self, product_idx: int) -> int:
        """Doses in a vial of a product."""
        return self.city.products[product_idx].doses_per_vial

    def free_vial_doses(self, lot_row: int) -> int:
        """Free doses of a lot row that are whole vials."""
        per_vial = self.doses_per_vial(int(self.state.lots.product_idx.item(lot_row)))
        return self.free_doses(lot_row) // per_vial * per_vial

    def litres_per_dose(self, product_idx: int) -> float:
        """Cold volume of one dose of a product, in its vial."""
        product = self.city.products[product_idx]
        return product.litres_per_vial / product.doses_per_vial

    def life_minutes(self, lot_row: int) -> float:
        """Minutes until a lot expires, negative after; NaN where its expiry is unknown."""
        return float(self.state.lots.expires_epoch_minutes.item(lot_row)) - self.as_of_minutes

    def is_expired(self, lot_row: int) -> bool:
        """Whether a lot is known to be past its expiry."""
        return self.life_minutes(lot_row) <= 0

    def is_spent(self, lot_row: int) -> bool:
        """Whether a lot is known to have used up its product's excursion budget."""
        lots = self.state.lots
        fridge_row = lots.fridge_row.item(lot_row)
        if fridge_row < 0:
            return False
        excursion = self.state.fridges.excursion_minutes.item(fridge_row)
        return bool(excursion >= self.city.products[lots.product_idx.item(lot_row)].excursion_budget_minutes)

    def is_recalled(self, lot_row: int) -> bool:
        """Whether a running playbook recalls a lot."""
        return self.state.lots.lot_number[lot_row] in self.state.commitments.incidents.recalled_lots

    def is_usable(self, lot_row: int) -> bool:
        """Whether nothing known speaks against giving a lot."""
        return not (self.is_expired(lot_row) or self.is_spent(lot_row) or self.is_recalled(lot_row))

    def is_in_band(self, celsius: float, product_idx: int) -> bool:
        """Whether a temperature is known and within a product's storage band."""
        product = self.city.products[product_idx]
        return product.storage_low_celsius <= celsius <= product.storage_high_celsius

    def is_failing(self, fridge_row: int, product_idx: int) -> bool:
        """Whether a fridge is known to be without power or outside a product's band: what lies in it must get out."""
        fridges = self.state.fridges
        if fridge_row < 0:
            return False
        celsius = fridges.temperature_celsius.item(fridge_row)
        if fridges.power_on.item(fridge_row) == 0 or self.is_failed(fridge_row):
            return True
        return not math.isnan(celsius) and not self.is_in_band(celsius, product_idx)

    def is_failed(self, fridge_row: int) -> bool:
        """Whether a running playbook says that a fridge does not cool."""
        fridges = self.state.fridges
        site_id = self.site_id(int(fridges.site_idx.item(fridge_row)))
        return self.state.commitments.incidents.is_failed(site_id, fridges.fridge_id[fridge_row])

    def products_in_fridge(self, site_idx: int, fridge_row: int) -> set[int]:
        """Products with at least one dose in a fridge."""
        lots = self.state.lots
        return {
            int(lots.product_idx.item(row))
            for row in self.lot_rows(site_idx)
            if lots.fridge_row.item(row) == fridge_row
            and lots.unopened_doses.item(row) + lots.open_vial_doses.item(row) > 0
        }

    # What acknowledged and begun orders have taken.

    @cached_property
    def taken_vans(self) -> frozenset[str]:
        """Vans that an acknowledged or begun transfer is using."""
        commitments = self.state.commitments
        begun = (*commitments.acknowledged, *commitments.under_way)
        return frozenset(decision.van_id for decision in begun if isinstance(decision, DoseTransfer))

    @cached_property
    def promised_litres(self) -> dict[int, float]:
        """Volume on its way into each fridge row by acknowledged and begun orders, not in its report yet."""
        promised: dict[int, float] = {}
        for decision in (*self.state.commitments.acknowledged, *self.state.commitments.under_way):
            if not isinstance(decision, DoseTransfer | FridgeMove):
                continue
            site_id = decision.to_site_id if isinstance(decision, DoseTransfer) else decision.site_id
            site_idx = self.city.site_to_idx.get(site_id)
            product_idx = self.city.product_to_idx.get(decision.product_id)
            row = None if site_idx is None else self.fridge_row(site_idx, decision.to_fridge_id)
            if row is not None and product_idx is not None:
                promised[row] = promised.get(row, 0.0) + decision.doses * self.litres_per_dose(product_idx)
        return promised

    @cached_property
    def frozen(self) -> frozenset[int]:
        """Sites that a person in command wants left as they are."""
        return self._positions(self.state.commitments.frozen_site_ids)

    @cached_property
    def suspended(self) -> frozenset[int]:
        """Sites that may not vaccinate."""
        return self._positions(self.state.commitments.suspended_site_ids)

    def _positions(self, site_ids: frozenset[str]) -> frozenset[int]:
        known = self.city.site_to_idx
        return frozenset(known[site_id] for site_id in site_ids if site_id in known)

    def age_minutes(self, site_idx: int, class_idx: int) -> float:
        """Age of a site's reading of a class; NaN where nothing was ever read."""
        return self.as_of_minutes - float(self.state.valid_epoch_minutes.item(site_idx, class_idx))


def whole_or_none(count: float) -> int | None:
    """A count of things as a whole number, None where it is unknown."""
    return None if math.isnan(count) else round(count)
