"""The person-by-person reference of the speed comparison: same staff, same people, a clear word when it is absent."""

import sys

import numpy as np
import pytest

from doseflow.bench.ciw_reference import CiwRules, CiwSiteDay, arrival_minutes, ciw_city_day_seconds
from doseflow.errors import EnvironmentUnfit

TEN_MINUTES = CiwRules((10.0,), (0.0,), 1.0)


def _waits(minutes, posts, *, period_minutes=5.0, rules=TEN_MINUTES):
    day = CiwSiteDay(np.array(minutes), np.array(posts)[:, None], period_minutes)
    return ciw_city_day_seconds([day], rules, day_minutes=100.0).waits_minutes[0][0]


def test_a_change_of_shift_brings_no_second_crew():
    # From 2 posts to 1 at minute 5: the next service begins when both of the first two are over.
    assert _waits([0.5, 0.6, 4.0, 4.1], [2, 1]) == pytest.approx([0.0, 0.0, 6.6, 16.5])


def test_a_post_that_opens_takes_the_first_in_line():
    assert _waits([0.5, 1.0, 2.0], [1, 2]) == pytest.approx([0.0, 4.0, 8.5])


def test_who_is_called_back_before_finishing_goes_on_at_the_post():
    # 2 posts, 1 from minute 5, 2 again from minute 8: nobody has gone in between.
    assert _waits([0.5, 0.6, 4.0, 4.1], [2] * 5 + [1] * 3 + [2] * 12, period_minutes=1.0) == pytest.approx(
        [0.0, 0.0, 6.5, 6.5]
    )


def test_a_stage_without_anybody_on_duty_serves_from_the_first_post_on():
    assert _waits([0.5, 1.0], [0, 1]) == pytest.approx([4.5, 14.0])


def test_who_gives_up_is_counted_with_the_wait_until_then():
    impatient = CiwRules((10.0,), (0.0,), 1.0, leave_after_minutes=3.0, leave_per_minute=1e6)
    day = CiwSiteDay(np.array([0.5, 1.0]), np.array([[1]]), 5.0)
    played = ciw_city_day_seconds([day, day], impatient, day_minutes=100.0)
    assert played.left.tolist() == [[1], [1]]
    assert played.finished.tolist() == [1, 1]
    assert sorted(played.waits_minutes[0][0]) == pytest.approx([0.0, 3.0], abs=1e-3)
    assert played.mean_wait_minutes == pytest.approx([1.5], abs=1e-3)
    assert played.seconds > 0


def test_people_come_within_their_step():
    minutes = arrival_minutes(np.array([2, 0, 1]), 5.0, np.random.default_rng(0))
    assert np.floor(minutes / 5.0).tolist() == [0, 0, 2]
    assert np.all(np.diff(minutes) >= 0)


def test_without_ciw_the_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ciw", None)
    with pytest.raises(EnvironmentUnfit, match="needs the package ciw"):
        ciw_city_day_seconds([], TEN_MINUTES, day_minutes=1.0)
