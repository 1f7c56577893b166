from dataclasses import replace
from datetime import timedelta

import numpy as np
import orjson

from doseflow.domain.roles import ROLES, STAGES
from doseflow.state.unknown import unknown_state
from doseflow.web.json_answer import json_bytes
from doseflow.web.site_detail import site_detail
from doseflow.web.site_view import QUANTILE_NAMES, site_rows, sites_answer
from doseflow.web.trouble import TroubleParams

PARAMS = TroubleParams()


def as_json(value):
    return orjson.loads(json_bytes(value))


def test_unknown_leaves_as_null_and_never_as_zero(played):
    state = unknown_state(played.city.city, played.clock.now())
    for row in as_json(site_rows(state, None, played.clock.now(), PARAMS)):
        assert row["wait_minutes"] is None
        assert row["age_minutes"] is None
        assert row["doses_on_hand"] is None
        assert row["staff_people"] == dict.fromkeys(ROLES)
        assert row["waiting_people"] == dict.fromkeys(STAGES)
        assert row["forecast_next_hour_people"] == dict.fromkeys(QUANTILE_NAMES)


def test_a_row_says_what_the_state_holds(played):
    cycle = played.play()
    state = cycle.state
    rows = site_rows(state, cycle.forecast, played.clock.now(), PARAMS)
    assert [row.site_id for row in rows] == [site.site_id for site in state.city.sites]
    for idx, row in enumerate(rows):
        own = state.lots.site_idx == idx
        assert row.doses_on_hand == (state.lots.unopened_doses + state.lots.open_vial_doses)[own].sum()
        on_duty = state.staff.people[state.staff.site_idx == idx]
        assert sum(people for people in row.staff_people.values() if people) == on_duty.sum()
        np.testing.assert_equal([row.waiting_people[stage] for stage in STAGES], state.waiting_people[idx])
        quantiles = [row.forecast_next_hour_people[name] for name in QUANTILE_NAMES]
        assert quantiles == sorted(quantiles)
        assert row.forecast_next_hour_people["q50"] == round(cycle.forecast.arrivals_people[idx, :12, 2].sum(), 1)


def test_the_age_grows_with_the_clock_and_not_with_the_cycle(played):
    state = played.play().state
    now, later = played.clock.now(), played.clock.now() + timedelta(minutes=7)
    ages = [[row.age_minutes for row in site_rows(state, None, moment, PARAMS)] for moment in (now, later)]
    np.testing.assert_allclose(np.array(ages[1]) - np.array(ages[0]), 7.0, atol=0.11)


def test_the_worst_fridge_is_the_one_without_power_then_the_farthest_from_its_middle(played):
    state = played.play().state
    rows = np.flatnonzero(state.fridges.site_idx == 0)
    assert len(rows) >= 2
    temperature, power = state.fridges.temperature_celsius.copy(), state.fridges.power_on.copy()
    temperature[rows], power[rows] = 5.0, 1.0
    temperature[rows[1]] = 7.5
    fridges = replace(state.fridges, temperature_celsius=temperature, power_on=power)
    worst = site_rows(replace(state, fridges=fridges), None, played.clock.now(), PARAMS)[0].fridge_worst
    assert worst.fridge_id == state.fridges.fridge_id[rows[1]]
    assert worst.degrees_outside == 0
    power[rows[0]] = 0.0
    worst = site_rows(replace(state, fridges=fridges), None, played.clock.now(), PARAMS)[0].fridge_worst
    assert (worst.fridge_id, worst.has_power) == (state.fridges.fridge_id[rows[0]], False)


def test_the_detail_shows_lots_by_expiry_and_the_whole_fan(played):
    cycle = played.play()
    row = site_rows(cycle.state, cycle.forecast, played.clock.now(), PARAMS)[0]
    detail = site_detail(cycle.state, cycle.forecast, row, [], [], now=played.clock.now())
    expiries = [lot.expires_at for lot in detail.lots if lot.expires_at is not None]
    assert expiries == sorted(expiries)
    assert len(detail.lots) == (cycle.state.lots.site_idx == 0).sum() > 0
    assert len(detail.forecast) == 24
    assert detail.forecast[0].starts_at == cycle.forecast.made_at
    assert len(detail.classes) == 17


def test_the_body_names_its_moment_its_zone_and_its_bands(played):
    state = played.play().state
    body = as_json(sites_answer(state, None, cycle_id="c", now=played.clock.now(), params=PARAMS))
    assert body["now"].endswith("Z")
    assert body["timezone"] == played.city.city.timezone
    assert (body["busy_wait_minutes"], body["crowded_wait_minutes"]) == (25, 50)
    assert len(body["feature_classes"]) == len(body["sites"][0]["sources"]) == 17
