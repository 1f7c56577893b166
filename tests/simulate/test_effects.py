"""What each kind of order does to the world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from order_samples import feasible_decisions
from simulated_worlds import live

from doseflow.domain.decisions import DecisionKind
from doseflow.domain.roles import Role
from doseflow.simulate.draft import draft_of, world_of
from doseflow.simulate.draws import NumpyDraws
from doseflow.simulate.effects import CARRYING
from doseflow.simulate.transition import step

KINDS = [str(kind) for kind in DecisionKind]


@pytest.fixture(scope="module")
def scene(morning, small_city, small_params):
    """The morning with some free slots ahead, and a decision of each kind that can be carried out in it."""
    free = morning.free_slots.copy()
    free[:, morning.day.period_of(morning.epoch_minutes) :] += 1
    world = replace(morning, free_slots=free)
    return world, small_city, small_params, feasible_decisions(world, small_city, small_params)


def carried_out(scene, kind, change=None):
    world, city, params, decisions = scene
    decision = change(decisions[kind]) if change else decisions[kind]
    draft = draft_of(world, city, params)
    outcome = CARRYING[decision.kind].begin(draft, decision)
    if isinstance(outcome, str):
        return world_of(draft), outcome
    reason = CARRYING[decision.kind].finish(draft, decision, np.random.default_rng(1))
    return world_of(draft), reason


def unchanged(world, after):
    names = ("staff_people", "stations_open", "free_slots", "coming_people")
    same = all(np.array_equal(getattr(world, name), getattr(after, name)) for name in names)
    lots = np.array_equal(world.lots.unopened_doses, after.lots.unopened_doses)
    trips = len(after.staff_trips) == len(world.staff_trips) and len(after.dose_trips) == len(world.dose_trips)
    return same and lots and trips and np.array_equal(world.vans.site_idx, after.vans.site_idx)


def test_every_kind_of_decision_can_be_carried_out():
    assert set(CARRYING) == set(DecisionKind)


@pytest.mark.parametrize("kind", KINDS)
def test_an_order_that_fits_is_done(scene, kind):
    assert carried_out(scene, kind)[1] == ""


@pytest.mark.parametrize("kind", KINDS)
def test_carrying_out_never_writes_to_the_world_it_began_from(scene, kind):
    world = scene[0]
    staff, free, coming = world.staff_people.copy(), world.free_slots.copy(), world.coming_people.copy()
    doses, set_points = world.lots.unopened_doses.copy(), world.fridges.set_point_celsius.copy()
    carried_out(scene, kind)
    assert np.array_equal(staff, world.staff_people)
    assert np.array_equal(free, world.free_slots)
    assert np.array_equal(coming, world.coming_people)
    assert np.array_equal(doses, world.lots.unopened_doses)
    assert np.array_equal(set_points, world.fridges.set_point_celsius)


def test_a_staff_move_takes_people_here_and_brings_them_there_after_the_way(scene):
    world, city, params, decisions = scene
    move = decisions["staff_move"]
    giver, taker = city.site_to_idx[move.from_site_id], city.site_to_idx[move.to_site_id]
    after, _ = carried_out(scene, "staff_move")
    assert after.staff_people[giver].sum() == world.staff_people[giver].sum() - 1
    assert after.staff_people[taker].sum() == world.staff_people[taker].sum()
    arrived = live(after, int(np.ceil(move.travel_minutes)), params)
    assert arrived.staff_people[taker, 2, 2, :, 1].sum() == 1
    assert len(arrived.staff_trips) == 0


def test_somebody_sent_to_another_work_does_it_there(scene):
    world, _, _, _ = scene
    after, reason = carried_out(scene, "staff_move", lambda move: replace(move, works_as=Role.OBSERVER))
    assert reason == ""
    assert after.staff_trips["works_as_idx"].tolist() == [3]
    assert after.staff_people.sum() == world.staff_people.sum() - 1


@pytest.mark.parametrize(
    "change",
    [
        lambda move: replace(move, people=10_000),
        lambda move: replace(move, works_as=Role.REGISTRAR),
        lambda move: replace(move, shift_ends_at=move.shift_ends_at.replace(minute=59)),
    ],
    ids=["too many", "not qualified", "no such shift"],
)
def test_an_impossible_staff_move_is_refused_and_changes_nothing(scene, change):
    after, reason = carried_out(scene, "staff_move", change)
    assert "qualified vaccinator" in reason
    assert unchanged(scene[0], after)


def test_a_station_change_opens_what_was_asked_and_no_more_than_there_is(scene):
    _, city, params, decisions = scene
    at = city.site_to_idx[decisions["station_change"].site_id], 2
    assert carried_out(scene, "station_change")[0].stations_open[at] == 1
    too_many = int(params.stations_possible[at]) + 1
    _, reason = carried_out(scene, "station_change", lambda change: replace(change, open_stations=too_many))
    assert f"only {too_many - 1} stations" in reason


def test_a_dose_transfer_goes_by_van_and_arrives_whole(scene):
    world, city, params, decisions = scene
    transfer = decisions["dose_transfer"]
    giver, taker = city.site_to_idx[transfer.from_site_id], city.site_to_idx[transfer.to_site_id]
    after, _ = carried_out(scene, "dose_transfer")
    assert after.lots.unopened_doses[giver].sum() == world.lots.unopened_doses[giver].sum() - transfer.doses
    assert after.vans.site_idx[0] == -1
    before_there = int(after.lots.unopened_doses[taker].sum() + after.lots.open_doses[taker].sum())
    draws, start = NumpyDraws(np.random.default_rng(5)), after.totals
    for _ in range(int(np.ceil(transfer.travel_minutes))):
        after = step(after, draws, params)
    used = after.totals.doses_given + after.totals.doses_wasted - start.doses_given - start.doses_wasted
    on_hand = int(after.lots.unopened_doses[taker].sum() + after.lots.open_doses[taker].sum())
    assert on_hand == before_there - used[taker] + transfer.doses
    assert after.vans.site_idx[0] == taker


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda one: replace(one, doses=one.doses + 1), "whole vials"),
        (lambda one: replace(one, doses=6 * 10**6), "unopened doses"),
        (lambda one: replace(one, lot_number="nowhere"), "no lot nowhere"),
        (lambda one: replace(one, van_id="van-999"), "van-999 is not free"),
        (lambda one: replace(one, to_fridge_id="cellar"), "no such fridge"),
    ],
)
def test_an_impossible_dose_transfer_is_refused_with_its_reason_and_changes_nothing(scene, change, reason):
    after, given_reason = carried_out(scene, "dose_transfer", change)
    assert reason in given_reason
    assert unchanged(scene[0], after)


def test_a_van_that_drives_is_not_free(scene):
    world, city, params, decisions = scene
    draft = draft_of(world, city, params)
    first = CARRYING[DecisionKind.DOSE_TRANSFER].begin(draft, decisions["dose_transfer"])
    second = CARRYING[DecisionKind.DOSE_TRANSFER].begin(draft, decisions["dose_transfer"])
    assert isinstance(first, float)
    assert "not free" in second


def test_vials_move_between_the_fridges_of_a_site(scene):
    world, city, _, decisions = scene
    move = decisions["fridge_move"]
    site = city.site_to_idx[move.site_id]
    slot = [fridge.fridge_id for fridge in city.sites[site].fridges].index(move.to_fridge_id)

    def held(one):
        return one.lots.unopened_doses[site][one.lots.fridge_slot[site] == slot].sum()

    after, _ = carried_out(scene, "fridge_move")
    assert held(after) == held(world) + move.doses
    assert after.lots.unopened_doses[site].sum() == world.lots.unopened_doses[site].sum()


def test_a_full_fridge_takes_nothing(scene):
    world, city, params, decisions = scene
    tiny = replace(world.fridges, volume_litres=world.fridges.volume_litres * 1e-6)
    after, reason = carried_out((replace(world, fridges=tiny), city, params, decisions), "fridge_move")
    assert "no room" in reason
    assert np.array_equal(after.lots.unopened_doses, world.lots.unopened_doses)


def test_a_spent_lot_is_not_carried_anywhere(scene):
    world, city, params, decisions = scene
    spent = replace(world.lots, excursion_minutes=np.full_like(world.lots.excursion_minutes, 1e5))
    for kind in ("dose_transfer", "fridge_move"):
        _, reason = carried_out((replace(world, lots=spent), city, params, decisions), kind)
        assert "may not be given any more" in reason


def test_a_pre_cooled_fridge_gets_colder_and_then_comes_back(scene):
    world, city, params, decisions = scene
    order = decisions["pre_cool"]
    site = city.site_to_idx[order.site_id]
    slot = [fridge.fridge_id for fridge in city.sites[site].fridges].index(order.fridge_id)
    still = replace(params, assumed=replace(params.assumed, fridge_noise_celsius=0.0))
    after, _ = carried_out((world, city, still, decisions), "pre_cool")
    cold = live(after, 110, still).fridges.temperature_celsius[site, slot]
    back = live(after, 300, still).fridges.temperature_celsius[site, slot]
    # The door is opened for vials all the time, which keeps it a little warmer than it aims at.
    assert cold == pytest.approx(order.target_celsius, abs=0.7)
    assert back == pytest.approx(world.fridges.set_point_celsius[site, slot], abs=0.7)


def test_a_lot_marked_unusable_is_gone_and_counted(scene):
    world, city, _, decisions = scene
    order = decisions["mark_unusable"]
    site = city.site_to_idx[order.site_id]
    after, _ = carried_out(scene, "mark_unusable")
    lost = (world.lots.unopened_doses + world.lots.open_doses)[site].sum()
    lost -= (after.lots.unopened_doses + after.lots.open_doses)[site].sum()
    assert lost > 0
    assert after.totals.doses_discarded[site] == world.totals.doses_discarded[site] + lost


def test_a_set_point_is_set(scene):
    after, _ = carried_out(scene, "set_point")
    changed = after.fridges.set_point_celsius != scene[0].fridges.set_point_celsius
    assert after.fridges.set_point_celsius[changed].tolist() == [4.0]


def test_released_slots_are_offered_and_then_booked(scene):
    world, city, params, decisions = scene
    order = decisions["release_slots"]
    site = city.site_to_idx[order.site_id]
    after, _ = carried_out(scene, "release_slots")
    assert after.free_slots[site].sum() == world.free_slots[site].sum() + order.people
    booked_with, booked_without = (live(one, 45, params).booked_people[site].sum() for one in (after, world))
    assert booked_with > booked_without


def test_held_slots_are_no_longer_offered_and_booked_ones_stay(scene):
    world, city, _, decisions = scene
    site = city.site_to_idx[decisions["hold_slots"].site_id]
    after, _ = carried_out(scene, "hold_slots", lambda order: replace(order, people=1000))
    first = world.day.period_of(world.epoch_minutes) + 6
    assert after.free_slots[site, first : first + 3].sum() == 0
    assert np.array_equal(after.booked_people, world.booked_people)
    none_free = replace(world, free_slots=np.zeros_like(world.free_slots))
    assert "is taken" in carried_out((none_free, *scene[1:]), "hold_slots")[1]


def test_people_told_a_time_come_later_and_none_is_lost(scene):
    world, city, _, decisions = scene
    site = city.site_to_idx[decisions["tell_arrival_time"].site_id]
    after, _ = carried_out(scene, "tell_arrival_time", lambda order: replace(order, people=1000))
    now = int(world.epoch_minutes - world.day.midnight) + 1
    soon = slice(now, now + 30)
    assert after.coming_people[site].sum() == world.coming_people[site].sum()
    assert after.coming_people[site, soon].sum() < world.coming_people[site, soon].sum()
    assert np.array_equal(after.coming_people[site, :now], world.coming_people[site, :now])


def test_walk_ins_that_are_sent_on_come_to_the_neighbour(scene):
    world, city, params, decisions = scene
    order = decisions["send_walk_ins"]
    giver, taker = city.site_to_idx[order.from_site_id], city.site_to_idx[order.to_site_id]
    busy = replace(world, walk_ins_people=np.full_like(world.walk_ins_people, 2))
    after, _ = carried_out((busy, *scene[1:]), "send_walk_ins")
    later = live(after, 20, params)
    diverted = later.totals.diverted[giver] - world.totals.diverted[giver]
    assert 1 <= diverted <= order.people
    booked = live(busy, 1, params).coming_people[taker].sum()
    assert later.coming_people[taker].sum() >= booked + diverted
    assert len(live(after, 40, params).diversions) == 0
