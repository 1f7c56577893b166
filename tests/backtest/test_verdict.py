from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from scipy import stats

from doseflow.backtest.played_day import PlayedDay
from doseflow.backtest.verdict import VerdictParams, verdict
from doseflow.domain.feature_classes import FeatureClass
from doseflow.live.drift.evidence import DriftKind
from doseflow.live.forecast_score import LeadScore
from doseflow.live.wait_score import ComparedWaits


def made_day(rng, loss=0.1, wait=12.0):
    """A day whose loss over the width and whose waits have the luck of a day."""
    score = LeadScore(1000, 1000 * (loss + rng.normal(0, 0.004)), 5000.0, 1000.0, 830)
    waits = ComparedWaits(100, 1000.0, 100 * (wait + rng.normal(0, 1.0)), 500.0)
    readings = dict.fromkeys(FeatureClass, rng.normal(5, 1, 300))
    return PlayedDay(date(2026, 5, 4), 24, {30: score}, score, waits, readings)


def evidence(view):
    return {each.kind: each for each in view.evidence}


def test_a_forecast_that_is_a_third_worse_is_found_and_training_is_recommended():
    rng = np.random.default_rng(1)
    view = verdict([made_day(rng) for _ in range(7)], made_day(rng, loss=0.133))
    assert evidence(view)[DriftKind.FORECAST_ERROR].speaks
    assert view.is_training_recommended
    assert "forecaster" in view.recommendation


def test_a_forecast_that_is_better_than_usual_is_no_drift():
    rng = np.random.default_rng(2)
    assert not verdict([made_day(rng) for _ in range(7)], made_day(rng, loss=0.05)).is_training_recommended


@pytest.mark.parametrize("wait", [3.0, 30.0])
def test_waits_that_are_off_to_either_side_speak_against_the_simulator(wait):
    rng = np.random.default_rng(3)
    view = verdict([made_day(rng) for _ in range(7)], made_day(rng, wait=wait))
    assert evidence(view)[DriftKind.WAIT_ERROR].speaks
    assert "simulator" in view.recommendation


def test_readings_that_drift_while_forecasts_and_waits_are_right_are_told_and_recommend_nothing():
    rng = np.random.default_rng(4)
    day = made_day(rng)
    readings = {**day.readings, FeatureClass.SEATS: rng.normal(9, 1, 300)}
    view = verdict([made_day(rng) for _ in range(7)], replace(day, readings=readings))
    assert evidence(view)[DriftKind.FEATURES].speaks
    assert "seats" in evidence(view)[DriftKind.FEATURES].sentence
    assert not view.is_training_recommended


def test_days_that_are_alike_speak_no_more_often_than_stated():
    rng = np.random.default_rng(5)
    params = VerdictParams(false_alarm_share=0.1, least_worse_share=0.0, least_wait_error_share=0.0)
    num_nights = 60
    spoke = {DriftKind.FORECAST_ERROR: 0, DriftKind.WAIT_ERROR: 0}
    for _ in range(num_nights):
        found = evidence(verdict([made_day(rng) for _ in range(5)], made_day(rng), params))
        for kind in spoke:
            spoke[kind] += found[kind].speaks
    for count in spoke.values():
        assert stats.binom.ppf(0.001, num_nights, 0.1) <= count <= stats.binom.ppf(0.999, num_nights, 0.1)


def without(day, *, forecasts=False, waits=False):
    """A day on which nobody came, or no wait could be compared."""
    score = LeadScore() if forecasts else day.score
    return replace(day, scores={30: score}, waits=ComparedWaits(0, 0.0, 0.0, 0.0) if waits else day.waits)


def test_a_day_before_without_arrivals_or_waits_blinds_nothing():
    rng = np.random.default_rng(7)
    reference = [made_day(rng) for _ in range(6)]
    blind = [without(made_day(rng), forecasts=True), without(made_day(rng), waits=True)]
    blind[0] = replace(blind[0], readings=dict.fromkeys(FeatureClass, np.empty(0)))
    day = replace(made_day(rng, loss=0.133, wait=30.0), readings=dict.fromkeys(FeatureClass, rng.normal(9, 1, 300)))
    assert all(each.speaks for each in verdict(reference + blind, day).evidence)
    assert (
        evidence(verdict(reference + blind[:1], day))[DriftKind.FORECAST_ERROR]
        == (evidence(verdict(reference, day))[DriftKind.FORECAST_ERROR])
    )


@pytest.mark.parametrize(
    ("kind", "missing"), [(DriftKind.FORECAST_ERROR, {"forecasts": True}), (DriftKind.WAIT_ERROR, {"waits": True})]
)
def test_a_day_without_arrivals_or_waits_cannot_be_judged_and_says_so(kind, missing):
    rng = np.random.default_rng(8)
    days = [made_day(rng) for _ in range(7)]
    for view in (
        verdict(days, without(made_day(rng), **missing)),
        verdict([without(d, **missing) for d in days], days[0]),
    ):
        assert not view.is_judged
        assert not evidence(view)[kind].speaks
        assert evidence(view)[kind].sentence.startswith("Cannot be judged")
        assert view.recommendation.startswith(f"Cannot be judged: {kind}")
    assert verdict(days, made_day(rng)).is_judged


def test_too_few_days_to_compare_with_are_refused():
    rng = np.random.default_rng(6)
    with pytest.raises(ValueError, match="reference"):
        verdict([made_day(rng)] * 2, made_day(rng))
