import numpy as np
import pytest
from encoding_samples import after, everywhere, full_report, make_city, state_of

from doseflow.domain.decisions import DecisionKind, DoseTransfer, StaffMove, Why
from doseflow.domain.report import LotOnHand, StaffGroup
from doseflow.domain.roles import ROLES, Role
from doseflow.encoding.action_layout import action_layout
from doseflow.encoding.possible_actions import possible_actions

LAYOUT = action_layout(2)
ALPHA, BETA, GAMMA = 0, 1, 2


def possible(state, site_idx: int, name: str) -> bool:
    return bool(possible_actions(state, LAYOUT)[site_idx, LAYOUT.position[name]])


def test_the_layout_holds_every_kind_of_decision_in_order_and_each_name_once():
    kinds = list(dict.fromkeys(action.kind for action in LAYOUT.actions))
    assert kinds == list(DecisionKind)
    assert len(LAYOUT.position) == LAYOUT.num_actions == 4 * 2 + 8 + 4 * 2 + 4 + 16 + 1 + 2
    assert sum(one.stop - one.start for one in LAYOUT.columns.values()) == LAYOUT.num_actions
    for kind, columns in LAYOUT.columns.items():
        assert {action.kind for action in LAYOUT.actions[columns]} == {kind}


def test_a_layout_grows_with_the_neighbours_only():
    assert action_layout(10).num_actions - action_layout(9).num_actions == 4 + 4 + 1
    with pytest.raises(ValueError, match="num_neighbours"):
        action_layout(0)
    with pytest.raises(ValueError, match="layout"):
        possible_actions(state_of(), action_layout(3))


def test_nothing_is_possible_where_nothing_is_known():
    assert not possible_actions(state_of(), LAYOUT).any()


def test_nothing_goes_to_a_neighbour_that_does_not_exist():
    mask = possible_actions(state_of(*everywhere()), LAYOUT)
    to_second = [action.neighbour == 1 for action in LAYOUT.actions]
    assert not mask[BETA, to_second].any()
    assert mask[ALPHA, to_second].any()


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        (StaffGroup(Role.OBSERVER, 1, after(70)), True),
        (StaffGroup(Role.OBSERVER, 1, after(69)), False),
        (StaffGroup(Role.OBSERVER, 0, after(300)), False),
        (StaffGroup(Role.OBSERVER, 1, after(300), moves_today=1), False),
        (StaffGroup(Role.REGISTRAR, 1, after(300)), False),
    ],
)
def test_staff_may_go_where_somebody_of_the_role_can_still_stay_an_hour(group, expected):
    state = state_of(full_report("alpha", staff=(group,)), full_report("beta"))
    assert possible(state, ALPHA, "send_observer_to_neighbour_0") is expected


def test_staff_go_no_further_than_the_limit():
    state = state_of(*everywhere())
    assert possible(state, GAMMA, "send_vaccinator_to_neighbour_0")
    assert not possible(state, GAMMA, "send_vaccinator_to_neighbour_1")


def test_promised_people_and_doses_cannot_be_sent_again():
    why = Why("test")
    move = StaffMove("alpha", "beta", Role.OBSERVER, Role.OBSERVER, after(240), 3, 10.0, why)
    transfer = DoseTransfer("alpha", "beta", "product-0", "L1", "alpha-big", "beta-big", "van-1", 60, 10.0, why)
    lots = (LotOnHand("L1", "product-0", "alpha-big", 60, 0, after(6000)),)
    reports = (full_report("alpha", lots=lots), full_report("beta"))
    free, bound = state_of(*reports), state_of(*reports, acknowledged=(move, transfer))
    for name in ("send_observer_to_neighbour_0", "send_product_0_to_neighbour_0"):
        assert possible(free, ALPHA, name)
        assert not possible(bound, ALPHA, name)


def test_sites_whose_readings_are_old_neither_give_nor_receive_people():
    fresh, old = state_of(*everywhere(), at=30), state_of(*everywhere(), at=31)
    assert possible(fresh, ALPHA, "send_vaccinator_to_neighbour_0")
    assert not possible(old, ALPHA, "send_vaccinator_to_neighbour_0")
    assert not possible(old, ALPHA, "open_registration_station")
    silent_receiver = state_of(full_report("alpha"))
    assert not possible(silent_receiver, ALPHA, "send_vaccinator_to_neighbour_0")


def test_stations_open_up_to_the_possible_and_close_down_to_none():
    state = state_of(*everywhere())
    names = ("registration", "screening", "observation")
    assert [possible(state, ALPHA, f"open_{stage}_station") for stage in names] == [True, False, True]
    assert [possible(state, ALPHA, f"close_{stage}_station") for stage in names] == [True, True, False]


@pytest.mark.parametrize(
    ("lot", "to_rank", "expected"),
    [
        (LotOnHand("L", "product-1", "alpha-big", 6, 0, after(6000)), 1, True),
        (LotOnHand("L", "product-1", "alpha-big", 6, 0, after(6000)), 0, False),
        (LotOnHand("L", "product-1", "alpha-big", 5, 9, after(6000)), 1, False),
        (LotOnHand("L", "product-1", "alpha-big", 6, 0, after(240 + 44)), 1, False),
        (LotOnHand("L", "product-1", "alpha-big", 6, 0, None), 1, False),
    ],
)
def test_whole_vials_with_life_left_may_go_to_a_site_that_takes_the_product(lot, to_rank, expected):
    state = state_of(full_report("alpha", lots=(lot,)), full_report("beta"), full_report("gamma"))
    assert possible(state, ALPHA, f"send_product_1_to_neighbour_{to_rank}") is expected


def test_cold_chain_orders_need_what_they_act_on():
    state = state_of(full_report("alpha"), full_report("beta", lots=()))
    names = ("move_lots_to_another_fridge", "pre_cool_a_fridge", "mark_a_lot_unusable", "change_a_set_point")
    assert [possible(state, ALPHA, name) for name in names] == [True, True, True, True]
    assert [possible(state, BETA, name) for name in names] == [False, True, False, True]
    assert [possible(state, GAMMA, name) for name in names] == [False] * 4


def test_slots_are_held_only_where_somebody_is_booked():
    state = state_of(*everywhere())
    assert [possible(state, ALPHA, f"hold_slots_in_bin_{bin_idx}") for bin_idx in (0, 1)] == [True, False]
    assert [possible(state, ALPHA, f"release_slots_in_bin_{bin_idx}") for bin_idx in (0, 1)] == [True, True]
    assert possible(state, ALPHA, "tell_an_arrival_time")


def test_walk_ins_are_sent_half_as_far_as_staff():
    state = state_of(*everywhere())
    assert possible(state, ALPHA, "send_walk_ins_to_neighbour_0")
    assert not possible(state, ALPHA, "send_walk_ins_to_neighbour_1")
    assert not possible(state_of(*everywhere(walk_in_share=0.0)), ALPHA, "send_walk_ins_to_neighbour_0")


def test_a_frozen_site_does_nothing_and_gets_nothing():
    mask = possible_actions(state_of(*everywhere(), frozen_site_ids=frozenset({"beta"})), LAYOUT)
    assert not mask[BETA].any()
    to_beta = [action.neighbour == 0 for action in LAYOUT.actions]
    assert not mask[ALPHA, to_beta].any()


def test_a_suspended_site_gives_and_closes_but_gets_and_opens_nothing():
    state = state_of(*everywhere(), suspended_site_ids=frozenset({"beta"}))
    assert possible(state, BETA, "send_vaccinator_to_neighbour_0")
    assert possible(state, BETA, "close_vaccination_station")
    assert not possible(state, BETA, "open_vaccination_station")
    assert not possible(state, BETA, "release_slots_in_bin_0")
    assert not possible(state, ALPHA, "send_vaccinator_to_neighbour_0")
    assert not possible(state, ALPHA, "send_product_0_to_neighbour_0")


def test_no_van_no_transfer():
    state = state_of(*everywhere(), city=make_city())
    assert possible(state, ALPHA, "send_product_0_to_neighbour_0")
    state.vans.site_idx[:] = -1
    assert not possible(state, ALPHA, "send_product_0_to_neighbour_0")


def test_the_mask_has_a_column_for_every_action_and_every_role_is_told_apart():
    mask = possible_actions(state_of(*everywhere()), LAYOUT)
    assert mask.shape == (3, LAYOUT.num_actions)
    assert mask.dtype == np.bool_
    only_screeners = state_of(
        full_report("alpha", staff=(StaffGroup(Role.SCREENER, 1, after(300)),)), full_report("beta")
    )
    sent = [possible(only_screeners, ALPHA, f"send_{role}_to_neighbour_0") for role in ROLES]
    assert sent == [False, True, False, False]
