"""Every rule: a plan that breaks exactly it, and the neighbouring plan that does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from feasible_city import (
    AS_OF,
    NOW,
    changed,
    fridge_move,
    hold,
    make_city,
    make_forecast,
    make_state,
    mark,
    move,
    pre_cool,
    release,
    send,
    set_point,
    staff_row,
    stations,
    tell,
    transfer,
    with_table,
)

from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.limits import OperatingLimits
from doseflow.domain.orders import Commitments
from doseflow.domain.plan import Proposal, RepairPath
from doseflow.domain.playbooks import Incidents
from doseflow.feasible.layer import FeasibleLayer, FeasibleParams
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup
from doseflow.feasible.referee import referee
from doseflow.feasible.row_book import ROWS_OF_RULE
from doseflow.feasible.rule_book import HARD_RULES, RULE_BOOK

TIDY = make_state()


def under(**limits):
    return make_state(make_city(limits=OperatingLimits(**limits)))


def told(state=TIDY, **wishes):
    return replace(state, commitments=Commitments(**wishes))


def with_array(name, where, value, state=TIDY):
    return replace(state, **{name: changed(getattr(state, name), where, value)})


def nobody_booked(state=TIDY):
    return replace(state, booked_people=np.zeros_like(state.booked_people))


def recalling(*lots):
    return told(incidents=Incidents(recalled_lots=frozenset(lots)))


def out_of_use(lot):
    """Every place of the tidy city where the lot lies, taken out of use."""
    lots, names = TIDY.lots, TIDY.fridges.fridge_id
    rows = [row for row, number in enumerate(lots.lot_number) if number == lot]
    return [
        mark(int(lots.site_idx[row]), lot, _doses(row), names[int(lots.fridge_row[row])], _product(row)) for row in rows
    ]


def _doses(row):
    return int(TIDY.lots.unopened_doses[row] + TIDY.lots.open_vial_doses[row])


def _product(row):
    return TIDY.city.products[int(TIDY.lots.product_idx[row])].product_id


LOT_EARLY, LOT_LATE, LOT_ICE = 0, 1, 2

# rule: (state, what breaks exactly it, what does not)
CASES = {
    "known_things": [
        (TIDY, [replace(move(), to_site_id="nowhere")], [move()]),
        (TIDY, [replace(move(), shift_ends_at=AS_OF + timedelta(hours=4))], [move()]),
        (TIDY, [transfer(lot="lost")], [transfer()]),
        (TIDY, [transfer(from_fridge="f9")], [transfer()]),
        (TIDY, [transfer(to_fridge="f9")], [transfer()]),
        (TIDY, [transfer(van="v9")], [transfer()]),
        (TIDY, [transfer(product_id="frozen")], [transfer()]),
        (TIDY, [fridge_move(to="f9")], [fridge_move()]),
        (TIDY, [release(bin_idx=8)], [release(bin_idx=7)]),
        (TIDY, [replace(stations(), stage="parking")], [stations()]),
        (TIDY, [replace(move(), works_as="juggler")], [move()]),
    ],
    "sound_quantity": [
        (TIDY, [move(people=0)], [move(people=1)]),
        (TIDY, [move(people=float("nan"))], [move(people=1)]),
        (TIDY, [move(people=1.5)], [move(people=1)]),
        (TIDY, [stations(after=-1)], [stations(after=0, stage=1)]),
        (TIDY, [set_point(celsius=float("nan"))], [set_point(celsius=4.0)]),
        (TIDY, [tell(delay_minutes=0.0)], [tell(delay_minutes=1.0)]),
        (TIDY, [transfer(doses=10**30)], [transfer()]),
    ],
    "asked_once": [(TIDY, [move(), move()], [move(), move(to=2)])],
    "frozen_site": [
        (told(frozen_site_ids=frozenset({"s1"})), [move()], [move(to=2)]),
        (told(frozen_site_ids=frozenset({"s0"})), [stations()], [stations(site=1)]),
    ],
    "suspended_site": [
        (
            told(with_array("stations_open", 1, 0.0), suspended_site_ids=frozenset({"s1"})),
            [move()],
            [move(to=2)],
        ),
        (
            told(suspended_site_ids=frozenset({"s1"})),
            [stations(1, stage, 0) for stage in range(3)],
            [stations(1, stage, 0) for stage in range(4)],
        ),
        (told(with_array("stations_open", 1, 0.0), suspended_site_ids=frozenset({"s1"})), [release(1)], [hold(1)]),
        (
            told(with_array("stations_open", 1, 0.0), suspended_site_ids=frozenset({"s1"})),
            [transfer()],
            [transfer(to=2)],
        ),
        (told(with_array("stations_open", 1, 0.0), suspended_site_ids=frozenset({"s1"})), [send(0, 1)], [send(0, 2)]),
    ],
    "pinned": [
        (told(pinned=(move(people=2),)), [], [move(people=2)]),
        (told(pinned=(move(people=2),)), [move(people=1)], [move(people=3)]),
        (told(pinned=(stations(after=5),)), [stations(after=6)], [stations(after=5)]),
        (told(pinned=(set_point(celsius=4.0),)), [set_point(celsius=5.0)], [set_point(celsius=4.0)]),
    ],
    "overridden": [
        (told(pinned=(move(),), overridden=(move(),)), [move(people=2)], [move(people=1)]),
        (told(acknowledged=(move(),), pinned=(move(),), overridden=(move(),)), [move(people=1)], [move(to=2)]),
    ],
    "recalled_lot": [
        (recalling("early"), [*out_of_use("early"), fridge_move()], [*out_of_use("early"), fridge_move(lot="late")]),
    ],
    "recall_out_of_use": [
        (recalling("early"), [], out_of_use("early")),
        (recalling("early"), out_of_use("early")[1:], out_of_use("early")),
        (recalling("early"), [mark(doses=1), *out_of_use("early")[1:]], out_of_use("early")),
        (
            told(frozen_site_ids=frozenset({"s0"}), incidents=Incidents(frozenset({"early"}))),
            out_of_use("early")[1:],
            out_of_use("early"),
        ),
    ],
    "failed_fridge": [
        (
            told(incidents=Incidents(failed_fridges=frozenset({("s0", "f2")}))),
            [fridge_move()],
            [set_point(fridge="f1")],
        ),
        (told(incidents=Incidents(power_cut_site_ids=frozenset({"s1"}))), [transfer()], [transfer(to=2)]),
    ],
    "not_refused": [(told(refused=(move(people=3),)), [move()], [move(to=2)])],
    "fresh_readings": [
        (with_array("valid_epoch_minutes", (1, FeatureClass.STAFF_ON_DUTY), NOW - 31), [move()], [move(to=2)]),
        (with_array("valid_epoch_minutes", (1, FeatureClass.STAFF_ON_DUTY), np.nan), [move()], [move(to=2)]),
        (with_array("valid_epoch_minutes", (0, FeatureClass.STATIONS), NOW - 31), [stations()], [stations(1)]),
        (with_array("valid_epoch_minutes", (1, FeatureClass.DOSES_ON_HAND), NOW - 31), [transfer()], [transfer(to=2)]),
        (
            with_array("valid_epoch_minutes", (0, FeatureClass.DOSES_ON_HAND), NOW - 31),
            [fridge_move()],
            [fridge_move(1)],
        ),
    ],
    "staff_on_hand": [
        (TIDY, [move(people=3, group=1)], [move(people=2, group=1)]),
        (
            with_table(TIDY, "staff", "reserved_people", staff_row(0, 2, 1), 1),
            [move(people=2, group=1)],
            [move(group=1)],
        ),
    ],
    "staff_qualified": [
        (TIDY, [move(works_as="observer")], [move(works_as="screener")]),
        (
            replace(TIDY, staff=replace(TIDY.staff, qualified=np.eye(4, dtype=bool)[TIDY.staff.role_idx])),
            [move(works_as="screener")],
            [move()],
        ),
    ],
    "moves_per_shift": [
        (with_table(TIDY, "staff", "moves_today", staff_row(0, 2), 1), [move()], [move(frm=1, to=2)]),
    ],
    "break_protected": [(with_array("breaks_due_people", (0, 2), 6.0), [move(people=3)], [move(people=2)])],
    "churn_per_role": [
        (with_array("stations_open", (0, 2), 1.0), [move(people=5)], [move(people=4)]),
    ],
    "churn_city": [(under(max_city_moved_people=3), [move(people=2), move(1, 2, 2)], [move(people=2), move(1, 2, 1)])],
    "shift_covers_move": [
        (under(min_stay_minutes=110.5), [move(group=1)], [move(group=0)]),
    ],
    "travel_reach": [
        (under(max_travel_minutes=9.9), [move()], []),
        (TIDY, [move(travel_minutes=12.0)], [move(travel_minutes=10.2)]),
        (TIDY, [move(travel_minutes=float("nan"))], [move()]),
        (TIDY, [replace(move(), to_site_id="s0", travel_minutes=0.0)], [move()]),
    ],
    "minimum_team": [
        (
            with_array(
                "breaks_due_people", 0, 0.0, with_array("stations_open", (0, 1), 0.0, under(max_moved_share=1.0))
            ),
            [move(role="screener", people=6), move(role="screener", people=2, group=1)],
            [move(role="screener", people=6), move(role="screener", people=1, group=1)],
        ),
        (
            with_table(
                with_array("stations_open", 0, 0.0), "staff", "people", [staff_row(0, 3), staff_row(0, 3, 1)], 0
            ),
            [stations(before=0, after=1)],
            [stations(stage=0, before=0, after=1)],
        ),
    ],
    "stations_as_reported": [(TIDY, [stations(before=3)], [stations(before=4)])],
    "stations_possible": [(with_array("stations_possible", (0, 2), 4.0), [stations(after=5)], [stations(after=4)])],
    "stations_staffed": [
        (TIDY, [stations(stage=0, after=6), move(role="registrar", people=3)], [stations(stage=0, after=6)]),
        (with_array("stations_open", (0, 2), 5.0), [move(people=4)], [move(people=4), stations(before=5, after=4)]),
    ],
    "station_churn": [(under(max_station_changes=1), [stations(after=6)], [stations(after=5)])],
    "seats_hold": [(with_array("seats_possible", 0, 18.0), [stations(after=5)], [stations(after=4)])],
    "open_when_running": [(with_array("is_open", 0, False), [stations(after=5)], [stations(after=3)])],
    "doses_on_hand": [
        (
            with_table(nobody_booked(), "lots", "reserved_doses", LOT_EARLY, 60),
            [transfer(doses=45)],
            [transfer(doses=40)],
        ),
        (TIDY, [fridge_move(doses=105)], [fridge_move(doses=100, to="f2")]),
    ],
    "whole_vials": [(TIDY, [transfer(doses=12)], [transfer(doses=10)])],
    "lot_usable": [
        (
            with_table(TIDY, "fridges", "excursion_minutes", 0, 240.0),
            [fridge_move()],
            [fridge_move(1)],
        ),
        (with_table(TIDY, "lots", "expires_epoch_minutes", LOT_EARLY, NOW), [fridge_move()], [fridge_move(lot="late")]),
    ],
    "lot_life": [
        (with_table(TIDY, "lots", "expires_epoch_minutes", LOT_EARLY, NOW + 249.0), [transfer()], [transfer(1, 2)]),
        (with_table(TIDY, "lots", "expires_epoch_minutes", LOT_EARLY, np.nan), [transfer()], [transfer(1, 2)]),
    ],
    "fefo": [
        (nobody_booked(), [transfer(lot="late")], [transfer()]),
        (
            replace(
                nobody_booked(),
                city=replace(make_city(), vans=tuple(replace(v, capacity_litres=9) for v in make_city().vans)),
            ),
            [transfer(doses=95), transfer(lot="late")],
            [transfer(doses=100), transfer(lot="late")],
        ),
    ],
    "safety_stock": [
        (
            with_table(with_table(TIDY, "lots", "unopened_doses", LOT_LATE, 0), "lots", "unopened_doses", LOT_ICE, 0),
            [transfer(doses=5)],
            [],
        ),
        (with_array("booked_people", 0, np.nan), [transfer()], [transfer(1, 2)]),
    ],
    "product_allowed": [
        (
            replace(
                TIDY,
                city=replace(
                    TIDY.city,
                    sites=(TIDY.city.sites[0], replace(TIDY.city.sites[1], products=("frozen",)), *TIDY.city.sites[2:]),
                ),
            ),
            [transfer()],
            [transfer(to=2)],
        ),
    ],
    "road_known": [
        (TIDY, [transfer(travel_minutes=11.0)], [transfer()]),
        (TIDY, [transfer(to_site_id="s0", to_fridge="f2", travel_minutes=0.0)], [transfer()]),
    ],
    "van_where_said": [
        (TIDY, [transfer(van="v1")], [transfer(van="v0")]),
        (with_table(TIDY, "vans", "site_idx", 0, -1), [transfer()], [transfer(1, 2)]),
        (with_table(TIDY, "vans", "free_epoch_minutes", 0, NOW + 1), [transfer()], [transfer(1, 2)]),
        (with_table(TIDY, "vans", "free_epoch_minutes", 0, np.nan), [transfer()], [transfer(1, 2)]),
        (told(acknowledged=(transfer(2, 3, van="v0"),)), [transfer()], [transfer(1, 2)]),
    ],
    "van_one_trip": [(TIDY, [transfer(to=1), transfer(to=2)], [transfer(to=1), transfer(to=1, to_fridge="f2")])],
    "van_volume": [
        (
            replace(
                TIDY, city=replace(TIDY.city, vans=tuple(replace(van, capacity_litres=0.06) for van in TIDY.city.vans))
            ),
            [transfer(doses=20)],
            [transfer(doses=15)],
        ),
    ],
    "cold_volume": [
        (with_table(TIDY, "fridges", "volume_used_litres", 3, 1.97), [transfer(doses=10)], [transfer(doses=5)]),
        (
            with_table(TIDY, "fridges", "volume_used_litres", 3, 1.97),
            [transfer(doses=10)],
            [transfer(doses=10), fridge_move(site=1, doses=5)],
        ),
        (with_table(TIDY, "fridges", "volume_possible_litres", 3, np.nan), [transfer()], [transfer(to_fridge="f2")]),
        (with_table(TIDY, "fridges", "volume_used_litres", 1, 0.97), [fridge_move()], [fridge_move(doses=5)]),
        (
            told(with_table(TIDY, "fridges", "volume_used_litres", 3, 1.93), under_way=(transfer(2, 1, 10, van="v2"),)),
            [transfer(doses=10)],
            [transfer(doses=5)],
        ),
    ],
    "storage_band": [
        (with_table(TIDY, "fridges", "temperature_celsius", 3, 8.1), [transfer()], [transfer(to_fridge="f2")]),
        (with_table(TIDY, "fridges", "temperature_celsius", 3, np.nan), [transfer()], [transfer(to_fridge="f2")]),
        (with_table(TIDY, "fridges", "power_on", 3, 0.0), [transfer()], [transfer(to_fridge="f2")]),
        (with_table(TIDY, "fridges", "power_on", 3, np.nan), [transfer()], [transfer(to_fridge="f2")]),
        (TIDY, [fridge_move(to="cold")], [fridge_move(to="f2")]),
    ],
    "set_point_in_band": [
        (TIDY, [set_point(celsius=8.5)], [set_point(celsius=8.0)]),
        (TIDY, [set_point(fridge="f2", celsius=30.0)], [set_point(fridge="f2", celsius=-20.0)]),
        (
            TIDY,
            [set_point(fridge="f2", celsius=-20.0), fridge_move()],
            [set_point(fridge="f2", celsius=3.0), fridge_move()],
        ),
    ],
    "pre_cool_in_band": [(TIDY, [pre_cool(celsius=1.5)], [pre_cool(celsius=2.0)])],
    "unusable_only_when_spent": [
        (with_table(TIDY, "fridges", "excursion_minutes", 0, 239.0), [mark()], []),
        (TIDY, [mark(site=1)], []),
    ],
    "fridge_move": [(TIDY, [fridge_move(to="f1")], [fridge_move(to="f2")])],
    "slots_within_share": [
        (TIDY, [release(people=4)], [release(people=3)]),
        (TIDY, [release(people=2), hold(people=2)], [release(people=2), hold(people=1)]),
        (with_array("booked_people", (0, 2), np.nan), [hold(people=1)], [hold(1, people=1)]),
    ],
    "walk_in_reach": [
        (with_array("is_open", 0, False), [send()], [send(2, 1)]),
        (under(max_travel_minutes=18.0), [send()], []),
        (TIDY, [send(travel_minutes=15.0)], [send()]),
    ],
    "send_walk_ins": [
        (TIDY, [send(people=16)], [send(people=15)]),
        (TIDY, [send(people=10), send(1, 2, 6)], [send(people=10), send(1, 2, 5)]),
        (with_array("walk_in_share", 1, np.nan), [send(people=1)], [send(2, 1, 1)]),
    ],
    "tell_arrival_time": [
        (TIDY, [tell(people=73)], [tell(people=72)]),
        (with_array("mean_early_minutes", 0, -1.0), [tell(people=1)], [tell(1, people=1)]),
        (with_array("no_show_share", 0, np.nan), [tell(people=1)], [tell(1, people=1)]),
    ],
    "told_before_closing": [(with_array("open_minutes_left", 0, 11.0), [tell()], [tell(delay_minutes=11.0)])],
    "worst_wait_first": [(TIDY, [move(1, 0)], [move(0, 1)])],
    "move_worth_travel": [(with_array("open_minutes_left", 1, 69.0), [move()], [move(to=2)])],
    "breaks_known": [(with_array("breaks_due_people", (0, 2), np.nan), [move()], [move(1, 2)])],
    "shorter_wait": [(TIDY, [send(0, 1)], [send(1, 0)])],
}


@pytest.mark.parametrize(("rule", "case"), [(rule, idx) for rule, cases in CASES.items() for idx in range(len(cases))])
def test_a_plan_breaks_exactly_one_rule_and_its_neighbour_none(rule, case):
    state, broken, neighbour = CASES[rule][case]
    forecast = make_forecast(state)
    hard = {one.name: one.hard for one in RULE_BOOK}
    found = {one.rule for one in referee(state, forecast, broken) if one.hard == hard[rule]}
    assert found == {rule}
    assert {one.rule for one in referee(state, forecast, neighbour) if one.hard == hard[rule]} == set()


@pytest.mark.parametrize(
    ("rule", "case"), [(rule.name, idx) for rule in HARD_RULES for idx in range(len(CASES[rule.name]))]
)
def test_the_solver_repairs_what_breaks_a_rule_and_the_referee_agrees(rule, case):
    state, broken, _ = CASES[rule][case]
    plan = FeasibleLayer(FeasibleParams(time_limit_milliseconds=10_000))(
        state, make_forecast(state), Proposal("broken", tuple(broken))
    )
    assert plan.repair_path is RepairPath.SOLVER
    assert plan.distance > 0
    decisions = [planned.decision for planned in plan.decisions]
    assert not any(violation.hard for violation in referee(state, make_forecast(state), decisions))


def test_every_rule_has_a_case():
    assert set(CASES) == {rule.name for rule in RULE_BOOK}


def test_rules_have_unique_names_and_full_sentences():
    assert len({rule.name for rule in RULE_BOOK}) == len(RULE_BOOK)
    for rule in RULE_BOOK:
        assert rule.name.isidentifier()
        assert rule.name.islower()
        assert rule.sentence.endswith(".")
        assert rule.reason.endswith(".")
        assert rule.source
        assert rule.sentence_zh


def test_every_hard_rule_is_built_into_the_model_in_the_order_of_the_book():
    assert list(ROWS_OF_RULE) == [rule.name for rule in HARD_RULES if not rule.each_alone]


@pytest.mark.parametrize("rule", [rule for rule in HARD_RULES if rule.each_alone], ids=lambda rule: rule.name)
def test_a_rule_of_each_decision_alone_names_one_decision_whatever_the_others(rule):
    for state, broken, _ in CASES[rule.name]:
        ledger = Ledger(StateLookup(state), make_forecast(state), broken)
        assert all(len(finding.positions) == 1 for finding in rule.check(ledger))


def test_a_violation_names_the_site_the_quantity_and_the_bound():
    (violation,) = referee(TIDY, make_forecast(TIDY), [release(people=7)])
    assert violation.site_id == "s0"
    assert violation.amount == 4
    assert violation.decision_idx == (0,)
    assert violation.sentence == "Alder: 7 appointments to change in the quarter hour 30 min ahead, 3 may be"


def test_a_site_below_its_minimum_team_is_left_alone_but_may_not_get_worse():
    short = with_table(TIDY, "staff", "people", [staff_row(0, 2), staff_row(0, 2, 1)], [1, 0])
    short = with_array("stations_open", (0, 2), 1.0, short)
    assert referee(short, make_forecast(short), []) == ()
    found = {one.rule for one in referee(short, make_forecast(short), [move()]) if one.hard}
    assert "minimum_team" in found


def test_two_roles_of_one_group_must_each_find_a_qualified_person():
    qualified = changed(TIDY.staff.qualified, staff_row(0, 2), [False, False, False, False])
    state = replace(
        TIDY, staff=replace(TIDY.staff, qualified=qualified, people=changed(TIDY.staff.people, staff_row(0, 2, 1), 0))
    )
    state = with_table(state, "staff", "qualified", staff_row(0, 2, 1), [False] * 4)
    rules = {one.rule for one in referee(state, make_forecast(state), [move(), move(works_as="screener")]) if one.hard}
    assert rules == {"staff_qualified"}


def test_doses_in_a_failing_fridge_may_leave_in_any_order_and_are_no_safety_stock():
    hot = with_table(TIDY, "fridges", "temperature_celsius", 0, 11.0)
    assert {
        one.rule for one in referee(hot, make_forecast(hot), [transfer(lot="late", doses=100)]) if one.hard
    } == set()
    assert {one.rule for one in referee(TIDY, make_forecast(TIDY), [transfer(lot="late", doses=100)])} == {"fefo"}


def test_a_suspended_site_closes_whatever_else_is_said_of_it():
    stale = with_array("valid_epoch_minutes", (1, FeatureClass.STATIONS), np.nan, under(max_station_changes=0))
    closings = tuple(stations(1, stage, 0) for stage in range(4))
    state = told(stale, suspended_site_ids=frozenset({"s1"}), frozen_site_ids=frozenset({"s1"}), refused=closings)
    assert not [one for one in referee(state, make_forecast(state), closings) if one.hard]


def test_a_pin_that_sites_have_promised_needs_no_place_in_the_plan():
    pin = move(people=2)
    assert referee(told(pinned=(pin,), acknowledged=(pin,)), make_forecast(TIDY), []) == ()
    half = told(pinned=(pin,), under_way=(move(people=1),))
    assert [one.rule for one in referee(half, make_forecast(TIDY), [])] == ["pinned"]
    assert [one for one in referee(half, make_forecast(TIDY), [move(people=1)]) if one.hard] == []


def test_a_pinned_target_that_holds_already_needs_no_order():
    assert referee(told(pinned=(stations(after=4),)), make_forecast(TIDY), []) == ()
    assert referee(told(pinned=(set_point(celsius=5.0),)), make_forecast(TIDY), []) == ()
