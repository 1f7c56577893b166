"""Minutes to loss and places for lots, against sums done by hand and a search through every fridge."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.append(str(Path(__file__).parents[1] / "feasible"))

from feasible_city import changed, make_forecast, make_state, random_state

from doseflow.domain.decisions import DoseTransfer, FridgeMove
from doseflow.domain.orders import Commitments
from doseflow.domain.playbooks import Incidents
from doseflow.feasible.referee import referee
from doseflow.playbooks.minutes_to_loss import Warming, minutes_to_loss
from doseflow.playbooks.rescue import rescue
from doseflow.playbooks.spare_volume import nearest_spare_volume

TIDY = make_state()
STEADY = Warming()


def with_fridge(column: str, row: int, value: float):
    return replace(TIDY, fridges=replace(TIDY.fridges, **{column: changed(getattr(TIDY.fridges, column), row, value)}))


def first_lot():
    row = 0
    return row, int(TIDY.lots.fridge_row[row]), TIDY.city.products[int(TIDY.lots.product_idx[row])]


@pytest.mark.parametrize(
    ("celsius", "spent", "warming", "expected"),
    [
        (5.0, 0.0, STEADY, 180.0 + 240.0),
        (5.0, 100.0, STEADY, 180.0 + 140.0),
        (9.0, 100.0, STEADY, 140.0),
        (9.0, 900.0, STEADY, 0.0),
        (5.0, 0.0, Warming(6.0), 30.0 + 240.0),
        (5.0, 0.0, Warming(holdover_minutes=600.0), 600.0 + 240.0),
        (math.nan, 0.0, Warming(holdover_minutes=600.0), 240.0),
        (5.0, math.nan, STEADY, 180.0),
    ],
)
def test_minutes_to_loss_are_the_way_to_the_edge_and_the_budget_left(celsius, spent, warming, expected):
    row, fridge_row, product = first_lot()
    assert (product.storage_high_celsius, product.excursion_budget_minutes) == (8.0, 240.0)
    fridges = replace(
        TIDY.fridges,
        temperature_celsius=changed(TIDY.fridges.temperature_celsius, fridge_row, celsius),
        excursion_minutes=changed(TIDY.fridges.excursion_minutes, fridge_row, spent),
    )
    assert minutes_to_loss(replace(TIDY, fridges=fridges), warming)[row] == pytest.approx(expected)


def by_hand(state, site_idx, product_idx):
    """Every fridge of the city, one after the other."""
    product, found = state.city.products[product_idx], set()
    for row, fridge_id in enumerate(state.fridges.fridge_id):
        to_idx = int(state.fridges.site_idx[row])
        site = state.city.sites[to_idx]
        near = to_idx == site_idx or (site_idx, to_idx) in state.city.travel_by_pair
        closed = state.commitments.frozen_site_ids | state.commitments.suspended_site_ids
        failed = state.commitments.incidents
        room = state.fridges.volume_possible_litres[row] - state.fridges.volume_used_litres[row]
        celsius = state.fridges.temperature_celsius[row]
        if (
            near
            and (to_idx == site_idx or site.site_id not in closed)
            and (site.site_id, fridge_id) not in failed.failed_fridges
            and site.site_id not in failed.power_cut_site_ids
            and state.fridges.power_on[row] == 1
            and product.storage_low_celsius <= celsius <= product.storage_high_celsius
            and product.product_id in site.products
            and room + 1e-9 >= product.litres_per_vial
        ):
            found.add((site.site_id, fridge_id))
    return found


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_spare_volume_is_found_wherever_it_is_and_the_nearest_comes_first(seed):
    rng = np.random.default_rng(seed)
    state = random_state(rng, 5)
    for product_idx in range(len(state.city.products)):
        places = nearest_spare_volume(state, 0, product_idx)
        assert {(one.site_id, one.fridge_id) for one in places} == by_hand(state, 0, product_idx)
        travel = [one.travel_minutes for one in places]
        assert travel == sorted(travel)


def test_ready_orders_empty_the_fridge_into_others_within_their_room_and_the_referee_allows_them():
    name = ("s0", "f1")
    state = replace(TIDY, commitments=Commitments(incidents=Incidents(failed_fridges=frozenset({name}))))
    found = rescue(state, [name], STEADY)
    assert [lot.minutes_to_loss for lot in found.lots] == sorted(lot.minutes_to_loss for lot in found.lots)
    assert found.ready_orders
    moved = sum(int(order.quantity) for order in found.ready_orders)
    assert moved + found.doses_without_place == sum(
        int(TIDY.lots.unopened_doses[row])
        for row in range(len(TIDY.lots.lot_number))
        if TIDY.lots.site_idx[row] == 0 and TIDY.fridges.fridge_id[int(TIDY.lots.fridge_row[row])] == "f1"
    )
    for order in found.ready_orders:
        assert isinstance(order, FridgeMove | DoseTransfer)
        assert order.from_fridge_id == "f1"
    hard = [one for one in referee(state, make_forecast(state), list(found.ready_orders)) if one.hard]
    assert [one for one in hard if one.rule in {"cold_volume", "storage_band", "failed_fridge", "whole_vials"}] == []


def test_nothing_goes_into_another_fridge_that_fails_too():
    names = [("s0", "f1"), ("s0", "f2")]
    found = rescue(TIDY, names, STEADY)
    into = {(getattr(one, "to_site_id", "s0"), one.to_fridge_id) for one in found.ready_orders}
    assert not into & set(names)
