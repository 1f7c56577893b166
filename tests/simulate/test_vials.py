"""Doses out of vials, against drawing them one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.simulate.vials import discard_expired, discard_opened, draw_doses, is_usable, usable_doses
from doseflow.simulate.world import Lots

NOW = 10_000.0
LOT = st.tuples(
    st.integers(0, 2),  # product
    st.integers(0, 4),  # whole vials
    st.integers(0, 5),  # open doses
    st.integers(-2, 9).map(float),  # open for so many hours yet
    st.integers(-1, 30).map(float),  # life left in days
    st.sampled_from([0.0, 100.0, 5000.0]),  # excursion
)


def lots_of(rows, params) -> Lots:
    product, vials, opened, open_hours, life_days, excursion = (
        np.array([column]) for column in zip(*rows, strict=True)
    )
    shape = product.shape
    return Lots(
        code=np.arange(shape[1])[None],
        product_idx=product,
        fridge_slot=np.zeros(shape, dtype=np.int64),
        unopened_doses=vials * params.doses_per_vial[product],
        open_doses=opened,
        open_until=NOW + open_hours * 60,
        expires=NOW + life_days * 1440,
        excursion_minutes=excursion,
    )


def drawn_one_by_one(rows, params, wanted):
    """The same rule for single doses: the open vial that ends soonest, else a new one of the lot that expires first."""
    lots = []
    for row, (product, vials, opened, open_hours, life_days, excursion) in enumerate(rows):
        usable = life_days > 0 and excursion <= params.excursion_budget_minutes[product]
        lots.append(
            {
                "row": row,
                "per_vial": int(params.doses_per_vial[product]),
                "whole": vials * int(params.doses_per_vial[product]),
                "open": opened,
                "open_until": open_hours * 60,
                "expires": life_days,
                "usable": usable,
            }
        )
    given = 0
    for _ in range(wanted):
        opened = [lot for lot in lots if lot["open"] and lot["usable"]]
        closed = [lot for lot in lots if lot["whole"] and lot["usable"]]
        if opened:
            min(opened, key=lambda lot: (lot["open_until"], lot["row"]))["open"] -= 1
        elif closed:
            lot = min(closed, key=lambda lot: (lot["expires"], lot["row"]))
            lot["whole"] -= lot["per_vial"]
            lot["open"] = lot["per_vial"] - 1
        else:
            break
        given += 1
    return given, [lot["whole"] for lot in lots], [lot["open"] for lot in lots]


@settings(max_examples=150)
@given(st.lists(LOT, min_size=1, max_size=5), st.integers(0, 60))
def test_doses_are_drawn_as_somebody_would_draw_them_one_by_one(small_params, rows, wanted):
    params = small_params
    rows = [row if row[2] < params.doses_per_vial[row[0]] else (row[0], row[1], 0, *row[3:]) for row in rows]
    lots = lots_of(rows, params)
    possible = min(wanted, int(usable_doses(lots, is_usable(lots, NOW, params))[0]))
    drawn, _ = draw_doses(lots, np.array([wanted]), is_usable(lots, NOW, params), NOW, params)
    given, whole, opened = drawn_one_by_one(rows, params, wanted)
    assert given == possible
    assert drawn.unopened_doses[0].tolist() == whole
    assert drawn.open_doses[0].tolist() == opened


@settings(max_examples=60)
@given(st.lists(LOT, min_size=1, max_size=5), st.integers(0, 60))
def test_no_dose_appears_or_vanishes_when_drawn(small_params, rows, wanted):
    params, lots = small_params, lots_of(rows, small_params)
    drawn, vials = draw_doses(lots, np.array([wanted]), is_usable(lots, NOW, params), NOW, params)
    before = (lots.unopened_doses + lots.open_doses).sum()
    after = (drawn.unopened_doses + drawn.open_doses).sum()
    assert before - after == min(wanted, usable_doses(lots, is_usable(lots, NOW, params))[0])
    assert (drawn.unopened_doses % params.doses_per_vial[drawn.product_idx] == 0).all()
    assert (drawn.open_doses >= 0).all()
    assert (vials >= 0).all()


def test_a_newly_opened_vial_lives_its_in_use_hours(small_params):
    lots = lots_of([(0, 2, 0, 0.0, 10.0, 0.0)], small_params)
    drawn, _ = draw_doses(lots, np.array([1]), is_usable(lots, NOW, small_params), NOW, small_params)
    assert drawn.open_until[0, 0] == NOW + small_params.in_use_minutes[0]
    kept, thrown = discard_opened(drawn, drawn.open_until[0, 0] - 1, np.array([False]))
    assert thrown.tolist() == [0]
    kept, thrown = discard_opened(kept, drawn.open_until[0, 0], np.array([False]))
    assert thrown.tolist() == [small_params.doses_per_vial[0] - 1]
    assert kept.open_doses.sum() == 0


def test_at_the_end_of_the_day_open_vials_and_expired_lots_are_thrown_away(small_params):
    lots = lots_of([(0, 2, 3, 5.0, 10.0, 0.0), (0, 1, 0, 5.0, -1.0, 0.0)], small_params)
    kept, opened = discard_opened(lots, NOW, np.array([True]))
    kept, expired = discard_expired(kept, NOW, np.array([True]))
    assert opened.tolist() == [3]
    assert expired.tolist() == [small_params.doses_per_vial[0]]
    assert kept.unopened_doses.tolist() == [[2 * small_params.doses_per_vial[0], 0]]


def test_a_lot_that_expired_is_not_given_though_it_lies_there(small_params):
    lots = replace(lots_of([(0, 2, 0, 0.0, 10.0, 0.0)], small_params), expires=np.array([[NOW]]))
    assert usable_doses(lots, is_usable(lots, NOW, small_params)).tolist() == [0]
