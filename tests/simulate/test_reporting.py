"""What sites say: true to the world, valid, and faulty at the stated rates."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta

import numpy as np
import orjson
import pytest
from pydantic import TypeAdapter, ValidationError
from simulated_worlds import live

from doseflow.domain.report import Incident, SiteReport, Weather
from doseflow.simulate.draws import NumpyDraws
from doseflow.simulate.flow import last_wait_minutes
from doseflow.simulate.report_faults import NO_FAULTS, SITE_CLASSES, ReportFaults, sent_reports
from doseflow.simulate.reporting import Reporters, observed_wait_minutes, report_payloads, site_reports
from doseflow.simulate.transition import step
from doseflow.units import datetime_from_epoch_minutes

ADAPTER = TypeAdapter(SiteReport)


def reporters(city, params, faults=NO_FAULTS):
    past = np.full((city.num_sites, 4, 288), 3.0)
    past[:, 2] = np.nan
    return Reporters(city, params, past, Weather.DRY, faults)


@pytest.fixture(scope="module")
def five_minutes(morning, small_params):
    return morning, live(morning, 5, small_params)


@pytest.fixture(scope="module")
def told(five_minutes, small_city, small_params):
    before, now = five_minutes
    return [ADAPTER.validate_json(one) for one in site_reports(now, before, reporters(small_city, small_params))]


def test_every_site_tells_every_class(told, small_city):
    assert [report.site_id for report in told] == [site.site_id for site in small_city.sites]
    for report in told:
        told_by_sites = [item.name for item in fields(SiteReport) if item.name != "source"]
        assert all(getattr(report, name) is not None for name in told_by_sites)


def test_reports_stay_valid_through_a_whole_day(fresh_world, small_city, small_params):
    before = fresh_world
    for minute in range(0, 960, 5):
        now = live(before, 5, small_params, seed=minute)
        for report in site_reports(now, before, reporters(small_city, small_params)):
            ADAPTER.validate_json(report)
        before = now


def test_a_report_tells_the_last_five_minutes_and_the_moment(told, five_minutes, small_city):
    before, now = five_minutes
    totals, earlier = now.totals, before.totals
    assert [one.valid_at for one in told] == [datetime_from_epoch_minutes(now.epoch_minutes)] * small_city.num_sites
    assert [one.arrivals_people for one in told] == (totals.arrived - earlier.arrived).tolist()
    assert [one.doses_given for one in told] == (totals.doses_given - earlier.doses_given).tolist()
    assert sum(one.doses_given for one in told) > 0
    assert [one.waiting_people.registration for one in told] == now.queued_people[:, 0].tolist()
    assert [one.seats.taken for one in told] == now.seated_people.tolist()
    assert [one.stations.open.vaccination for one in told] == now.stations_open[:, 2].tolist()


def test_staff_lots_and_vans_add_up_to_those_of_the_world(told, five_minutes, small_city):
    now = five_minutes[1]
    people = [sum(group.people for group in one.staff) for one in told]
    doses = [sum(lot.unopened_doses + lot.open_vial_doses for lot in one.lots) for one in told]
    assert people == now.staff_people.sum(axis=(1, 2, 3, 4)).tolist()
    assert doses == (now.lots.unopened_doses + now.lots.open_doses).sum(axis=1).tolist()
    assert sum(len(one.surroundings.vans) for one in told) == len(small_city.vans)
    assert {role.role for one in told for role in one.fatigue} == {group.role for one in told for group in one.staff}


def test_an_unknown_past_week_is_null_and_never_zero(told):
    assert told[0].doses_given_past_weeks == (3, 3, None, 3)


def test_booked_people_are_those_of_the_next_eight_quarter_hours(told, five_minutes):
    now = five_minutes[1]
    first = now.day.period_of(now.epoch_minutes)
    expected = now.booked_people[:, first : first + 24].reshape(-1, 8, 3).sum(axis=2)
    assert [list(one.booked_people) for one in told] == expected.tolist()


def test_no_appointment_lies_past_midnight(fresh_world, small_city, small_params):
    late = replace(fresh_world, epoch_minutes=fresh_world.day.midnight + 1430)
    booked = replace(late, booked_people=np.ones_like(late.booked_people))
    payload = report_payloads(booked, booked, reporters(small_city, small_params))[0]
    assert payload["booked_people"] == [2, 0, 0, 0, 0, 0, 0, 0]


def test_the_observed_wait_is_that_of_the_last_person_taken_followed_by_hand(fresh_world, small_params):
    draws, world, lines = NumpyDraws(np.random.default_rng(2)), fresh_world, {}
    last_taken = {}
    for minute in range(240):
        before, world = world, step(world, draws, small_params)
        joined, gone = (getattr(world.totals, name) - getattr(before.totals, name) for name in ("joined", "gone"))
        for at in np.ndindex(joined.shape):
            line = lines.setdefault(at, [])
            line += [minute] * int(joined[at])
            for _ in range(int(gone[at])):
                last_taken[at] = minute, line.pop(0)
    period_ago = live(fresh_world, 235, small_params)
    observed = last_wait_minutes(world.flow, world.totals.started > period_ago.totals.started, 1.0)
    checked = 0
    for at, (minute, joined_at) in last_taken.items():
        if minute == 239:
            assert observed[at] == minute - joined_at
            checked += 1
    assert checked > 10
    assert observed.max() > 3


def test_where_nobody_is_taken_the_longest_waiting_person_is_told(five_minutes, small_city, small_params):
    now = five_minutes[1]
    nobody = np.zeros_like(now.flow.joined)
    alone = nobody.copy()
    alone[0, 0] = 1
    ages = len(now.flow.joined_before)
    came_17_minutes_ago = tuple(alone if age <= 17 else nobody for age in range(ages))
    flow = replace(now.flow, queued=alone, joined=alone, gone=nobody, joined_before=came_17_minutes_ago)
    waiting = replace(now, flow=flow)
    assert observed_wait_minutes(waiting, waiting, 1.0).tolist() == [17.0, *[0.0] * (small_city.num_sites - 1)]


def test_incidents_are_flagged_while_they_last(five_minutes, small_city, small_params):
    before, now = five_minutes
    at = now.epoch_minutes
    day = replace(
        now.day,
        power_off_from=np.where(np.arange(small_city.num_sites) == 0, at - 5, np.inf),
        power_off_until=np.where(np.arange(small_city.num_sites) == 0, at + 5, np.inf),
        surge_from=np.where(np.arange(small_city.num_sites) == 1, at - 5, np.inf),
        surge_until=np.where(np.arange(small_city.num_sites) == 1, at, np.inf),
        works_today=np.arange(small_city.num_sites) != 2,
        fridge_fails_at=np.where(np.arange(small_city.num_sites)[:, None] == 3, at, np.inf)
        + np.zeros_like(now.day.fridge_fails_at),
    )
    payloads = report_payloads(replace(now, day=day), before, reporters(small_city, small_params))
    flagged = [payload["surroundings"]["incidents"] for payload in payloads]
    assert flagged[:4] == [[Incident.POWER_CUT], [], [Incident.CLOSED], [Incident.FRIDGE_FAILURE]]
    assert {reading["power"] for reading in payloads[0]["fridges"]} == {"off"}


def test_classes_a_site_never_tells_are_left_out_always_the_same(five_minutes, small_city, small_params):
    before, now = five_minutes
    some = reporters(small_city, small_params, replace(NO_FAULTS, untold_share=0.4))
    first, again = (report_payloads(now, before, some) for _ in range(2))
    missing = [set(SITE_CLASSES) - set(payload) for payload in first]
    assert missing == [set(SITE_CLASSES) - set(payload) for payload in again]
    assert 0.2 < sum(map(len, missing)) / (len(SITE_CLASSES) * small_city.num_sites) < 0.6
    for payload in first:
        ADAPTER.validate_json(orjson.dumps(payload))


PLAIN = [
    {
        "site_id": f"s{k}",
        "valid_at": "2021-05-20T08:00:00+00:00",
        "waiting_people": {"registration": 1},
        "doses_given": 2,
    }
    for k in range(20_000)
]


def test_faults_strike_at_their_rates():
    faults = ReportFaults(late_share=0.05, missing_share=0.1, repeated_share=0.04, wrong_share=0.03)
    sent, held = sent_reports(PLAIN, (), np.random.default_rng(1), faults)
    whole = [orjson.dumps(payload) for payload in PLAIN]
    assert len(held) / 20_000 == pytest.approx(0.05, abs=0.006)
    assert (20_000 - len(held) - len(set(sent))) / 20_000 == pytest.approx(0.1, abs=0.008)
    assert (len(sent) - len(set(sent))) / len(set(sent)) == pytest.approx(0.04, abs=0.006)
    assert len(set(sent) - set(whole)) / len(set(sent)) == pytest.approx(0.03, abs=0.006)


def test_without_faults_everything_comes_once_and_unchanged():
    sent, held = sent_reports(PLAIN, (), np.random.default_rng(1), NO_FAULTS)
    assert sent == [orjson.dumps(payload) for payload in PLAIN]
    assert held == ()


def test_a_late_report_comes_within_three_periods_after_a_newer_one():
    rng, late_only, held = np.random.default_rng(1), replace(NO_FAULTS, late_share=1.0), ()
    sent, held = sent_reports(PLAIN[:50], held, rng, late_only)
    assert sent == []
    came, newer = [], {**PLAIN[0], "valid_at": "2021-05-20T08:05:00+00:00"}
    for _ in range(3):
        sent, held = sent_reports([newer], held, rng, NO_FAULTS)
        assert sent[0] == orjson.dumps(newer)
        came += sent[1:]
    assert sorted(came) == sorted(orjson.dumps(payload) for payload in PLAIN[:50])


def test_wrong_reports_are_wrong_in_the_stated_ways(five_minutes, small_city, small_params):
    before, now = five_minutes
    payloads = report_payloads(now, before, reporters(small_city, small_params)) * 20
    sent, _ = sent_reports(payloads, (), np.random.default_rng(1), replace(NO_FAULTS, wrong_share=1.0))
    reasons = set()
    for report in sent:
        try:
            told = ADAPTER.validate_json(report)
        except ValidationError as error:
            reasons.add(error.errors()[0]["loc"][0])
        else:
            assert told.valid_at > datetime_from_epoch_minutes(now.epoch_minutes) + timedelta(hours=1)
            reasons.add("valid_at")
    assert reasons == {"doses_given", "waiting_people", "valid_at"}


@pytest.mark.parametrize("name", [item.name for item in fields(ReportFaults) if item.name != "silences"])
def test_a_rate_outside_0_to_1_is_refused_by_name(name):
    with pytest.raises(ValueError, match=f"{name}: must lie in 0..1, got 1.5"):
        ReportFaults(**{name: 1.5})
