"""What was foretold against what came, on a small city that is really played."""

import contextlib
import copy
import re
from dataclasses import replace

import numpy as np
import pytest
import structlog

from doseflow.bootstrap import open_city
from doseflow.demo.playing import bring_receipts, hand_over_orders, import_past_weeks, join_reports
from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.live.clocks import SimulatedClock
from doseflow.live.cold_chain_risk import cold_chain_risk
from doseflow.live.model_watch import ModelWatch
from doseflow.live.ticker import told_of
from doseflow.live.wait_score import compare_waits
from doseflow.settings import Settings, StoreSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.telemetry.metrics import make_metrics

NUM_CYCLES = 40


@pytest.fixture(scope="module")
def morning(tmp_path_factory):
    city = SimulatedCity.from_name("synthetic:8", seed=2)
    clock = SimulatedClock(city.now)
    url = f"sqlite:///{tmp_path_factory.mktemp('morning') / 'morning.sqlite'}"
    opened = open_city(Settings(store=StoreSettings(url=url)), clock=clock, city=city.city)
    import_past_weeks(opened, city)
    cycles = []
    with contextlib.closing(opened):
        for _ in range(NUM_CYCLES):
            city.advance(5)
            clock.set(city.now)
            bring_receipts(opened, city)
            opened.live.submit(join_reports(city.reports()))
            cycles.append(opened.live.run_cycle())
            hand_over_orders(opened, city)
        yield opened.live, cycles


def sample(live, name, **labels):
    return live.metrics.registry.get_sample_value(name, labels)


def test_forecasts_of_a_played_morning_are_scored_at_every_lead_and_cover_most_of_what_came(morning):
    live, _ = morning
    assert live.models.num_failures == 0
    for lead in ("30", "60", "120"):
        assert sample(live, "doseflow_forecast_scored_total", lead_minutes=lead) > 50
        assert 0.5 < sample(live, "doseflow_forecast_coverage_share", lead_minutes=lead) <= 1
        assert sample(live, "doseflow_forecast_pinball_people", lead_minutes=lead) > 0


def test_the_mean_error_of_waits_is_what_was_observed_less_what_was_told(morning):
    live, _ = morning
    told, seen, error, size = (
        sample(live, "doseflow_wait_predicted_minutes", lead_minutes="30"),
        sample(live, "doseflow_wait_observed_minutes", lead_minutes="30"),
        sample(live, "doseflow_wait_error_minutes", lead_minutes="30", statistic="mean"),
        sample(live, "doseflow_wait_error_minutes", lead_minutes="30", statistic="mean_size"),
    )
    assert error == pytest.approx(seen - told)
    assert size >= abs(error) - 1e-9
    assert sample(live, "doseflow_waits_compared_total") > 50


def test_only_open_sites_that_report_their_wait_now_are_compared(morning):
    state = morning[1][-1].state
    source = state.source.copy()
    source[:, FeatureClass.OBSERVED_WAIT] = ReadingSource.REPORTED
    source[1, FeatureClass.OBSERVED_WAIT] = ReadingSource.CARRIED
    is_open = np.ones(8, dtype=bool)
    is_open[2] = False
    state = replace(state, source=source, is_open=is_open, observed_wait_minutes=np.full(8, 12.0))
    told = np.full(8, 10.0)
    told[3] = np.nan
    found = compare_waits(told, state)
    assert (found.num_compared, found.mean_error_minutes, found.absolute_error_minutes) == (5, 2.0, 10.0)


def test_only_fridges_that_hold_doses_outside_their_band_are_at_risk(morning):
    state = morning[1][0].state
    fridges = state.fridges
    cold = np.full(len(fridges.fridge_id), 5.0)
    safe = replace(state, fridges=replace(fridges, temperature_celsius=cold, set_point_celsius=cold))
    assert cold_chain_risk(safe).num_fridges == 0
    row = int(state.lots.fridge_row[0])
    doses = sum(
        int(unopened + opened)
        for at, unopened, opened in zip(
            state.lots.fridge_row, state.lots.unopened_doses, state.lots.open_vial_doses, strict=True
        )
        if at == row
    )
    warm = cold.copy()
    warm[row] = 14.0
    at_risk = cold_chain_risk(replace(safe, fridges=replace(safe.fridges, temperature_celsius=warm)))
    assert (at_risk.num_fridges, at_risk.doses) == (1, doses)
    unknown = np.full(len(cold), np.nan)
    assert cold_chain_risk(replace(safe, fridges=replace(safe.fridges, temperature_celsius=unknown))).num_fridges == 0


def test_minutes_at_risk_are_counted_by_fridge_and_not_across_a_silence(morning):
    cycle = morning[1][0]
    fridges = cycle.state.fridges
    warm = np.full(len(fridges.fridge_id), 14.0)
    state = replace(cycle.state, fridges=replace(fridges, temperature_celsius=warm, set_point_celsius=warm * 0 + 5))
    metrics = make_metrics()
    watch = ModelWatch(metrics.quality)
    num_fridges = cold_chain_risk(state).num_fridges
    minutes = np.timedelta64(1, "m").astype(object)
    for passed in (0, 5, 10, 300):
        watch.look(replace(cycle, state=replace(state, as_of=state.as_of + passed * minutes)))
    counted = metrics.registry.get_sample_value("doseflow_cold_chain_risk_minutes_total")
    assert counted == num_fridges * (5 + 5 + 15)


def test_the_log_tells_a_cycle_in_one_line_with_how_many_sites_reported(morning):
    cycle = morning[1][-1]
    told = told_of(cycle)
    assert told["cycle_id"] == cycle.cycle_id
    found = re.fullmatch(r"\d+ ms, of it \w+ \d+: (\d+) of 8 sites reported, (\d+) new orders?, .*", told["text"])
    has_reported = (cycle.state.source == ReadingSource.REPORTED).any(axis=1)
    assert int(found[1]) == sum(has_reported.tolist())
    assert int(found[2]) == len(cycle.new_orders)


def test_what_fails_inside_is_recorded_and_the_city_goes_on(morning):
    watch = ModelWatch(make_metrics().quality)
    broken = copy.copy(morning[1][0])
    object.__setattr__(broken, "state", None)
    with structlog.testing.capture_logs() as logs:
        watch.look(broken)
    assert watch.num_failures == 1
    assert [one["event"] for one in logs] == ["model_watch_failed"]


@pytest.mark.parametrize(
    ("net", "begun"), [("forecaster", {"forecast_error", "wait_error"}), ("policy", {"wait_error"}), ("other", set())]
)
def test_another_champion_begins_the_errors_anew_that_it_has_a_hand_in(morning, net, begun):
    _, cycles = morning
    watch = ModelWatch(make_metrics().quality)
    watch.look(cycles[0], {net: "a"})
    watch.look(cycles[1], {net: "a"})
    before = dict(watch._drift._sums)
    watch.look(cycles[2], {net: "b"})
    assert {kind for kind, one in watch._drift._sums.items() if one is not before[kind]} == begun
    assert watch.num_failures == 0
