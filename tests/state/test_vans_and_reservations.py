import numpy as np
from state_samples import TEN, folded, minutes_later, nothing_known, report

from doseflow.domain.decisions import DoseTransfer, FridgeMove, StaffMove, Why
from doseflow.domain.orders import Commitments
from doseflow.domain.report import LotOnHand, StaffGroup, Surroundings, VanSighting
from doseflow.domain.roles import Role

ALPHA, BETA, GAMMA = 0, 1, 2
TEN_MINUTES = TEN.timestamp() / 60
WHY = Why("test")


def seen_at(site_id: str, valid: float, van_id: str = "van-1", free_in: float = 0.0, received: float | None = None):
    return report(site_id, valid, received=received, surroundings=Surroundings((VanSighting(van_id, free_in),)))


def transfer(doses: int = 6, travel: float = 10.0, **changes) -> DoseTransfer:
    values = {
        "from_site_id": "alpha",
        "to_site_id": "beta",
        "product_id": "red",
        "lot_number": "L1",
        "from_fridge_id": "alpha-big",
        "to_fridge_id": "beta-big",
        "van_id": "van-1",
        "doses": doses,
        "travel_minutes": travel,
        "why": WHY,
    }
    return DoseTransfer(**values | changes)


def move(people: int, ends: float = 120.0, role: Role = Role.VACCINATOR) -> StaffMove:
    return StaffMove("alpha", "beta", role, role, minutes_later(ends), people, 10.0, WHY)


def test_vans_stand_at_home_and_are_free_until_seen_elsewhere():
    state = nothing_known()
    assert state.vans.site_idx.tolist() == [ALPHA, BETA]
    state = folded(state, seen_at("gamma", 0, free_in=12.0))
    assert state.vans.site_idx.tolist() == [GAMMA, BETA]
    assert state.vans.free_epoch_minutes[0] == TEN_MINUTES + 12


def test_a_van_stands_where_it_was_seen_last_whatever_order_the_reports_came_in():
    sightings = [seen_at("beta", 1), seen_at("gamma", 3), seen_at("alpha", 2)]
    assert folded(nothing_known(), *sightings, at=5).vans.site_idx[0] == GAMMA
    assert folded(nothing_known(), *reversed(sightings), at=5).vans.site_idx[0] == GAMMA


def test_a_late_sighting_does_not_move_a_van_back():
    state = folded(nothing_known(), seen_at("gamma", 5), at=5)
    assert folded(state, seen_at("beta", 2, received=8), at=10).vans.site_idx[0] == GAMMA


def test_a_site_that_lists_no_van_does_not_lose_one():
    state = folded(nothing_known(), seen_at("gamma", 0))
    assert folded(state, report("gamma", 5, surroundings=Surroundings()), at=5).vans.site_idx[0] == GAMMA


def test_a_promised_or_running_transfer_binds_its_van_for_the_way_there_and_back():
    for commitments in (Commitments(acknowledged=(transfer(),)), Commitments(under_way=(transfer(),))):
        state = folded(nothing_known(), at=5, commitments=commitments)
        assert state.vans.free_epoch_minutes.tolist() == [TEN_MINUTES + 5 + 20, TEN_MINUTES]
        assert state.vans.site_idx[0] == ALPHA
    assert (
        folded(nothing_known(), at=5, commitments=Commitments(sent=(transfer(),))).vans.free_epoch_minutes[0]
        == TEN_MINUTES
    )


def test_a_van_that_says_it_is_busy_longer_is_busy_longer():
    state = folded(nothing_known(), seen_at("alpha", 0, free_in=90.0), commitments=Commitments(under_way=(transfer(),)))
    assert state.vans.free_epoch_minutes[0] == TEN_MINUTES + 90


def test_acknowledged_moves_reserve_people_of_their_group_least_moved_first():
    groups = (
        StaffGroup(Role.VACCINATOR, 2, minutes_later(120), 1),
        StaffGroup(Role.VACCINATOR, 1, minutes_later(120), 0),
        StaffGroup(Role.VACCINATOR, 5, minutes_later(60)),
        StaffGroup(Role.OBSERVER, 5, minutes_later(120)),
    )
    told = report(staff=groups)
    state = folded(nothing_known(), told, commitments=Commitments(acknowledged=(move(2),)))
    assert state.staff.reserved_people.tolist() == [1, 1, 0, 0]
    assert state.staff.people.tolist() == [2, 1, 5, 5]
    more_than_there_are = folded(nothing_known(), told, commitments=Commitments(acknowledged=(move(2), move(9))))
    assert more_than_there_are.staff.reserved_people.tolist() == [2, 1, 0, 0]


def test_moves_under_way_or_only_sent_reserve_nobody():
    told = report(staff=(StaffGroup(Role.VACCINATOR, 2, minutes_later(120)),))
    commitments = Commitments(under_way=(move(1),), sent=(move(1),))
    assert folded(nothing_known(), told, commitments=commitments).staff.reserved_people.tolist() == [0]


def test_reservations_last_only_as_long_as_the_commitment():
    told = report(staff=(StaffGroup(Role.VACCINATOR, 2, minutes_later(120)),))
    state = folded(nothing_known(), told, commitments=Commitments(acknowledged=(move(1),)))
    assert folded(state, at=5).staff.reserved_people.tolist() == [0]


def test_acknowledged_transfers_and_fridge_moves_reserve_doses_of_their_lot_in_their_fridge():
    lots = (
        LotOnHand("L1", "red", "alpha-big", 60),
        LotOnHand("L1", "red", "alpha-small", 60),
        LotOnHand("L1", "blue", "alpha-big", 60),
    )
    within = FridgeMove("alpha", "red", "L1", "alpha-small", "alpha-big", 12, WHY)
    commitments = Commitments(acknowledged=(transfer(18), within, transfer(6, from_site_id="gone")))
    state = folded(nothing_known(), report(lots=lots), commitments=commitments)
    assert state.lots.reserved_doses.tolist() == [18, 12, 0]
    assert state.lots.unopened_doses.tolist() == [60, 60, 60]


def test_a_shift_that_ends_between_two_seconds_is_still_matched():
    ends = minutes_later(120).replace(microsecond=400_000)
    told = report(staff=(StaffGroup(Role.VACCINATOR, 2, ends),))
    state = folded(nothing_known(), told, commitments=Commitments(acknowledged=(move(1),)))
    assert state.staff.reserved_people.tolist() == [1]
    assert np.array(state.staff.shift_ends_epoch_minutes) == TEN_MINUTES + 120 + 0.4 / 60
