"""Lookups find what decisions name, also where a table is in any order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from feasible_city import (
    NOW,
    SHIFT_ENDS,
    make_city,
    make_forecast,
    make_state,
    move,
    random_proposal,
    random_state,
    transfer,
)

from doseflow.domain.orders import Commitments
from doseflow.domain.state import LotTable
from doseflow.feasible.lookup import RowsBySite, StateLookup, whole_below
from doseflow.feasible.referee import referee


def test_rows_by_site_keep_the_order_of_the_table_and_skip_rows_of_no_site():
    rows_of = RowsBySite(np.array([2, 0, -1, 2, 1]), 4)
    assert [rows_of(site) for site in range(4)] == [[1], [4], [0, 3], []]


def shuffled(table, order):
    columns = {}
    for name in table.__dataclass_fields__:
        column = getattr(table, name)
        columns[name] = tuple(column[row] for row in order) if isinstance(column, tuple) else column[order]
    return replace(table, **columns)


def test_the_referee_says_the_same_whatever_the_order_of_the_tables():
    rng = np.random.default_rng(7)
    state = random_state(rng, 6)
    decisions = random_proposal(rng, state, 25, wild=0.1)
    other = replace(
        state,
        staff=shuffled(state.staff, rng.permutation(state.staff.site_idx.size)),
        lots=shuffled(state.lots, rng.permutation(state.lots.site_idx.size)),
    )
    assert referee(other, make_forecast(state), decisions) == referee(state, make_forecast(state), decisions)


def test_groups_of_one_role_and_shift_are_found_together_whatever_their_qualification():
    state = make_state()
    staff = state.staff
    double = replace(
        state,
        staff=type(staff)(
            **{
                name: np.concatenate([getattr(staff, name), getattr(staff, name)[4:5]])
                for name in staff.__dataclass_fields__
            }
        ),
    )
    lookup = StateLookup(double)
    assert lookup.group_rows(0, 2, SHIFT_ENDS[0].timestamp() / 60) == (4, staff.site_idx.size)
    assert lookup.on_duty[0][2] == 14


def test_a_lot_in_a_fridge_that_nobody_knows_is_neither_spent_nor_failing():
    state = make_state()
    lots = replace(state.lots, fridge_row=np.full_like(state.lots.fridge_row, -1))
    lookup = StateLookup(replace(state, lots=lots))
    assert not lookup.is_spent(0)
    assert not lookup.is_failing(-1, 0)
    assert isinstance(lookup.state.lots, LotTable)


def test_orders_under_way_take_their_van_and_their_room():
    state = replace(
        make_state(), commitments=Commitments(under_way=(transfer(doses=50), move(), transfer(lot="?", to=9)))
    )
    lookup = StateLookup(state)
    assert lookup.taken_vans == {"v0"}
    assert lookup.promised_litres == {3: 0.2}


def test_age_is_that_of_the_reading_and_unknown_stays_unknown():
    lookup = StateLookup(make_state(make_city(4)))
    assert lookup.age_minutes(0, 0) == 5.0
    assert lookup.life_minutes(0) == 3 * 24 * 60
    assert lookup.as_of_minutes == NOW


def test_a_share_of_people_is_rounded_down_but_not_by_the_last_digit_of_a_float():
    assert whole_below(0.3 * 10) == 3
    assert whole_below(2.999) == 2
    assert whole_below(-1.0) == 0
