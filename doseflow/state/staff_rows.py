"""Class 9: people on duty, a row a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.roles import NUM_ROLES, ROLE_TO_IDX, Role
from doseflow.domain.state import StaffTable
from doseflow.state.epoch_minutes import epoch_minutes_of
from doseflow.state.newest_readings import NewestReadings
from doseflow.state.report_batch import ReportBatch
from doseflow.state.table_rows import Column, merge_rows, rows_of_other_sites

_ROLE_BITS = 1 << np.arange(NUM_ROLES)


def read_staff(previous: StaffTable, batch: ReportBatch, newest: NewestReadings) -> StaffTable:
    """Staff after the fold: groups of sites that tell theirs anew are replaced, nobody is reserved yet."""
    sites, rows = newest.sites_of(FeatureClass.STAFF_ON_DUTY)
    if not len(sites):
        return replace(previous, reserved_people=np.zeros_like(previous.reserved_people))
    is_kept = rows_of_other_sites(previous.site_idx, sites, len(newest.row))
    kept = [column[is_kept] for column in staff_columns(previous)]
    return _table(merge_rows(kept, _group_columns(batch, sites, rows)))


def staff_columns(staff: StaffTable) -> list[Column]:
    """The reported columns of the table, the site first; the roles a group may fill as one number."""
    return [
        staff.site_idx,
        staff.role_idx,
        staff.people,
        staff.shift_ends_epoch_minutes,
        staff.moves_today,
        staff.qualified @ _ROLE_BITS,
    ]


def without_ended_shifts(
    staff: StaffTable, is_old: BoolArray, ended_epoch_minutes: FloatArray
) -> tuple[StaffTable, BoolArray, BoolArray]:
    """
    Staff without the groups whose shift has ended by a moment, (S,), at sites whose reading is old.

    Returns
    -------
    staff
        The table that is left.
    has_lost, is_empty
        Whether a site lost a group, and whether it lost its last one, (S,).
    """
    has_ended = is_old[staff.site_idx] & (staff.shift_ends_epoch_minutes <= ended_epoch_minutes[staff.site_idx])
    has_lost = np.zeros(len(is_old), dtype=np.bool_)
    has_lost[staff.site_idx[has_ended]] = True
    if not has_ended.any():
        return staff, has_lost, has_lost
    left = _table([column[~has_ended] for column in staff_columns(staff)])
    is_empty = has_lost & (np.bincount(left.site_idx, minlength=len(is_old)) == 0)
    return left, has_lost, is_empty


def _group_columns(batch: ReportBatch, sites: IntArray, rows: IntArray) -> list[Column]:
    told = [batch.reports[row].staff or () for row in rows.tolist()]
    groups = [group for site_groups in told for group in site_groups]
    role_idx = np.array([ROLE_TO_IDX[group.role] for group in groups], dtype=np.int64)
    also = [group.also_qualified for group in groups]
    bits_of = {roles: _bits(roles) for roles in set(also)}
    return [
        np.repeat(sites, [len(site_groups) for site_groups in told]),
        role_idx,
        np.array([group.people for group in groups], dtype=np.int64),
        epoch_minutes_of([group.shift_ends_at for group in groups]),
        np.array([group.moves_today for group in groups], dtype=np.int64),
        np.array([bits_of[roles] for roles in also], dtype=np.int64) | _ROLE_BITS[role_idx],
    ]


def _bits(roles: Sequence[Role]) -> int:
    return sum(1 << ROLE_TO_IDX[role] for role in set(roles))


def _table(columns: Sequence[Column]) -> StaffTable:
    site_idx, role_idx, people, ends, moves, bits = columns
    return StaffTable(
        site_idx=site_idx,
        role_idx=role_idx,
        people=people,
        shift_ends_epoch_minutes=ends,
        moves_today=moves,
        qualified=(bits[:, None] & _ROLE_BITS) > 0,
        reserved_people=np.zeros(len(site_idx), dtype=np.int64),
    )
