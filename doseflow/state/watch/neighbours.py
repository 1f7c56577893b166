"""
Sites out of step: next to nobody is said to come, while past weeks and the neighbours say otherwise.

A CUSUM of the log-likelihood ratio of two Poisson rates: the expected one, and `quiet_ratio` of it. Expected is the
mean of past weeks, times how the neighbours fare today against theirs, times a discount, since no pattern fits every
site. A report that is all noughts balances perfectly; only this test sees it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from doseflow.domain.anomaly import AnomalyKind
from doseflow.domain.city import BoolArray, City, FloatArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.report import Incident
from doseflow.domain.state import CityState
from doseflow.state.watch.findings import Finding
from doseflow.state.watch.params import WatchParams
from doseflow.state.watch.told import Told, or_nought

KEPT_SHARE = 0.92
"""Of the neighbours' past arrivals a period on: half of them count after 40 minutes."""
PRIOR_PEOPLE = 10.0
"""People, come and expected, by which a ratio of few people is drawn to 1."""
AT_THE_EDGE_MINUTES = 30.0
"""Before closing fewer come than in past weeks with longer hours."""
SMOOTHED_PERIODS = 3
_OUT = [list(Incident).index(one) for one in (Incident.CLOSED, Incident.POWER_CUT, Incident.ADVERSE_EVENT_CLUSTER)]


@dataclass(frozen=True)
class Quiet:
    """Sum of each site, since when, people missing since; what is expected next; the last hour's people, each (S,)."""

    score: FloatArray
    since: FloatArray
    missing: FloatArray
    expected_next: FloatArray
    came: FloatArray
    expected: FloatArray


def no_quiet(num_sites: int) -> Quiet:
    """Nothing was read yet."""
    zeros, unknown = np.zeros(num_sites), np.full(num_sites, np.nan)
    return Quiet(zeros, unknown, zeros, unknown, zeros, zeros)


def go_on_quiet(previous: Quiet, told: Told, state: CityState, params: WatchParams) -> Quiet:
    """The sums after a cycle; a site that is shut or at an edge of its hours begins again."""
    arrivals, expected = told.now.arrivals, previous.expected_next
    is_told = told.follow(FeatureClass.ARRIVALS) & ~np.isnan(arrivals + expected)
    came = KEPT_SHARE * previous.came + np.where(is_told, arrivals, 0.0)
    of_past = KEPT_SHARE * previous.expected + np.where(is_told, expected, 0.0)
    is_running = is_told & _is_running(state)
    rate = or_nought(expected) * params.expected_discount * _neighbours_ratio(came, of_past, state.city)
    ratio = or_nought(arrivals) * math.log(params.quiet_ratio) + rate * (1 - params.quiet_ratio)
    score = np.where(is_running, np.maximum(previous.score + ratio, 0.0), np.where(is_told, 0.0, previous.score))
    begins = previous.score <= 0
    missing = np.where(begins, 0.0, previous.missing) + np.where(is_running, or_nought(expected - arrivals), 0.0)
    since = np.where(begins, told.before.valid[:, FeatureClass.ARRIVALS], previous.since)
    return Quiet(score, since, missing, _expected_next(state), came, of_past)


def _is_running(state: CityState) -> BoolArray:
    suspended = np.zeros(state.city.num_sites, np.bool_)
    for site_id in state.commitments.suspended_site_ids:
        if site_id in state.city.site_to_idx:
            suspended[state.city.site_to_idx[site_id]] = True
    is_in_hours = state.is_open & (state.open_minutes_left > AT_THE_EDGE_MINUTES)
    return is_in_hours & ~suspended & ~state.incidents[:, _OUT].any(axis=1)


def _expected_next(state: CityState) -> FloatArray:
    """Mean arrivals of past weeks in the coming period, (S,); NaN where none is known."""
    past = state.arrivals_past_weeks_people[:, :, :SMOOTHED_PERIODS]
    num_known = (~np.isnan(past)).sum(axis=(1, 2))
    return np.where(num_known > 0, or_nought(past).sum(axis=(1, 2)) / np.maximum(num_known, 1), np.nan)


def _neighbours_ratio(came: FloatArray, expected: FloatArray, city: City) -> FloatArray:
    """How the neighbours fare against their past weeks, at most 1, (S,)."""
    is_one = city.neighbour_idx >= 0
    around = np.where(is_one, city.neighbour_idx, 0)
    seen = np.where(is_one, came[around], 0.0).sum(axis=1) + PRIOR_PEOPLE
    due = np.where(is_one, expected[around], 0.0).sum(axis=1) + PRIOR_PEOPLE
    ratio: FloatArray = np.minimum(seen / due, 1.0)
    return ratio


def quiet_findings(quiet: Quiet, told: Told, params: WatchParams) -> Iterator[Finding]:
    """Sites where too few come."""
    is_quiet = told.is_new[:, FeatureClass.ARRIVALS] & (quiet.score > params.log_threshold)
    for site_idx in np.flatnonzero(is_quiet).tolist():
        evidence = {"people": float(quiet.missing[site_idx])}
        since = float(quiet.since[site_idx])
        yield Finding(AnomalyKind.OUT_OF_STEP, FeatureClass.ARRIVALS, site_idx, since, evidence)
