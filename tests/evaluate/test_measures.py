"""Every measure on days made by hand, where its value can be read off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from evaluate_samples import NO_PLANNING, quiet_day, with_added
from store_samples import make_city

from doseflow.evaluate.measures import (
    MEASURES,
    PlanningRecord,
    dose_measures,
    measures_of_day,
    planning_measures,
    queue_by_period,
    waiting_measures,
    work_measures,
)

CITY = make_city(2)


def curves(*events: tuple[int, int, int, int], num_minutes: int = 10, num_sites: int = 2) -> np.ndarray:
    """A cumulative curve of (minute, site, stage, people)."""
    added = np.zeros((num_minutes + 1, num_sites, 3), dtype=np.int64)
    for minute, site, stage, people in events:
        added[minute, site, stage] += people
    return np.cumsum(added, axis=0)


def two_people_at_site_0():
    """One waits 2 minutes at registration and 1 at screening; one waits 6 and leaves."""
    gone = curves((3, 0, 0, 1), (7, 0, 0, 1), (6, 0, 1, 1))
    started = curves((3, 0, 0, 1), (6, 0, 1, 1))
    day = replace(
        quiet_day(),
        joined_people=curves((1, 0, 0, 2), (5, 0, 1, 1)),
        gone_people=gone,
        started_people=started,
        waited_minutes=np.array([[8.0, 1.0, 0.0], [0.0, 0.0, 0.0]]),
    )
    return with_added(day, arrived=[2, 0], left=[1, 0])


def test_the_mean_wait_counts_who_left_too():
    assert waiting_measures(two_people_at_site_0(), CITY)["mean_wait_minutes"] == pytest.approx(9 / 2)


def test_who_turned_at_the_door_waited_nothing_and_is_lost():
    day = with_added(two_people_at_site_0(), arrived=[2, 2], left=[1, 0], balked=[0, 2])
    measured = waiting_measures(day, CITY)
    assert measured["mean_wait_minutes"] == pytest.approx(9 / 4)
    assert measured["people_lost_share"] == pytest.approx(3 / 4)


def test_the_95th_percentile_is_that_of_people_not_of_sites():
    joined, gone = curves((1, 0, 0, 99), (1, 1, 0, 1)), curves((2, 0, 0, 99), (9, 1, 0, 1))
    day = replace(quiet_day(), joined_people=joined, gone_people=gone, started_people=gone)
    assert waiting_measures(with_added(day, arrived=[99, 1]), CITY)["p95_wait_minutes"] == 1.0


def test_the_worst_site_has_enough_people_to_be_one():
    joined = curves((1, 0, 0, 40), (1, 1, 0, 3))
    day = replace(
        quiet_day(),
        joined_people=joined,
        gone_people=curves((2, 0, 0, 40), (9, 1, 0, 3)),
        started_people=curves((2, 0, 0, 40), (9, 1, 0, 3)),
        waited_minutes=np.array([[40.0, 0, 0], [24.0, 0, 0]]),
    )
    measured = waiting_measures(with_added(day, arrived=[40, 3]), CITY)
    assert measured["worst_site_wait_minutes"] == pytest.approx(1.0)
    assert measured["worst_district_wait_minutes"] == pytest.approx(64 / 43)


def test_people_who_stood_in_line_when_the_planner_took_over_count_from_then():
    day = replace(
        quiet_day(),
        queued_people=np.array([[2, 0, 0], [0, 0, 0]]),
        joined_people=curves((0, 0, 0, 50)),
        gone_people=curves((0, 0, 0, 48), (4, 0, 0, 2)),
        started_people=curves((0, 0, 0, 48), (4, 0, 0, 2)),
        waited_minutes=np.array([[8.0, 0, 0], [0, 0, 0]]),
    )
    assert waiting_measures(day, CITY)["mean_wait_minutes"] == pytest.approx(4.0)
    assert waiting_measures(day, CITY)["p95_wait_minutes"] == pytest.approx(4.0)
    assert queue_by_period(day) == [2, 0, 0]


def test_a_block_is_busy_above_85_percent_and_weighs_as_its_staff():
    busy, staffed = np.zeros((11, 2, 3)), np.zeros((11, 2, 3))
    # Site 0: two people, busy at 100 % in the first block and at 80 % in the second; site 1: one person, never busy.
    staffed[:, 0, 0] = 2.0 * np.arange(11)
    busy[:, 0, 0] = np.concatenate([2.0 * np.arange(6), 10 + 1.6 * np.arange(1, 6)])
    staffed[:, 1, 0] = np.arange(11)
    measured = work_measures(replace(quiet_day(), busy_minutes=busy, staffed_minutes=staffed))
    assert measured["busy_block_share"] == pytest.approx(10 / 30)
    assert measured["busy_share"] == pytest.approx(18 / 30)


def test_doses_used_are_those_given_of_all_that_are_gone():
    day = with_added(
        quiet_day(), doses_given=[90, 0], doses_wasted=[4, 0], doses_expired=[0, 5], doses_discarded=[1, 0]
    )
    measured = dose_measures(replace(day, used_litres_share=np.array([0.2, 0.4])))
    assert measured["dose_utilisation_share"] == pytest.approx(0.9)
    assert measured["expired_doses"] == 5
    assert measured["cold_volume_utilisation_share"] == pytest.approx(0.3)


def test_moves_are_people_moved_over_people_on_the_roster():
    planning = PlanningRecord(np.array([1.0, 2.0, 3.0]), 0, 1, 6)
    measured = planning_measures(replace(quiet_day(), rostered_people=60), planning)
    assert measured["moves_per_person"] == pytest.approx(0.1)
    assert measured["decision_p50_milliseconds"] == 2.0
    assert measured["fallbacks"] == 1


def test_a_day_on_which_nobody_comes_has_finite_figures():
    measured = measures_of_day(quiet_day(), NO_PLANNING, CITY)
    assert list(measured) == list(MEASURES)
    assert all(np.isfinite(value) for value in measured.values())
