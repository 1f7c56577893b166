"""Which levers are pulled on arrivals."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from rules_city import AS_OF, Lot, calm_state, city_of, forecast_of, lot_table, of_kind

from doseflow.domain.decisions import HoldSlots, ReleaseSlots, SendWalkIns, TellArrivalTime, Why
from doseflow.domain.limits import OperatingLimits
from doseflow.domain.orders import Commitments
from doseflow.policy.arrival_rules import ArrivalParams
from doseflow.policy.rules_policy import RulesPolicy

LEVERS = (HoldSlots, ReleaseSlots, SendWalkIns, TellArrivalTime)
NO_MOVES = OperatingLimits(max_city_moved_people=0)


def _levers(state, per_minute=None, doses=100.0):
    rate = np.full(state.city.num_sites, 0.6) if per_minute is None else per_minute
    return [one for one in RulesPolicy()(state, forecast_of(state, rate, doses)).decisions if isinstance(one, LEVERS)]


def _crowded_site_0(num_sites=3, waiting=60.0, **given):
    """So many wait for vaccination at site 0, whose four serve one a minute; the others are moderately busy."""
    queue = np.zeros((num_sites, 4))
    queue[0, 2] = waiting
    return calm_state(city_of(num_sites, limits=NO_MOVES), **({"waiting_people": queue} | given))


def test_where_nobody_waits_long_and_little_is_free_no_lever_is_pulled():
    assert _levers(calm_state(city_of(3))) == []


def test_a_long_wait_holds_the_slots_of_the_worst_quarter_hour_back():
    booked = np.full((3, 8), 9.0)
    booked[0, 0] = 90
    (hold,) = of_kind(_levers(_crowded_site_0(booked_people=booked)), HoldSlots)
    # 30 % of 9 booked, in the first quarter hour that can still be changed.
    assert (hold.site_id, hold.bin_idx, hold.people) == ("s0", 1, 2)
    assert hold.why.code == "queue_ahead"
    assert hold.why.facts["wait_minutes"] == pytest.approx(50, abs=5)


def test_slots_are_not_held_back_where_all_of_them_must_be_booked_already():
    # 600 people a day in 10 hours are 15 a quarter hour.
    for booked, held in ((14.0, [1]), (15.0, [])):
        state = _crowded_site_0(booked_people=np.full((3, 8), booked))
        assert [one.people for one in of_kind(_levers(state), HoldSlots)] == held


def test_a_site_that_refused_to_hold_slots_is_not_asked_about_another_quarter_hour():
    state = _crowded_site_0()
    (hold,) = of_kind(_levers(state), HoldSlots)
    refused = Commitments(refused=(replace(hold, bin_idx=5),))
    assert of_kind(_levers(replace(state, commitments=refused)), HoldSlots) == []


def test_a_wait_under_the_threshold_asks_nothing_of_anybody():
    assert _levers(_crowded_site_0(waiting=28.0)) == []


def test_new_slot_orders_come_only_in_the_first_cycle_of_a_quarter_hour():
    state = _crowded_site_0(mean_early_minutes=np.full(3, 18.0), walk_in_share=np.full(3, 0.5))
    later = replace(state, as_of=AS_OF + timedelta(minutes=5))
    assert {type(one) for one in _levers(state)} == {HoldSlots, TellArrivalTime, SendWalkIns}
    assert {type(one) for one in _levers(later)} == {SendWalkIns}


def test_early_comers_are_told_a_time_when_the_wait_will_be_shorter_then():
    booked = np.full((3, 8), 10.0)
    state = _crowded_site_0(mean_early_minutes=np.array([18.0, 18, 18]), booked_people=booked)
    (tell,) = of_kind(_levers(state), TellArrivalTime)
    # The 20 booked of 15 to 45 minutes ahead, less no-shows of 5 %.
    assert tell == TellArrivalTime("s0", 19, 20.0, Why("early_arrivals", {"mean_early_minutes": 18.0}))
    growing = _levers(state, per_minute=np.array([1.4, 0.6, 0.6]))
    assert of_kind(growing, TellArrivalTime) == []
    punctual = replace(state, mean_early_minutes=np.full(3, 5.0))
    assert of_kind(_levers(punctual), TellArrivalTime) == []


def test_walk_ins_go_to_the_neighbour_with_the_shortest_way_and_wait_together():
    walk_in_share = np.full(3, 0.5)
    (send,) = of_kind(_levers(_crowded_site_0(walk_in_share=walk_in_share)), SendWalkIns)
    # Median arrivals of half an hour are 6 * 2.83, half of them walk-ins, half of those may be sent.
    assert (send.from_site_id, send.to_site_id, send.people, send.travel_minutes) == ("s0", "s1", 4, 10.0)
    assert send.why.code == "queue_ahead"
    queue = np.zeros((3, 4))
    queue[:2, 2] = [60.0, 24.0]
    (send,) = of_kind(_levers(_crowded_site_0(walk_in_share=walk_in_share, waiting_people=queue)), SendWalkIns)
    assert send.to_site_id == "s2"


def test_of_two_neighbours_with_the_same_wait_the_nearer_is_named():
    queue = np.zeros((3, 4))
    queue[2, 2] = 60.0
    state = _crowded_site_0(walk_in_share=np.full(3, 0.5), waiting_people=queue)
    assert [one.to_site_id for one in of_kind(_levers(state), SendWalkIns)] == ["s1"]


def test_no_neighbour_gets_more_walk_ins_than_it_can_serve():
    rate = np.array([1.4, 0.9, 0.6])
    state = _crowded_site_0(num_sites=3, walk_in_share=np.full(3, 1.0))
    sends = of_kind(_levers(state, per_minute=rate), SendWalkIns)
    # 4 vaccinators serve 30 in half an hour and 27 come, so 3 are free; 20 walk-ins might go.
    assert [(one.to_site_id, one.people) for one in sends] == [("s1", 3)]


@pytest.mark.parametrize(
    "changes",
    [
        {"walk_in_share": np.full(3, np.nan)},
        {"observed_wait_minutes": np.array([1.0, 9.0, 9.0])},
        {"is_open": np.array([True, False, False])},
        {"open_minutes_left": np.array([480.0, 60.0, 60.0])},
        {"lots": lot_table([Lot(0, 600), Lot(1, 60), Lot(2, 60)])},
        {"commitments": Commitments(frozen_site_ids=frozenset({"s1", "s2"}))},
        {"commitments": Commitments(suspended_site_ids=frozenset({"s1", "s2"}))},
        {"commitments": Commitments(frozen_site_ids=frozenset({"s0"}))},
    ],
)
def test_walk_ins_are_sent_to_no_site_that_should_not_have_them(changes):
    state = _crowded_site_0(walk_in_share=np.full(3, 0.5))
    assert len(of_kind(_levers(state), SendWalkIns)) == 1
    assert of_kind(_levers(replace(state, **changes)), SendWalkIns) == []


def test_walk_ins_already_sent_on_count_against_the_limit():
    state = _crowded_site_0(walk_in_share=np.full(3, 0.5))
    (send,) = of_kind(_levers(state), SendWalkIns)
    begun = replace(state, commitments=Commitments(under_way=(replace(send, people=3),)))
    assert [(one.to_site_id, one.people) for one in of_kind(_levers(begun), SendWalkIns)] == [("s2", 1)]
    all_begun = replace(state, commitments=Commitments(under_way=(send,)))
    assert of_kind(_levers(all_begun), SendWalkIns) == []


def test_a_site_with_room_offers_appointments_in_a_quarter_hour_that_people_can_still_reach():
    booked = np.full((3, 8), 12.0)
    levers = _levers(calm_state(city_of(3), booked_people=booked), per_minute=np.array([0.3, 0.6, 0.6]))
    # 60 % of what 4 vaccinators serve in a quarter hour is 9, about 4.5 come, and 30 % of 12 booked may change.
    assert levers == [ReleaseSlots("s0", 2, 3, Why("room_free", {"free_people": 4.0}))]


def test_no_appointments_are_offered_without_doses_to_spare_or_shortly_before_closing():
    booked = np.full((3, 8), 12.0)
    rate = np.array([0.3, 0.6, 0.6])
    for changes in (
        {"lots": lot_table([Lot(0, 108), Lot(1, 600), Lot(2, 600)])},
        {"open_minutes_left": np.array([40.0, 480.0, 480.0])},
    ):
        state = calm_state(city_of(3), booked_people=booked, **changes)
        assert of_kind(_levers(state, per_minute=rate), ReleaseSlots) == [], changes


def test_unknown_bookings_queues_or_arrivals_pull_no_lever():
    state = _crowded_site_0(walk_in_share=np.full(3, 0.5), mean_early_minutes=np.full(3, 18.0))
    assert len(_levers(state)) == 3
    assert of_kind(_levers(replace(state, booked_people=np.full((3, 8), np.nan))), HoldSlots) == []
    assert _levers(replace(state, waiting_people=np.full((3, 4), np.nan))) == []
    assert _levers(state, per_minute=np.full(3, np.nan)) == []


def test_what_was_sent_is_proposed_again_unchanged_until_the_wait_is_well_down():
    state = _crowded_site_0(mean_early_minutes=np.full(3, 18.0), walk_in_share=np.full(3, 0.5))
    asked = _levers(state)
    assert len(asked) == 3
    later = replace(state, as_of=AS_OF + timedelta(minutes=5), commitments=Commitments(sent=tuple(asked)))
    assert _levers(later) == asked
    queue = np.zeros((3, 4))
    queue[0, 2] = 26.0
    assert _levers(replace(later, waiting_people=queue)) == asked
    queue = np.zeros((3, 4))
    queue[0, 2] = 12.0
    assert of_kind(_levers(replace(later, waiting_people=queue)), (HoldSlots, TellArrivalTime)) == []


@pytest.mark.parametrize("kind", ["acknowledged", "under_way", "refused"])
def test_what_is_being_done_or_was_refused_is_not_asked_again(kind):
    state = _crowded_site_0(mean_early_minutes=np.full(3, 18.0), walk_in_share=np.full(3, 0.5))
    asked = _levers(state)
    again = _levers(replace(state, commitments=Commitments(**{kind: tuple(asked)})))
    assert not {one.key for one in asked} & {one.key for one in again}


def test_a_parameter_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"^room_utilisation_share: must lie in 0\.\.1, got 1\.5"):
        ArrivalParams(room_utilisation_share=1.5)
    with pytest.raises(ValueError, match=r"^keep_above_minutes: must lie between"):
        ArrivalParams(keep_above_minutes=31.0)
