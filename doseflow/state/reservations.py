"""People and doses that a site has promised to an order and that its report still shows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from doseflow.domain.city import City, IntArray
from doseflow.domain.decisions import DoseTransfer, FridgeMove, StaffMove
from doseflow.domain.orders import Commitments
from doseflow.domain.roles import ROLE_TO_IDX
from doseflow.domain.state import FridgeTable, LotTable, StaffTable
from doseflow.units import epoch_minutes_from_datetime


def reserve_staff(staff: StaffTable, commitments: Commitments, city: City) -> StaffTable:
    """Reserve the people of acknowledged moves in the rows of their group, those who moved least first."""
    wanted = [
        (_group_key(city.site_to_idx.get(move.from_site_id, -1), ROLE_TO_IDX[move.role], _minutes(move)), move.people)
        for move in commitments.acknowledged
        if isinstance(move, StaffMove)
    ]
    if not wanted:
        return staff
    order = np.argsort(staff.moves_today, kind="stable")
    columns = (staff.site_idx, staff.role_idx, staff.shift_ends_epoch_minutes)
    keys = [_group_key(*values) for values in zip(*(column[order].tolist() for column in columns), strict=True)]
    reserved = _reserve(dict_of_rows(keys, order.tolist()), wanted, staff.people)
    return replace(staff, reserved_people=reserved)


def reserve_lots(lots: LotTable, fridges: FridgeTable, commitments: Commitments, city: City) -> LotTable:
    """Reserve the doses of acknowledged transfers and moves in the row of their lot and fridge."""
    wanted = [
        (
            (city.site_to_idx.get(_giving_site_id(one), -1), one.lot_number, one.product_id, one.from_fridge_id),
            one.doses,
        )
        for one in commitments.acknowledged
        if isinstance(one, DoseTransfer | FridgeMove)
    ]
    if not wanted:
        return lots
    site_idx, fridge_row, product_idx = (
        column.tolist() for column in (lots.site_idx, lots.fridge_row, lots.product_idx)
    )
    keys = [
        (site, number, city.products[product].product_id, fridges.fridge_id[fridge])
        for site, number, product, fridge in zip(site_idx, lots.lot_number, product_idx, fridge_row, strict=True)
    ]
    reserved = _reserve(dict_of_rows(keys, range(len(keys))), wanted, lots.unopened_doses)
    return replace(lots, reserved_doses=reserved)


def dict_of_rows(keys: Sequence[Hashable], rows: Iterable[int]) -> dict[Hashable, list[int]]:
    """Rows of each key, in the order given."""
    rows_of: dict[Hashable, list[int]] = {}
    for key, row in zip(keys, rows, strict=True):
        rows_of.setdefault(key, []).append(row)
    return rows_of


def _reserve(
    rows_of: dict[Hashable, list[int]], wanted: Iterable[tuple[Hashable, int]], available: IntArray
) -> IntArray:
    """How much of each row is taken; what a row cannot give is asked of the next one of its key."""
    reserved = np.zeros_like(available)
    for key, quantity in wanted:
        for row in rows_of.get(key, ()):
            taken = min(quantity, int(available[row] - reserved[row]))
            reserved[row] += taken
            quantity -= taken
    return reserved


def _group_key(site_idx: int, role_idx: int, shift_ends_epoch_minutes: float) -> tuple[int, int, int]:
    """Site, role and end of shift to the second, since decisions carry seconds."""
    return site_idx, role_idx, round(shift_ends_epoch_minutes * 60)


def _minutes(move: StaffMove) -> float:
    return epoch_minutes_from_datetime(move.shift_ends_at)


def _giving_site_id(decision: DoseTransfer | FridgeMove) -> str:
    return decision.from_site_id if isinstance(decision, DoseTransfer) else decision.site_id
