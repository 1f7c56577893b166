"""The simulated city as a driver sees it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, time, timedelta

import numpy as np
import orjson
import pytest
from order_samples import feasible_decisions, order_of
from pydantic import TypeAdapter

from doseflow.domain.orders import OrderReceipt
from doseflow.domain.report import SiteReport
from doseflow.errors import CityWrong
from doseflow.simulate.incidents import demo_incidents
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.replayed_city import DEMO_DAY_ON, SimulatedCity
from doseflow.simulate.report_faults import NO_FAULTS, ReportFaults
from doseflow.simulate.step_params import step_params
from doseflow.simulate.synthetic_city import SyntheticDays, synthetic_city


def small(seed=1, faults=NO_FAULTS, **more):
    city = synthetic_city(12)
    return SimulatedCity(city, SyntheticDays(city), DEMO_DAY_ON, seed, faults, **more)


COARSE = replace(SimulationParams(), step_minutes=1.0)
"""Five-minute steps, for tests that live through days."""


def test_the_same_seed_sends_the_same_bytes_and_another_seed_others():
    sent = []
    for seed in (1, 1, 2):
        city = small(seed, ReportFaults(0.1, 0.1, 0.1, 0.1))
        sent.append([])
        for _ in range(6):
            city.advance(5)
            sent[-1].append(city.reports())
    assert sent[0] == sent[1]
    assert sent[0] != sent[2]


def test_asking_for_reports_does_not_change_what_happens():
    asked, quiet = small(), small()
    for _ in range(4):
        asked.advance(5)
        asked.reports()
        quiet.advance(5)
    assert np.array_equal(asked.world.queued_people, quiet.world.queued_people)


def test_it_begins_at_half_past_seven_local_time_and_moves_as_told():
    city = small()
    assert city.now_local.time() == time(7, 30)
    assert city.now.tzinfo == UTC
    began = city.now
    city.advance(5)
    assert city.now - began == timedelta(minutes=5)


def test_a_report_looks_back_five_minutes_however_far_the_city_advanced():
    far, near = small(), small()
    far.advance(30)
    for _ in range(6):
        near.advance(5)
    assert far.reports() == near.reports()


def test_orders_are_taken_once_and_answered_with_valid_receipts():
    city = small()
    city.advance(60)
    params = step_params(city.city, SimulationParams())
    decisions = feasible_decisions(city.world, city.city, params)
    orders = [order_of(decisions[kind], f"order-{kind}") for kind in ("staff_move", "set_point", "station_change")]
    received = []
    for _ in range(30):
        city.take_orders(orders)
        city.advance(5)
        received += city.receipts()
    final = [(order_id, receipt) for order_id, receipt in received if receipt["status"] in ("done", "refused")]
    assert sorted(order_id for order_id, _ in final) == sorted(order["order_id"] for order in orders)
    for _, receipt in received:
        TypeAdapter(OrderReceipt).validate_json(orjson.dumps(receipt))
    assert city.receipts() == []


def test_the_first_day_ends_when_every_site_is_closed_and_empty():
    city = small(params=COARSE)
    assert not city.is_over
    while not city.is_over:
        city.advance(15)
    assert city.world.inside_people.sum() == 0
    assert city.world.epoch_minutes >= city.world.day.closes.max()


def test_the_next_day_goes_on_with_what_is_left_in_the_fridges():
    city = small(starts_at=time(23, 50), params=COARSE)
    before = city.world
    city.advance(20)
    after = city.world
    assert after.day.today.day_on == date(2021, 5, 21)
    assert np.array_equal(after.lots.unopened_doses[:, :4], before.lots.unopened_doses[:, :4])
    assert after.totals.served.sum() == before.totals.served.sum()
    assert len(after.dose_trips) >= len(before.dose_trips)
    city.advance_to_morning()
    assert city.now_local.date() == date(2021, 5, 22)
    assert city.now_local.time() == time(7, 30)
    assert city.world.totals.served.sum() > after.totals.served.sum()
    for report in city.reports():
        TypeAdapter(SiteReport).validate_json(report)


def test_a_site_open_around_the_clock_is_staffed_from_midnight():
    city = synthetic_city(2)
    sites = tuple(replace(site, opens_at=time(0), closes_at=time(0)) for site in city.sites)
    city = replace(city, sites=sites)
    living = SimulatedCity(city, SyntheticDays(city), DEMO_DAY_ON, faults=NO_FAULTS, starts_at=time(0, 30))
    assert living.world.staff_people.sum() > 0
    assert living.world.stations_open.sum() > 0


@pytest.mark.parametrize(
    "change",
    [
        {"fridges": ()},
        {"products": ()},
        {"stations_possible": (0, 0, 0, 0), "minimum_team": (0, 0, 0, 0)},
        {"seats_possible": 0},
        {"daily_capacity_people": 0},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_site_that_lacks_something_is_lived_with(change):
    city = synthetic_city(3)
    city = replace(city, sites=(replace(city.sites[0], **change), *city.sites[1:]), vans=())
    living = SimulatedCity(city, SyntheticDays(city), DEMO_DAY_ON, faults=NO_FAULTS)
    living.advance(60)
    for report in living.reports():
        TypeAdapter(SiteReport).validate_json(report)


def test_the_summary_counts_everybody_who_came():
    city = small()
    city.advance(240)
    summary = city.summary()
    inside = city.world.inside_people.sum()
    finished = city.world.totals.served.sum()
    assert summary["arrived_people"] == inside + finished + summary["lost_people"]
    assert summary["served_people"] == summary["doses_given"] > 0
    assert 0 < summary["busy_share"] < 1


def test_the_demonstrations_incidents_happen():
    city = synthetic_city(60)
    days = SyntheticDays(city)
    incidents = demo_incidents(city, days.on(DEMO_DAY_ON))
    calm = SimulatedCity(city, days, DEMO_DAY_ON, faults=NO_FAULTS, params=COARSE)
    stirred = SimulatedCity(city, days, DEMO_DAY_ON, faults=NO_FAULTS, incidents=incidents, params=COARSE)
    for one in (calm, stirred):
        one.advance(180)
    failure, surge, absence = incidents.fridge_failures[0], incidents.surges[0], incidents.absences[0]
    warm = stirred.world.fridges.temperature_celsius[failure.site_idx, failure.fridge_slot]
    assert warm > calm.world.fridges.temperature_celsius[failure.site_idx, failure.fridge_slot] + 1
    extra = stirred.world.totals.arrived - calm.world.totals.arrived
    assert extra[surge.site_idx] > 0.7 * 2 * surge.people_per_hour
    rostered = stirred.world.day.rostered_people[absence.site_idx, 2].sum()
    assert rostered < calm.world.day.rostered_people[absence.site_idx, 2].sum()


def test_a_small_city_has_the_incidents_too():
    city = synthetic_city(1)
    SimulatedCity(
        city, SyntheticDays(city), DEMO_DAY_ON, incidents=demo_incidents(city, SyntheticDays(city).on(DEMO_DAY_ON))
    )


def test_the_real_city_lives_and_reports():
    city = SimulatedCity.from_name("czech", faults=NO_FAULTS)
    city.advance(5)
    reports = [TypeAdapter(SiteReport).validate_json(report) for report in city.reports()]
    assert len(reports) == 200
    assert sum(report.arrivals_people or 0 for report in reports) > 100


def test_a_day_the_real_city_does_not_have_is_refused():
    with pytest.raises(CityWrong, match="day: the packaged bookings begin on 2021-01-15"):
        SimulatedCity.from_name("czech", day_on=date(2020, 5, 20))
