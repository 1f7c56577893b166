"""What is moved, thrown away and set in the cold chain."""

from dataclasses import replace

import numpy as np
import pytest
from rules_city import NOW_MINUTES, Lot, calm_state, city_of, forecast_of, fridge_table, lot_table, of_kind

from doseflow.domain.decisions import DoseTransfer, FridgeMove, MarkUnusable, PreCool, SetPoint, Why
from doseflow.domain.orders import Commitments
from doseflow.policy.cold_chain_rules import ColdChainParams
from doseflow.policy.rules_policy import RulesPolicy

COLD = (FridgeMove, DoseTransfer, MarkUnusable, PreCool, SetPoint)


def _decisions(state):
    return [one for one in RulesPolicy()(state, forecast_of(state, 0.4, 100.0)).decisions if isinstance(one, COLD)]


IN_ORDER = (Lot(0, 300), Lot(1, 600))


def _state(lots=IN_ORDER, vans_at=(0,), num_fridges=2, commitments=None, **columns):
    city = city_of(2, vans_at=vans_at, num_fridges=num_fridges)
    return calm_state(
        city,
        lots=lot_table(lots, num_fridges),
        fridges=fridge_table(city, **columns),
        commitments=commitments or Commitments(),
    )


def test_a_cold_chain_in_order_asks_for_nothing():
    assert _decisions(_state()) == []


def test_a_lot_in_a_fridge_that_got_warm_moves_to_the_other_fridge_of_the_site():
    decisions = _decisions(_state(temperature_celsius={0: 9.5}, power_on={0: 0.0}, excursion_minutes={0: 90.0}))
    why = Why("failing_fridge", {"temperature_celsius": 9.5, "minutes_to_loss": 150})
    assert decisions == [FridgeMove("s0", "alpha", "lot-0-0", "f0a", "f0b", 300, why)]


def test_an_excursion_that_leaves_time_is_watched_first():
    assert of_kind(_decisions(_state(temperature_celsius={0: 9.5}, excursion_minutes={0: 30.0})), FridgeMove) == []


def test_an_unknown_excursion_outside_the_band_leaves_no_time():
    state = _state(temperature_celsius={0: 9.5}, excursion_minutes={0: np.nan})
    (move,) = of_kind(_decisions(state), FridgeMove)
    assert move.why.facts == {"temperature_celsius": 9.5}


def test_without_power_a_lot_moves_an_hour_before_its_fridge_leaves_the_band():
    # A degree an hour: 6.5 is an hour and a half from the edge, 7.1 less than one.
    assert of_kind(_decisions(_state(power_on={0: 0.0}, temperature_celsius={0: 6.5})), FridgeMove) == []
    (move,) = of_kind(_decisions(_state(power_on={0: 0.0}, temperature_celsius={0: 7.1})), FridgeMove)
    assert move.why.facts["minutes_to_loss"] == 54 + 240


def test_what_finds_no_room_at_the_site_goes_by_van_to_the_next():
    failing = {"temperature_celsius": {0: 9.5}, "power_on": {0: 0.0}, "excursion_minutes": {0: 90.0}}
    # 1.2 litres are 20 vials.
    decisions = _decisions(_state(**failing, volume_used_litres={1: 18.8}))
    assert [(type(one).__name__, one.doses) for one in decisions] == [("DoseTransfer", 180), ("FridgeMove", 120)]
    transfer = of_kind(decisions, DoseTransfer)[0]
    assert (transfer.to_site_id, transfer.van_id, transfer.why.code) == ("s1", "v0", "failing_fridge")


def test_a_failing_fridge_does_not_receive_from_another():
    state = _state(
        temperature_celsius={0: 9.5, 1: 9.5}, excursion_minutes={0: 90.0, 1: 10.0}, power_on={0: 0.0, 1: 0.0}
    )
    assert of_kind(_decisions(state), FridgeMove) == []
    assert {one.to_site_id for one in of_kind(_decisions(state), DoseTransfer)} == {"s1"}


def test_what_would_be_lost_first_moves_first_into_the_little_room_there_is():
    lots = (Lot(0, 60, number="later", fridge=0), Lot(0, 60, number="sooner", fridge=1), Lot(1, 600))
    state = _state(
        lots,
        num_fridges=3,
        vans_at=(),
        temperature_celsius={0: 9.5, 1: 9.5},
        excursion_minutes={0: 70.0, 1: 200.0},
        power_on={0: 0.0, 1: 0.0},
        volume_used_litres={2: 19.4},
    )
    assert [(one.lot_number, one.doses) for one in of_kind(_decisions(state), FridgeMove)] == [("sooner", 60)]


@pytest.mark.parametrize(
    ("lot", "columns", "why"),
    [
        (Lot(0, 300, -0.1, open_doses=2), {}, Why("expired")),
        (
            Lot(0, 300, open_doses=2),
            {"excursion_minutes": {0: 240.0}},
            Why("excursion_spent", {"excursion_minutes": 240, "budget_minutes": 240}),
        ),
    ],
)
def test_a_lot_that_is_lost_goes_out_of_use_whole(lot, columns, why):
    decisions = _decisions(_state((lot, Lot(0, 600), Lot(1, 600)) if not columns else (lot, Lot(1, 600)), **columns))
    assert of_kind(decisions, MarkUnusable) == [MarkUnusable("s0", "f0a", "alpha", "lot-0-0", 302, why)]


def test_unknown_expiry_and_excursion_throw_nothing_away():
    state = _state((Lot(0, 300, np.nan), Lot(1, 600)), excursion_minutes={0: np.nan})
    assert _decisions(state) == []


def test_a_fridge_too_full_to_keep_cold_gives_what_expires_last():
    lots = (Lot(0, 60, 10, number="early"), Lot(0, 600, 40, number="late"), Lot(1, 600))
    decisions = _decisions(_state(lots, volume_used_litres={0: 19.5}))
    # From 19.5 litres down to 17: 2.5 litres are 42 vials.
    assert decisions == [
        FridgeMove("s0", "alpha", "late", "f0a", "f0b", 252, Why("fridge_full", {"volume_used_share": 0.97}))
    ]


def test_a_full_fridge_is_not_emptied_into_one_that_would_then_be_full_itself():
    lots = (Lot(0, 600, number="lot"), Lot(1, 600))
    decisions = _decisions(_state(lots, volume_used_litres={0: 19.5, 1: 16.9}))
    # 85 % of 20 litres are 17: 0.1 litres are one vial.
    assert [one.doses for one in decisions] == [6]


def test_between_the_two_fill_levels_nothing_moves():
    assert _decisions(_state(volume_used_litres={0: 18.0})) == []


@pytest.mark.parametrize(("celsius", "set_point"), [(7.6, 4.0), (2.4, 6.0)])
def test_a_drift_into_the_outer_band_is_answered_by_a_set_point_against_it(celsius, set_point):
    decisions = _decisions(_state(temperature_celsius={0: celsius}))
    assert decisions == [SetPoint("s0", "f0a", set_point, Why("band_drift", {"temperature_celsius": celsius}))]
    answered = _state(temperature_celsius={0: celsius}, set_point_celsius={0: set_point})
    assert _decisions(answered) == []


def test_inside_the_band_without_power_or_without_doses_no_set_point_is_touched():
    assert _decisions(_state(temperature_celsius={0: 7.0})) == []
    assert of_kind(_decisions(_state(temperature_celsius={0: 7.6}, power_on={0: 0.0})), SetPoint) == []
    assert _decisions(_state(temperature_celsius={1: 7.6})) == []


def test_a_set_point_sent_before_stands_until_the_drift_is_well_over():
    sent = SetPoint("s0", "f0a", 4.0, Why("band_drift"))
    with_sent = Commitments(sent=(sent,))
    assert _decisions(_state(temperature_celsius={0: 7.1}, commitments=with_sent))[0].key == sent.key
    assert _decisions(_state(temperature_celsius={0: 6.5}, commitments=with_sent)) == []


def test_the_receiving_fridge_is_cooled_before_a_delivery_when_it_is_in_the_warmer_half():
    lots = (Lot(0, 60), Lot(1, 600))
    warm = _decisions(_state(lots, vans_at=(1,), temperature_celsius={0: 6.0, 1: 6.0}))
    assert of_kind(warm, DoseTransfer)[0].to_fridge_id == "f0a"
    assert of_kind(warm, PreCool) == [PreCool("s0", "f0a", 3.5, Why("delivery_ahead"))]
    assert of_kind(_decisions(_state(lots, vans_at=(1,))), PreCool) == []


@pytest.mark.parametrize(
    "columns",
    [
        {"temperature_celsius": {0: 9.5}, "power_on": {0: 0.0}, "excursion_minutes": {0: 90.0}},
        {"excursion_minutes": {0: 240.0}},
        {"volume_used_litres": {0: 19.5}},
        {"temperature_celsius": {0: 7.6}},
    ],
)
def test_what_is_being_done_or_was_refused_is_not_asked_again_and_frozen_sites_are_left_alone(columns):
    state = _state(vans_at=(), **columns)
    asked = _decisions(state)
    assert len(asked) == 1
    for kind in ("acknowledged", "under_way", "refused"):
        again = _decisions(replace(state, commitments=Commitments(**{kind: tuple(asked)})))
        assert asked[0].key not in {one.key for one in again}
    assert _decisions(replace(state, commitments=Commitments(frozen_site_ids=frozenset({"s0"})))) == []
    assert _decisions(replace(state, commitments=Commitments(sent=tuple(asked)))) == asked
    old = np.full(state.valid_epoch_minutes.shape, NOW_MINUTES - 31)
    assert _decisions(replace(state, valid_epoch_minutes=old)) == []


def test_what_is_pinned_is_proposed():
    pins = (
        FridgeMove("s0", "alpha", "lot-0-0", "f0a", "f0b", 60, Why("pinned")),
        SetPoint("s0", "f0a", 4.5, Why("pinned")),
        PreCool("s1", "f1a", 3.0, Why("pinned")),
    )
    assert _decisions(_state(commitments=Commitments(pinned=pins))) == [pins[0], pins[2], pins[1]]


def test_a_parameter_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"^outer_share: must lie in 0\.\.0\.25, got 0\.3"):
        ColdChainParams(outer_share=0.3)
    with pytest.raises(ValueError, match=r"^relieved_share: must be at most full_share"):
        ColdChainParams(relieved_share=0.99)
