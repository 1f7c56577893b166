"""Which doses travel."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules_city import (
    NOW_MINUTES,
    Lot,
    calm_state,
    city_of,
    forecast_of,
    fridge_table,
    lot_table,
    of_kind,
    random_state,
)

from doseflow.domain.decisions import DoseTransfer, Why
from doseflow.domain.orders import Commitments
from doseflow.domain.state import VanTable
from doseflow.policy.dose_rules import DoseParams
from doseflow.policy.rules_policy import RulesParams, RulesPolicy


def _transfers(state, doses=200.0, params=None):
    return of_kind(RulesPolicy(params)(state, forecast_of(state, 0.4, doses)).decisions, DoseTransfer)


def _state(lots, num_sites=3, vans_at=(1, 2), **given):
    return calm_state(city_of(num_sites, vans_at=vans_at), lots=lot_table(lots), **given)


SHORT_SITE_0 = [Lot(0, 60), Lot(1, 600), Lot(2, 600)]


def test_with_doses_for_the_day_nothing_travels():
    assert _transfers(_state([Lot(0, 240), Lot(1, 600), Lot(2, 600)])) == []


def test_a_site_that_would_run_out_gets_whole_vials_for_a_busy_day_from_the_nearest_that_can_spare_them():
    (transfer,) = _transfers(_state(SHORT_SITE_0))
    assert (transfer.from_site_id, transfer.to_site_id, transfer.van_id) == ("s1", "s0", "v0")
    # The upper quartile is 225 doses; 60 are there, so 165, and 168 are 28 vials of 6.
    assert transfer.doses == 168
    assert transfer.travel_minutes == 10
    assert transfer.why.code == "stock_out_ahead"
    assert transfer.why.facts == {"doses_on_hand": 60.0, "doses_needed": 225, "hours_left": 2.4}


def test_a_site_without_a_van_does_not_send():
    (transfer,) = _transfers(_state(SHORT_SITE_0, vans_at=(2,)))
    assert transfer.from_site_id == "s2"
    bound = VanTable(site_idx=np.array([1, 2]), free_epoch_minutes=np.array([NOW_MINUTES + 20, NOW_MINUTES + 20]))
    assert _transfers(_state(SHORT_SITE_0, vans=bound)) == []


def test_the_giver_keeps_doses_for_a_busy_day_and_for_those_booked():
    # 240 are the 0.9 quantile of its day.
    transfers = _transfers(_state([Lot(0, 60), Lot(1, 330), Lot(2, 330)]))
    assert [(one.from_site_id, one.doses) for one in transfers] == [("s1", 90), ("s2", 78)]
    booked = np.full((3, 8), 30.0)
    # 240 booked and a quarter more: 300.
    assert [one.doses for one in _transfers(_state([Lot(0, 60), Lot(1, 330), Lot(2, 330)], booked_people=booked))] == [
        30,
        30,
    ]


def test_the_earliest_expiry_leaves_first_and_whole_before_the_next():
    lots = [Lot(0, 60), Lot(1, 600, 30, number="late"), Lot(1, 60, 5, number="early"), Lot(2, 600)]
    transfers = _transfers(_state(lots))
    assert [(one.lot_number, one.doses) for one in transfers] == [("early", 60), ("late", 108)]
    assert {one.van_id for one in transfers} == {"v0"}


def test_a_lot_without_life_enough_stays():
    lots = [Lot(0, 60), Lot(1, 600, 0.17, number="too_short"), Lot(1, 600, 30, number="long"), Lot(2, 600)]
    assert {one.lot_number for one in _transfers(_state(lots))} == {"long"}


def test_a_fridge_without_power_or_room_or_in_the_wrong_band_receives_nothing():
    city = city_of(3, vans_at=(1, 2))
    lots = lot_table(SHORT_SITE_0)
    for columns in (
        {"power_on": {0: 0.0, 1: np.nan}},
        {"temperature_celsius": {0: 9.0, 1: np.nan}},
        {"volume_used_litres": {0: 20.0, 1: 19.99}},
    ):
        state = calm_state(city, lots=lots, fridges=fridge_table(city, **columns))
        assert [one for one in _transfers(state) if one.to_site_id == "s0"] == [], columns
    one_good = calm_state(city, lots=lots, fridges=fridge_table(city, temperature_celsius={0: 9.0}))
    assert {one.to_fridge_id for one in _transfers(one_good) if one.to_site_id == "s0"} == {"f0b"}


def test_no_more_travels_than_the_receiving_fridge_holds():
    city = city_of(3, vans_at=(1, 2))
    fridges = fridge_table(city, volume_used_litres={0: 18.7, 1: 18.8})
    # 95 % of 20 litres leave 0.3, which are 5 vials of 0.06.
    state = calm_state(city, lots=lot_table(SHORT_SITE_0), fridges=fridges)
    assert _transfers(state)[0].doses == 30


def test_what_finds_no_room_in_one_fridge_of_the_receiver_goes_into_the_next():
    city = city_of(2, vans_at=(1,))
    fridges = fridge_table(city, volume_used_litres={0: 18.4, 1: 18.7})
    state = calm_state(city, lots=lot_table([Lot(0, 60), Lot(1, 600)]), fridges=fridges)
    assert [(one.to_fridge_id, one.doses) for one in _transfers(state)] == [("f0a", 60), ("f0b", 30)]


def test_nothing_leaves_past_an_earlier_lot_that_nobody_can_find():
    lots = lot_table([Lot(0, 60), Lot(1, 600, 30, number="late"), Lot(1, 60, 5, number="lost")])
    lots.fridge_row[2] = -1
    state = calm_state(city_of(2, vans_at=(1,)), lots=lots)
    assert _transfers(state) == []


def test_no_more_travels_than_the_van_holds():
    city = city_of(2, vans_at=(1,))
    city = replace(city, vans=(replace(city.vans[0], capacity_litres=0.6),))
    (transfer,) = _transfers(calm_state(city, lots=lot_table([Lot(0, 60), Lot(1, 600)])))
    assert transfer.doses == 60


def test_a_site_gets_only_products_it_may_store():
    city = city_of(2, vans_at=(1,))
    city = replace(city, sites=(replace(city.sites[0], products=("beta",)), city.sites[1]))
    state = calm_state(city, lots=lot_table([Lot(0, 60, product=1), Lot(1, 600), Lot(1, 600, product=1)]))
    assert {one.product_id for one in _transfers(state)} == {"beta"}


@pytest.mark.parametrize(
    "changes",
    [
        {"commitments": Commitments(frozen_site_ids=frozenset({"s0", "s2"}))},
        {"commitments": Commitments(frozen_site_ids=frozenset({"s1", "s2"}))},
        {"commitments": Commitments(suspended_site_ids=frozenset({"s0"}))},
        {"is_open": np.array([False, True, True])},
        {"booked_people": np.full((3, 8), np.nan)},
    ],
)
def test_sites_that_must_be_left_alone_neither_give_nor_receive(changes):
    state = _state(SHORT_SITE_0)
    assert len(_transfers(state)) == 1
    assert _transfers(replace(state, **changes)) == []


def test_an_unknown_need_moves_nothing():
    assert _transfers(_state(SHORT_SITE_0), doses=np.nan) == []


def _ordered(doses=168, from_site=2):
    return DoseTransfer(
        from_site_id=f"s{from_site}",
        to_site_id="s0",
        product_id="alpha",
        lot_number=f"lot-{from_site}-2",
        from_fridge_id=f"f{from_site}a",
        to_fridge_id="f0a",
        van_id="v1",
        doses=doses,
        travel_minutes=20.0,
        why=Why("stock_out_ahead"),
    )


def test_doses_on_their_way_are_not_ordered_again():
    for kind in ("acknowledged", "under_way"):
        state = _state(SHORT_SITE_0, commitments=Commitments(**{kind: (_ordered(),)}))
        assert _transfers(state) == []


def test_what_was_sent_and_is_still_wanted_is_proposed_again_unchanged():
    sent = _ordered(doses=120)
    transfers = _transfers(_state(SHORT_SITE_0, commitments=Commitments(sent=(sent,))))
    assert transfers[0] == sent
    # 165 were missing, 120 come: the rest is 8 vials more.
    assert [(one.from_site_id, one.doses) for one in transfers[1:]] == [("s1", 48)]


def test_what_was_sent_is_left_out_once_the_need_is_gone():
    lots = [Lot(0, 240), Lot(1, 600), Lot(2, 600)]
    assert _transfers(_state(lots, commitments=Commitments(sent=(_ordered(),)))) == []


def test_what_was_refused_is_asked_of_somebody_else():
    (asked,) = _transfers(_state(SHORT_SITE_0))
    (other,) = _transfers(_state(SHORT_SITE_0, commitments=Commitments(refused=(asked,))))
    assert other.from_site_id == "s2"


def test_a_lot_that_would_expire_unused_goes_to_the_nearest_site_that_will_use_it():
    # Site 0 uses 200 today and about 390 a day after; of 900 doses that live 30 hours, some 500 would be left.
    lots = [Lot(0, 900, 1.25), Lot(1, 600), Lot(2, 240)]
    state = _state(lots, vans_at=(0,))
    transfers = _transfers(state)
    assert transfers
    assert {one.to_site_id for one in transfers} == {"s2"}
    assert transfers[0].why == Why("expiry_ahead", {"hours_to_expiry": 30.0})
    # What is left suffices for a busy day.
    assert 900 - transfers[0].doses >= 240


def test_a_lot_that_will_be_used_in_time_or_lives_long_stays():
    assert _transfers(_state([Lot(0, 300, 1.25), Lot(1, 600), Lot(2, 240)], vans_at=(0,))) == []
    assert _transfers(_state([Lot(0, 3000, 20), Lot(1, 600), Lot(2, 240)], vans_at=(0,))) == []


def test_a_few_endangered_doses_are_not_worth_a_trip():
    lots = [Lot(0, 900, 1.25), Lot(1, 600), Lot(2, 240)]
    params = RulesParams(doses=DoseParams(min_rescue_doses=1000))
    assert _transfers(_state(lots, vans_at=(0,)), params=params) == []


@given(seed=st.integers(0, 10_000), unknown_share=st.sampled_from([0.0, 0.1, 0.3]))
def test_doses_are_whole_vials_of_lots_on_hand_in_the_order_of_expiry(seed, unknown_share):
    state, forecast = random_state(8, seed, unknown_share=unknown_share)
    transfers = of_kind(RulesPolicy()(state, forecast).decisions, DoseTransfer)
    lots, city = state.lots, state.city
    sent_of_row = np.zeros(len(lots.lot_number), dtype=int)
    for one in transfers:
        row = lots.lot_number.index(one.lot_number)
        sent_of_row[row] += one.doses
        per_vial = city.products[lots.product_idx[row]].doses_per_vial
        assert one.doses % per_vial == 0
        latest_arrival = NOW_MINUTES + one.travel_minutes + city.limits.min_lot_life_minutes
        assert lots.expires_epoch_minutes[row] >= latest_arrival
        celsius = state.fridges.temperature_celsius[lots.fridge_row[row]]
        if state.fridges.power_on[lots.fridge_row[row]] == 0 or celsius < 2 or celsius > 8:
            # What must get out of a failing fridge keeps no order.
            continue
        for earlier in range(len(lots.lot_number)):
            same = (lots.site_idx[earlier], lots.product_idx[earlier]) == (lots.site_idx[row], lots.product_idx[row])
            sooner = latest_arrival <= lots.expires_epoch_minutes[earlier] < lots.expires_epoch_minutes[row]
            excursion = state.fridges.excursion_minutes[lots.fridge_row[earlier]]
            if same and sooner and not (lots.fridge_row[earlier] >= 0 and excursion >= 240):
                gone = sum(two.doses for two in transfers if two.lot_number == lots.lot_number[earlier])
                assert lots.unopened_doses[earlier] - gone < per_vial
    assert (sent_of_row <= lots.unopened_doses).all()
