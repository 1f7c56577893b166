"""A scenario and a seed make a day; every concern of it has its own chance."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from datetime import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.domain.report import Weather
from doseflow.domain.roles import Role
from doseflow.errors import ScenarioWrong
from doseflow.simulate.incidents import SurgeShape
from doseflow.simulate.scenario import WEEKDAYS, Scenario
from doseflow.simulate.scenario_city import scenario_day, simulated_city_of
from doseflow.simulate.scenario_file import packaged_scenario
from doseflow.simulate.scenario_incidents import (
    AbsenceIncident,
    CampaignStartIncident,
    EarlyArrivalsIncident,
    FridgeFailureIncident,
    LateVansIncident,
    PowerCutIncident,
    RainIncident,
    SiteClosedIncident,
    StaleReportsIncident,
    SupplyCutIncident,
    SurgeIncident,
    WalkInRushIncident,
)
from doseflow.simulate.scenario_roads import on_slow_roads, slow_roads

CALM = Scenario(
    name="calm",
    family="ordinary",
    text="Nothing goes wrong.",
    city="synthetic:20",
    days=("thursday",),
    offered_load_share=0.85,
)
BETWEEN = {"starts_at": time(10), "ends_at": time(12)}
SURGE = SurgeIncident(kind="surge", site_share=0.2, extra_share=1.0, moved_by_minutes=60, **BETWEEN)
ABSENCE = AbsenceIncident(kind="absence", site_share=0.3, absent_share=0.4)


def plan_of(*incidents, seed=1, **changes):
    return scenario_day(replace(CALM, incidents=incidents, **changes), seed).plan


def same(first, second):
    if is_dataclass(first):
        return all(same(getattr(first, item.name), getattr(second, item.name)) for item in fields(first))
    return np.array_equal(first, second)


def changed_fields(first, second):
    return {item.name for item in fields(first) if not same(getattr(first, item.name), getattr(second, item.name))}


def test_the_same_seed_is_the_same_day_and_another_seed_another():
    scenario = packaged_scenario("surge_wave")
    first, again, other = (scenario_day(scenario, seed).plan for seed in (3, 3, 4))
    assert changed_fields(first, again) == set()
    assert {"booked_people", "walk_ins_per_minute", "rostered_people", "surge_from"} <= changed_fields(first, other)


CONCERNS = [
    (SURGE, {"surge_from", "surge_until", "walk_ins_per_minute"}),
    (ABSENCE, {"rostered_people"}),
    (WalkInRushIncident(kind="walk_in_rush", site_share=1, walk_in_factor=3, **BETWEEN), {"walk_ins_per_minute"}),
    (SiteClosedIncident(kind="site_closed", site_count=2, **BETWEEN), {"closed_from", "closed_until"}),
    (FridgeFailureIncident(kind="fridge_failure", site_share=0.3, starts_at=time(9)), {"fridge_fails_at"}),
    (PowerCutIncident(kind="power_cut", site_share=0.3, **BETWEEN), {"power_off_from", "power_off_until"}),
    (SupplyCutIncident(kind="supply_cut", site_share=0.5, lost_share=0.6), {"today"}),
    (
        LateVansIncident(kind="late_vans", travel_factor=2, missing_van_share=0.5, deliveries_late_minutes=60),
        {"travel_factor", "missing_vans", "deliveries_late_minutes"},
    ),
    (StaleReportsIncident(kind="stale_reports", site_share=0.5, **BETWEEN), set()),
    (EarlyArrivalsIncident(kind="early_arrivals", site_share=0.5, earlier_minutes=20), {"habits"}),
    (
        RainIncident(kind="rain", walk_in_factor=0.5, stays_away_share=0.1, travel_factor=1.3, **BETWEEN),
        {"walk_ins_per_minute", "habits", "travel_factor", "weather"},
    ),
    (CampaignStartIncident(kind="campaign_start", booking_factor=2), set()),
]


@pytest.mark.parametrize(("incident", "expected"), CONCERNS, ids=lambda one: getattr(one, "kind", ""))
def test_an_incident_changes_its_own_concern_and_nothing_else(incident, expected):
    assert changed_fields(plan_of(deliveries_days=1.0), plan_of(incident, deliveries_days=1.0)) == expected


def test_a_second_incident_leaves_the_first_where_it_was():
    alone, joined = plan_of(SURGE), plan_of(ABSENCE, SURGE)
    assert np.array_equal(alone.surge_from, joined.surge_from)
    assert np.array_equal(plan_of(ABSENCE).rostered_people, joined.rostered_people)


def test_an_incident_that_grows_keeps_what_it_struck():
    few, many = plan_of(replace(SURGE, site_share=0.2)), plan_of(replace(SURGE, site_share=0.6))
    struck_few, struck_many = np.isfinite(few.surge_from), np.isfinite(many.surge_from)
    assert struck_few.sum() == 4
    assert struck_many.sum() == 12
    assert struck_many[struck_few].all()
    mild, hard = plan_of(replace(ABSENCE, absent_share=0.2)), plan_of(replace(ABSENCE, absent_share=0.7))
    assert (hard.rostered_people <= mild.rostered_people).all()
    assert hard.rostered_people.sum() < mild.rostered_people.sum()


def test_the_seed_moves_an_incident_in_place_and_time_within_its_bound():
    starts, sites = set(), set()
    for seed in range(12):
        plan = plan_of(replace(SURGE, site_count=1, site_share=None), seed=seed)
        (site,) = np.flatnonzero(np.isfinite(plan.surge_from))
        starts.add(plan.surge_from[site] - plan.midnight)
        sites.add(int(site))
        assert plan.surge_until[site] - plan.surge_from[site] == 120
    assert len(starts) > 4
    assert len(sites) > 4
    assert all(540 <= start <= 660 and start % 5 == 0 for start in starts)


def test_clustered_sites_lie_around_each_other():
    def spread(clustered):
        day = scenario_day(
            replace(CALM, city="synthetic:200", incidents=(replace(SURGE, site_share=0.05, clustered=clustered),)), 2
        )
        struck = np.flatnonzero(np.isfinite(day.plan.surge_from))
        assert len(struck) == 10
        return np.std([[day.city.sites[idx].latitude, day.city.sites[idx].longitude] for idx in struck], axis=0).sum()

    assert spread(True) < 0.5 * spread(False)


def test_sites_may_be_named_by_rank_or_by_id():
    day = scenario_day(replace(CALM, incidents=(replace(SURGE, site_share=None, site_ranks=(1,)),)), 1)
    (site,) = np.flatnonzero(np.isfinite(day.plan.surge_from))
    assert day.plan.today.booked_people[site] == day.plan.today.booked_people.max()
    named = replace(SURGE, site_share=None, site_ids=(day.city.sites[3].site_id,))
    assert np.flatnonzero(np.isfinite(plan_of(named).surge_from)).tolist() == [3]
    with pytest.raises(ScenarioWrong, match=r"incidents\.0\.site_ids: must be sites of synthetic-20-1, got 'x'"):
        plan_of(replace(SURGE, site_share=None, site_ids=("x",)))


@pytest.mark.parametrize("shape", list(SurgeShape))
def test_a_surge_brings_its_people_whatever_its_shape(shape):
    calm, surged = plan_of(), plan_of(replace(SURGE, shape=shape, moved_by_minutes=0))
    extra = 5 * (surged.walk_ins_per_minute - calm.walk_ins_per_minute)
    struck = np.flatnonzero(np.isfinite(surged.surge_from))
    an_hour = calm.today.booked_people[struck] / ((calm.closes - calm.opens)[struck] / 60)
    assert extra[struck].sum(axis=1) == pytest.approx(2 * an_hour)
    assert (extra[:, :120] == 0).all()
    assert (extra[:, 144:] == 0).all()
    peak = extra[struck].max(axis=1) / extra[struck][:, 120:144].mean(axis=1)
    assert peak == pytest.approx(np.full(len(struck), 1.0 if shape == SurgeShape.FLAT else 2.0), rel=0.05)


def test_a_campaign_has_its_bookings_and_the_weeks_before_have_not():
    calm = scenario_day(CALM, 1)
    campaign = scenario_day(
        replace(CALM, incidents=(CampaignStartIncident(kind="campaign_start", booking_factor=2),)), 1
    )
    day_on = calm.plan.today.day_on
    week_before_on = day_on.fromordinal(day_on.toordinal() - 7)
    assert np.array_equal(calm.plan.planned_people, campaign.plan.planned_people)
    usual, smaller = (one.days.on(week_before_on).booked_people.sum() for one in (calm, campaign))
    assert smaller == pytest.approx(usual / 2, rel=0.01)


def test_a_supply_cut_loses_its_share_of_the_deliveries():
    cut = SupplyCutIncident(kind="supply_cut", site_share=1, lost_share=0.75)
    full, left = (plan.today.delivered_doses for plan in (plan_of(deliveries_days=2), plan_of(cut, deliveries_days=2)))
    assert left.sum() == pytest.approx(0.25 * full.sum(), rel=0.01)
    booked = plan_of().today.booked_people
    assert full.sum(axis=1) == pytest.approx(2 * booked, abs=2 * 10)


def test_every_appointment_that_is_offered_is_booked_before_or_on_the_day():
    plan = plan_of()
    assert np.array_equal((plan.booked_people + plan.free_slots).sum(axis=1), plan.today.booked_people)
    assert plan.free_slots.sum() == pytest.approx(0.1 * plan.today.booked_people.sum(), rel=0.1)


def test_the_day_is_one_of_those_listed():
    days = {scenario_day(replace(CALM, days=WEEKDAYS[:3]), seed).plan.today.day_on.weekday() for seed in range(9)}
    assert days == {0, 1, 2}


def test_the_city_is_played_from_the_beginning_of_the_window_and_repeats():
    scenario = replace(CALM, incidents=(SURGE,))
    first, again = simulated_city_of(scenario, 1), simulated_city_of(scenario, 1)
    assert first.now_local.time() == time(7, 30)
    for city in (first, again):
        city.advance(60)
    assert first.summary() == again.summary()
    assert first.reports() == again.reports()
    assert first.summary()["arrived_people"] > 100


def test_silent_sites_send_nothing_while_they_are_silent():
    silence = StaleReportsIncident(kind="stale_reports", site_share=0.5, starts_at=time(8), ends_at=time(8, 30))
    quiet = replace(CALM.report_faults, late_share=0, missing_share=0, repeated_share=0, wrong_share=0)
    told, silent = (
        simulated_city_of(replace(CALM, incidents=incidents, report_faults=quiet), 1) for incidents in ((), (silence,))
    )
    for minutes, expected in ((25, 20), (5, 10), (25, 10), (5, 20)):
        told.advance(minutes)
        silent.advance(minutes)
        all_reports, reports = told.reports(), silent.reports()
        assert len(all_reports) == 20
        assert len(reports) == expected
        assert set(reports) <= set(all_reports)


def test_missing_vans_stand_nowhere_and_rain_is_told():
    scenario = replace(
        CALM,
        city="synthetic:60",
        incidents=(
            LateVansIncident(kind="late_vans", missing_van_share=0.5),
            RainIncident(kind="rain", starts_at=time(10), ends_at=time(12)),
        ),
    )
    city = simulated_city_of(scenario, 1)
    assert len(city.city.vans) == 6
    city.advance(30)
    assert (city.world.vans.site_idx < 0).sum() == 3
    reports = b"".join(city.reports())
    assert reports.count(b'"van_id"') <= 3
    assert f'"weather":"{Weather.RAIN}"'.encode() in reports
    assert f'"weather":"{Weather.DRY}"'.encode() not in reports


def test_a_closed_site_serves_nobody_and_turns_everybody_away_until_it_opens_again():
    closing = SiteClosedIncident(kind="site_closed", site_count=3, starts_at=time(9), ends_at=time(10, 30))
    city = simulated_city_of(replace(CALM, incidents=(closing,)), 1)
    closed = np.isfinite(city.world.day.closed_from)
    city.advance(90)
    before = city.world.totals
    city.advance(85)
    during = city.world.totals
    came = (during.arrived - before.arrived)[closed]
    assert came.sum() > 50
    assert ((during.turned_away - before.turned_away)[closed] >= came).all()
    # Who was at the needle when the site closed is still finished with.
    assert (during.doses_given - before.doses_given)[closed].sum() == 0
    assert (during.doses_given - before.doses_given)[~closed].sum() > 100
    assert city.reports()
    city.advance(65)
    assert (city.world.totals.doses_given - during.doses_given)[closed].sum() > 10


def test_late_deliveries_are_the_same_deliveries_later():
    late = LateVansIncident(kind="late_vans", deliveries_late_minutes=90)
    cities = [
        simulated_city_of(replace(CALM, deliveries_days=1.0, incidents=incidents), 1) for incidents in ((), (late,))
    ]
    usual, later = (city.world.dose_trips for city in cities)
    assert len(usual) == len(later) >= 20
    assert later["arrives"] == pytest.approx(usual["arrives"] + 90)
    assert np.array_equal(usual["doses"], later["doses"])


def test_on_slow_roads_orders_take_longer_than_they_say_and_planners_see_the_usual_table():
    orders = [
        {"order_id": "a", "decision": {"kind": "staff_move", "travel_minutes": 10.0}},
        {"order_id": "b", "decision": {"kind": "set_point", "celsius": 5.0}},
        {"order_id": "c", "decision": None},
    ]
    slowed = on_slow_roads(orders, 1.5)
    assert [one["order_id"] for one in slowed] == ["a", "b", "c"]
    assert slowed[0]["decision"] == {"kind": "staff_move", "travel_minutes": 15.0}
    assert slowed[1:] == orders[1:]
    assert orders[0]["decision"]["travel_minutes"] == 10.0
    calm, slow = (
        simulated_city_of(replace(CALM, incidents=incidents), 1)
        for incidents in ((), (LateVansIncident(kind="late_vans", travel_factor=2),))
    )
    assert slow.world.day.travel_factor == 2
    table = calm.city.neighbour_travel_minutes
    assert np.array_equal(slow.city.neighbour_travel_minutes, table, equal_nan=True)
    assert np.array_equal(slow_roads(slow.city, 2).neighbour_travel_minutes, 2 * table, equal_nan=True)


incidents = st.one_of(
    st.builds(
        SurgeIncident,
        kind=st.just("surge"),
        site_share=st.floats(0.01, 1),
        extra_share=st.floats(0.01, 10),
        shape=st.sampled_from(SurgeShape),
        clustered=st.booleans(),
        starts_at=st.times(max_value=time(11)),
        ends_at=st.times(min_value=time(12)),
        moved_by_minutes=st.floats(0, 180),
    ),
    st.builds(
        AbsenceIncident,
        kind=st.just("absence"),
        site_count=st.integers(1, 20),
        absent_share=st.floats(0.01, 1),
        roles=st.lists(st.sampled_from(Role), min_size=1, max_size=4).map(tuple),
    ),
    st.builds(
        SiteClosedIncident,
        kind=st.just("site_closed"),
        site_ranks=st.lists(st.integers(1, 20), min_size=1, max_size=20).map(tuple),
        starts_at=st.times(max_value=time(11)),
        ends_at=st.times(min_value=time(12)),
        moved_by_minutes=st.floats(0, 180),
    ),
    st.sampled_from([incident for incident, _ in CONCERNS]),
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(incidents, max_size=6),
    st.floats(0.3, 1.5),
    st.sampled_from(["synthetic:1", "synthetic:20"]),
    st.integers(0, 10_000),
    st.one_of(st.none(), st.floats(0, 10)),
)
def test_any_scenario_makes_a_day_that_can_be_lived(some, share, city, seed, deliveries_days):
    try:
        scenario = replace(
            CALM,
            city=city,
            incidents=tuple(some),
            offered_load_share=share,
            deliveries_days=deliveries_days,
            params={"step_minutes": 1.0},
            window=replace(CALM.window, starts_at=time(12)),
        )
    except ValueError as error:
        expected = ("the number of sites", "window.ends_at", "campaign_start")
        assert any(words in str(error) for words in expected)  # noqa: PT017
        return
    living = simulated_city_of(scenario, seed)
    living.advance(30)
    living.reports()
    plan = living.world.day
    assert (plan.rostered_people >= 0).all()
    assert (plan.rostered_people <= plan.planned_people).all()
    assert (plan.walk_ins_per_minute >= 0).all()
