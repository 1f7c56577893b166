"""
What needs attention now: every site's troubles, each with a score, a cause code and the figures behind it.

A score of 100 is the worst. The words belong to the screen; here are codes and numbers only. UNKNOWN raises no alarm of
its own kind: a reading that nobody made shows as old data, not as an empty shelf.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.domain.report import Incident
from doseflow.domain.state import CityState
from doseflow.state.fridge_bands import degrees_outside_band
from doseflow.web.site_sums import doses_on_hand, staff_by_role, sum_or_unknown, worst_by_site


class TroubleCode(StrEnum):
    """What can be wrong at a site."""

    ADVERSE_EVENT_CLUSTER = "adverse_event_cluster"
    FRIDGE_OUT_OF_BAND = "fridge_out_of_band"
    FRIDGE_WITHOUT_POWER = "fridge_without_power"
    POWER_CUT = "power_cut"
    FRIDGE_FAILURE = "fridge_failure"
    DOSES_SHORT = "doses_short"
    WAIT_LONG = "wait_long"
    TEAM_INCOMPLETE = "team_incomplete"
    SEATS_FULL = "seats_full"
    SURGE = "surge"
    NEVER_REPORTED = "never_reported"
    DATA_OLD = "data_old"
    SUSPENDED = "suspended"


@dataclass(frozen=True, slots=True)
class TroubleParams:
    """
    From when on something is a trouble.

    The two waits are the bands of Shenzhen's public queue service of 2022: busy from 25 minutes, crowded from 50.
    """

    busy_wait_minutes: float = 25.0
    crowded_wait_minutes: float = 50.0
    old_report_minutes: float = 15.0

    def __post_init__(self) -> None:
        if not 0 < self.busy_wait_minutes < self.crowded_wait_minutes:
            raise ValueError("busy_wait_minutes: must be above 0 and below crowded_wait_minutes")
        if self.old_report_minutes <= 0:
            raise ValueError(f"old_report_minutes: must be above 0, got {self.old_report_minutes}")


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing wrong at one site; names in `facts` carry their unit."""

    code: TroubleCode
    score: float
    facts: dict[str, float]


@dataclass(frozen=True, slots=True)
class _Finding:
    code: TroubleCode
    score: FloatArray
    facts: dict[str, FloatArray]


Troubles: TypeAlias = tuple[Trouble, ...]
_INCIDENT_TO_SCORE = {
    Incident.ADVERSE_EVENT_CLUSTER: (TroubleCode.ADVERSE_EVENT_CLUSTER, 90.0),
    Incident.POWER_CUT: (TroubleCode.POWER_CUT, 75.0),
    Incident.FRIDGE_FAILURE: (TroubleCode.FRIDGE_FAILURE, 70.0),
    Incident.SURGE: (TroubleCode.SURGE, 35.0),
}
_NEXT_HOUR_BINS = 4
_WEIGHT_OF_THE_REST = 0.1


def find_troubles(state: CityState, age_minutes: FloatArray, params: TroubleParams) -> list[Troubles]:
    """
    Troubles of every site, the worst first.

    Parameters
    ----------
    age_minutes
        Age of each site's latest report, (S,), NaN where none ever came.
    """
    findings = [
        *_incidents(state),
        *_fridges(state),
        _doses_short(state),
        _wait_long(state, params),
        _team_incomplete(state),
        _seats_full(state),
        *_reports_missing(state, age_minutes, params),
        _suspended(state),
    ]
    troubles: list[list[Trouble]] = [[] for _ in range(state.city.num_sites)]
    for finding in findings:
        for idx in np.flatnonzero(finding.score > 0):
            facts = {name: round(float(values[idx]), 1) for name, values in finding.facts.items()}
            troubles[idx].append(Trouble(finding.code, round(float(finding.score[idx]), 1), facts))
    return [tuple(sorted(each, key=lambda trouble: -trouble.score)) for each in troubles]


def trouble_score(troubles: Troubles) -> float:
    """One number for a site, 0 to 100: the worst trouble, and a little for each of the rest."""
    if not troubles:
        return 0.0
    rest = sum(trouble.score for trouble in troubles[1:])
    return round(min(100.0, troubles[0].score + _WEIGHT_OF_THE_REST * rest), 1)


def _incidents(state: CityState) -> list[_Finding]:
    columns = {incident: idx for idx, incident in enumerate(Incident)}
    return [
        _Finding(code, np.where(state.incidents[:, columns[incident]], score, 0.0), {})
        for incident, (code, score) in _INCIDENT_TO_SCORE.items()
    ]


def _fridges(state: CityState) -> list[_Finding]:
    fridges = state.fridges
    outside = np.nan_to_num(np.abs(degrees_outside_band(state)))
    budget_minutes = min(product.excursion_budget_minutes for product in state.city.products) or 1.0
    spent_share = np.clip(np.nan_to_num(fridges.excursion_minutes) / budget_minutes, 0, 1)
    row_score = np.where(outside > 0, 60 + 4 * np.minimum(outside, 5) + 20 * spent_share, 0.0)
    worst_row, worst_score = worst_by_site(row_score, fridges.site_idx, state.city.num_sites)
    facts = {
        "temperature_celsius": _of_rows(fridges.temperature_celsius, worst_row),
        "excursion_minutes": _of_rows(fridges.excursion_minutes, worst_row),
    }
    known_facts = {name: np.nan_to_num(values) for name, values in facts.items()}
    _, off_score = worst_by_site(np.where(fridges.power_on == 0, 65.0, 0.0), fridges.site_idx, state.city.num_sites)
    return [
        _Finding(TroubleCode.FRIDGE_OUT_OF_BAND, worst_score, known_facts),
        _Finding(TroubleCode.FRIDGE_WITHOUT_POWER, off_score, {}),
    ]


def _doses_short(state: CityState) -> _Finding:
    booked = sum_or_unknown(state.booked_people[:, :_NEXT_HOUR_BINS])
    doses = doses_on_hand(state)
    is_short = state.is_open & (doses < booked)
    missing_share = 1 - doses / np.maximum(1, booked)
    score = np.where(is_short, 45 + 45 * missing_share, 0.0)
    return _Finding(TroubleCode.DOSES_SHORT, score, {"doses_on_hand": doses, "booked_next_hour_people": booked})


def _wait_long(state: CityState, params: TroubleParams) -> _Finding:
    wait = np.nan_to_num(state.observed_wait_minutes)
    band = params.crowded_wait_minutes - params.busy_wait_minutes
    steepness = np.clip((wait - params.busy_wait_minutes) / (4 * band), 0, 1)
    score = np.where(state.is_open & (wait >= params.busy_wait_minutes), 25 + 60 * steepness, 0.0)
    waiting = np.nansum(state.waiting_people[:, :-1], axis=1)
    return _Finding(TroubleCode.WAIT_LONG, score, {"wait_minutes": wait, "waiting_people": waiting})


def _team_incomplete(state: CityState) -> _Finding:
    missing = np.maximum(0, state.city.minimum_team_people - staff_by_role(state)).sum(axis=1)
    is_missing = state.is_open & (np.nan_to_num(missing) > 0)
    return _Finding(TroubleCode.TEAM_INCOMPLETE, np.where(is_missing, 55.0, 0.0), {"missing_people": missing})


def _seats_full(state: CityState) -> _Finding:
    is_full = state.is_open & (state.seats_possible > 0) & (state.seats_taken >= state.seats_possible)
    return _Finding(TroubleCode.SEATS_FULL, np.where(is_full, 40.0, 0.0), {"seats_possible": state.seats_possible})


def _reports_missing(state: CityState, age_minutes: FloatArray, params: TroubleParams) -> list[_Finding]:
    age = np.nan_to_num(age_minutes)
    is_old = state.is_open & (age > params.old_report_minutes)
    is_silent: BoolArray = state.is_open & np.isnan(age_minutes)
    return [
        _Finding(TroubleCode.NEVER_REPORTED, np.where(is_silent, 38.0, 0.0), {}),
        _Finding(TroubleCode.DATA_OLD, np.where(is_old, 20 + np.minimum(30, age / 4), 0.0), {"age_minutes": age}),
    ]


def _suspended(state: CityState) -> _Finding:
    suspended = state.commitments.suspended_site_ids
    is_suspended = np.array([site.site_id in suspended for site in state.city.sites], dtype=bool)
    return _Finding(TroubleCode.SUSPENDED, np.where(is_suspended, 30.0, 0.0), {})


def _of_rows(values: FloatArray, rows: IntArray) -> FloatArray:
    """Values at row positions, NaN where the position is -1."""
    if not len(values):
        return np.full(len(rows), np.nan)
    return np.where(rows >= 0, values[rows], np.nan)
