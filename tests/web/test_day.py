from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from doseflow.web.day import day_begins_at
from doseflow.web.told_forecasts import LEAD_PERIODS, ToldForecasts


def column(arrivals: dict, moment: str) -> int:
    """The column of the period that holds a moment."""
    since = np.datetime64(moment.rstrip("Z")) - np.datetime64(arrivals["starts_at"].rstrip("Z"))
    return int(since / np.timedelta64(arrivals["period_minutes"], "m"))


def test_a_site_s_day_holds_what_its_reports_said_and_nothing_else(client, played):
    for _ in range(4):
        played.play()
    site = played.city.city.sites[0]
    day = client.get(f"/api/v1/sites/{site.site_id}/day").json()
    reports = played.live.reports.reports_of_site(site.site_id, 10)[::-1]
    assert [one["wait_minutes"] for one in day["readings"]] == [one.report.observed_wait_minutes for one in reports]
    assert day["arrivals"]["arrived_people"][-4:] == [one.report.arrivals_people for one in reports]
    assert set(day["arrivals"]["arrived_people"][:-4]) == {None}
    assert day["arrivals"]["reporting_sites"][-5:] == [0, 1, 1, 1, 1]
    told = {fridge.fridge_id: fridge.temperature_celsius for fridge in reports[-1].report.fridges}
    assert {one["fridge_id"]: one["temperature_celsius"][-1] for one in day["fridges"]} == told
    assert {len(one["valid_at"]) for one in day["fridges"]} == {4}


def test_the_excursion_budget_of_a_fridge_is_the_smallest_of_what_lies_in_it(client, played):
    state = played.play().state
    site_idx = 0
    day = client.get(f"/api/v1/sites/{state.city.sites[site_idx].site_id}/day").json()
    assert day["fridges"]
    for fridge in day["fridges"]:
        budgets = [
            state.city.products[state.lots.product_idx[row]].excursion_budget_minutes
            for row in range(len(state.lots.lot_number))
            if state.lots.site_idx[row] == site_idx
            and state.fridges.fridge_id[state.lots.fridge_row[row]] == fridge["fridge_id"]
        ]
        assert fridge["excursion_budget_minutes"] == (min(budgets) if budgets else None)


def test_the_city_s_day_adds_up_its_sites_and_looks_two_hours_ahead(client, played):
    cycle = played.play()
    day = client.get("/api/v1/day").json()
    of_sites = [client.get(f"/api/v1/sites/{site.site_id}/day").json() for site in played.city.city.sites]
    arrived = [each["arrivals"]["arrived_people"][-1] for each in of_sites]
    assert day["arrivals"]["arrived_people"][-1] == sum(arrived)
    so_far = len(day["arrivals"]["arrived_people"])
    median = day["arrivals"]["forecast_people"]["q50"]
    assert len(median) == so_far + cycle.forecast.arrivals_people.shape[1]
    np.testing.assert_allclose(median[so_far:], cycle.forecast.arrivals_people[:, :, 2].sum(axis=0), atol=0.006)
    assert day["first_cycle_at"] == f"{cycle.state.as_of:%Y-%m-%dT%H:%M:%SZ}"


def test_a_day_begins_at_the_city_s_own_midnight(played):
    now = played.clock.now()
    begins_at = day_begins_at(now, "Asia/Shanghai")
    assert (begins_at + timedelta(hours=8)).strftime("%H:%M:%S") == "00:00:00"
    assert timedelta() <= now - begins_at < timedelta(days=1)


def test_of_a_period_that_is_over_stands_what_was_told_an_hour_before(played):
    """Cycles whose forecasts are marked with their own number, five minutes apart."""
    cycle = played.play()
    told = ToldForecasts(played.city.city.num_sites)
    began_at = cycle.forecast.made_at
    for number in range(30):
        marked = replace(
            cycle.forecast,
            made_at=began_at + timedelta(minutes=5 * number),
            arrivals_people=np.full_like(cycle.forecast.arrivals_people, number),
        )
        told.take(replace(cycle, forecast=marked))
    kept = told.between(began_at, 60)[:, 0, 0]
    # In the first hour there is only the first one; from then on the one of an hour before; ahead the latest.
    np.testing.assert_array_equal(kept[: LEAD_PERIODS + 1], 0)
    np.testing.assert_array_equal(kept[LEAD_PERIODS:42], np.arange(42 - LEAD_PERIODS))
    assert np.isnan(kept[29 + cycle.forecast.arrivals_people.shape[1] :]).all()


def test_what_nobody_told_is_unknown(played):
    told = ToldForecasts(3)
    assert np.isnan(told.between(played.clock.now(), 5)).all()


def test_a_moment_of_the_past_is_shown_as_its_cycle_knew_it(client, played):
    first = played.play()
    for _ in range(3):
        played.play()
    moment = first.state.as_of + timedelta(minutes=3)
    then = client.get("/api/v1/sites", params={"at": moment.isoformat()}).json()
    assert then["cycle_id"] == first.cycle_id
    assert [row["waiting_people"]["vaccination"] for row in then["sites"]] == first.state.waiting_people[:, 2].tolist()
    assert {row["age_minutes"] for row in then["sites"] if row["age_minutes"] is not None} == {3.0}


def test_a_moment_of_which_nothing_is_kept_is_no_state_at_all(client, played):
    first = played.play()
    answer = client.get("/api/v1/sites", params={"at": (first.state.as_of - timedelta(minutes=1)).isoformat()})
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:doseflow:problem:no-cycle-then")


@pytest.mark.parametrize("moment", ["noon", "2021-05-20T10:00:00"])
def test_a_moment_must_be_one_with_its_offset(quiet_client, moment):
    assert quiet_client.get("/api/v1/sites", params={"at": moment}).status_code == 422


def test_reports_come_as_they_were_received_the_newest_first(client, played):
    for _ in range(3):
        played.play()
    site_id = played.city.city.sites[2].site_id
    answer = client.get(f"/api/v1/sites/{site_id}/reports", params={"limit": 2}).json()
    kept = played.live.reports.reports_of_site(site_id, 2)
    assert [one["report"]["report_id"] for one in answer["reports"]] == [one.report.report_id for one in kept]
    assert answer["reports"][0]["report"]["valid_at"] > answer["reports"][1]["report"]["valid_at"]


@pytest.mark.parametrize("door", ["day", "reports"])
def test_a_site_that_is_not_there_has_no_day(quiet_client, door):
    answer = quiet_client.get(f"/api/v1/sites/nowhere/{door}")
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:doseflow:problem:unknown-site")
