from datetime import UTC, datetime, timedelta, timezone

import pytest

from doseflow.live.clocks import SimulatedClock, WallClock

MORNING = datetime(2021, 5, 20, 7, 30, tzinfo=timezone(timedelta(hours=2)))


def test_a_simulated_clock_stands_until_it_is_moved():
    clock = SimulatedClock(MORNING)
    assert clock.now() == MORNING
    assert clock.now().tzinfo is UTC
    clock.set(MORNING + timedelta(minutes=5))
    assert clock.now() == MORNING + timedelta(minutes=5)


def test_simulated_time_never_runs_backwards():
    with pytest.raises(ValueError, match="must not be before"):
        SimulatedClock(MORNING).set(MORNING - timedelta(seconds=1))


def test_the_wall_clock_is_aware_and_its_durations_grow():
    clock = WallClock()
    assert clock.now().utcoffset() == timedelta(0)
    assert clock.monotonic_seconds() <= clock.monotonic_seconds()
