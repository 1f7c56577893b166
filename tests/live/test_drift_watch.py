from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pytest

from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.live.drift.class_readings import class_readings
from doseflow.live.drift.day_distance import DistanceParams
from doseflow.live.drift.drift_watch import DriftWatch
from doseflow.live.drift.evidence import DriftKind
from doseflow.live.forecast_score import LeadScore
from doseflow.live.wait_score import ComparedWaits
from doseflow.simulate.city_choice import city_from_name
from doseflow.state.unknown import unknown_state

START = datetime(2026, 5, 3, 23, 0, tzinfo=UTC)
"""Seven in the morning in Shanghai, before any site opens."""
NUM_SITES = 30


@pytest.fixture(scope="module")
def nothing_known():
    return unknown_state(city_from_name(f"synthetic:{NUM_SITES}"), START)


def play(watch, state, rng, num_days, *, first_day=0, loss=0.1, wait=10.0, arrivals=6.0):
    """Days of ten open hours, with readings of one class; the view after each."""
    source = state.source.copy()
    source[:, FeatureClass.ARRIVALS] = ReadingSource.REPORTED
    views = []
    for day in range(first_day, first_day + num_days):
        for hour in range(11):
            as_of = START + timedelta(days=day, hours=hour)
            people = rng.poisson(arrivals, NUM_SITES).astype(float)
            is_open = np.full(NUM_SITES, hour > 0)
            known = replace(state, as_of=as_of, source=source, is_open=is_open, arrivals_people=people)
            score = LeadScore(100, 100 * loss * rng.normal(1, 0.1), 500.0, 100.0, 82)
            waits = ComparedWaits(20, 200.0, 20 * wait * rng.normal(1, 0.1), 100.0)
            watch.look(SimpleNamespace(state=known), {30: score} if hour else {}, waits if hour else None)
        views.append(watch.view())
    return views


def evidence(view):
    return {each.kind: each for each in view.evidence}


def test_thirty_days_that_are_alike_recommend_nothing(nothing_known):
    views = play(DriftWatch(), nothing_known, np.random.default_rng(1), 30)
    assert not any(view.is_training_recommended for view in views)
    assert views[-1].reference_days == 7


def test_an_alarm_ends_with_the_model_that_raised_it_and_comes_again_with_new_evidence(nothing_known):
    watch, rng = DriftWatch(), np.random.default_rng(2)
    play(watch, nothing_known, rng, 15)
    assert play(watch, nothing_known, rng, 6, first_day=15, loss=0.13)[-1].is_training_recommended
    watch.begin_anew(DriftKind.FORECAST_ERROR)
    assert not watch.view().is_training_recommended
    assert evidence(watch.view())[DriftKind.FORECAST_ERROR].since_at is None
    # The waits were another model's, and what was learned of them stays.
    assert "Learning" not in evidence(watch.view())[DriftKind.WAIT_ERROR].sentence
    assert not play(watch, nothing_known, rng, 15, first_day=21)[-1].is_training_recommended
    assert play(watch, nothing_known, rng, 6, first_day=36, loss=0.13)[-1].is_training_recommended


def test_a_forecast_that_goes_stale_is_found_within_days_and_the_alarm_says_since_when(nothing_known):
    watch, rng = DriftWatch(), np.random.default_rng(2)
    play(watch, nothing_known, rng, 15)
    after = play(watch, nothing_known, rng, 6, first_day=15, loss=0.13)
    assert after[-1].is_training_recommended
    raised_at = evidence(after[-1])[DriftKind.FORECAST_ERROR].since_at
    assert START + timedelta(days=16) <= raised_at <= START + timedelta(days=21)
    assert "forecaster" in after[-1].recommendation


def test_waits_that_become_longer_than_told_speak_against_the_simulator(nothing_known):
    watch, rng = DriftWatch(), np.random.default_rng(3)
    play(watch, nothing_known, rng, 15)
    after = play(watch, nothing_known, rng, 6, first_day=15, wait=14.0)
    assert evidence(after[-1])[DriftKind.WAIT_ERROR].speaks
    assert not evidence(after[-1])[DriftKind.FORECAST_ERROR].speaks
    assert "simulator" in after[-1].recommendation


def test_readings_that_drift_are_found_on_the_next_day_and_the_alarm_ends_with_them(nothing_known):
    watch, rng = DriftWatch(), np.random.default_rng(4)
    play(watch, nothing_known, rng, 9)
    drifted = play(watch, nothing_known, rng, 2, first_day=9, arrivals=9.0)[-1]
    assert [each.feature_class for each in drifted.classes if each.speaks] == [FeatureClass.ARRIVALS]
    assert evidence(drifted)[DriftKind.FEATURES].since_at is not None
    assert not drifted.is_training_recommended
    back = play(watch, nothing_known, rng, 2, first_day=11)[-1]
    assert not evidence(back)[DriftKind.FEATURES].speaks
    assert evidence(back)[DriftKind.FEATURES].since_at is None


def test_a_day_that_began_before_the_process_is_no_day_of_the_reference(nothing_known):
    open_already = replace(nothing_known, as_of=START, is_open=np.ones(NUM_SITES, dtype=bool))
    watch = DriftWatch(DistanceParams(reference_days=3))
    watch.look(SimpleNamespace(state=open_already), {}, None)
    views = play(watch, nothing_known, np.random.default_rng(5), 5, first_day=1)
    assert [view.reference_days for view in views] == [0, 1, 2, 3, 3]


def test_only_what_open_sites_have_reported_is_compared(nothing_known):
    source = np.full_like(nothing_known.source, ReadingSource.REPORTED)
    source[0] = ReadingSource.CARRIED
    is_open = np.ones(NUM_SITES, dtype=bool)
    is_open[1] = False
    wait = np.arange(NUM_SITES, dtype=float)
    wait[2] = np.nan
    state = replace(nothing_known, source=source, is_open=is_open, observed_wait_minutes=wait)
    assert class_readings(state)[FeatureClass.OBSERVED_WAIT].tolist() == list(range(3, NUM_SITES))
    assert set(class_readings(state)) == set(FeatureClass)
