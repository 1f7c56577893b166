import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doseflow.live.clocks import SimulatedClock
from doseflow.live.event_feed import EventFeed
from doseflow.live.ticker import TickParams, run_cycles, seconds_to_next_cycle


@given(st.datetimes(datetime(2021, 1, 1), datetime(2030, 1, 1)), st.sampled_from([(300, 20), (60, 0), (10, 3)]))
def test_the_next_cycle_is_always_a_mark_plus_the_grace_and_within_one_period(moment, setting):
    period_seconds, grace_seconds = setting
    city = SimpleNamespace(clock=SimulatedClock(moment.replace(tzinfo=UTC)))
    wait = seconds_to_next_cycle(city, TickParams(period_seconds, grace_seconds))
    assert 0 < wait <= period_seconds
    offset = (moment.replace(tzinfo=UTC).timestamp() + wait - grace_seconds) % period_seconds
    assert min(offset, period_seconds - offset) < 1e-3


def test_a_failing_cycle_is_recorded_and_the_beat_goes_on():
    class Failing:
        clock = SimulatedClock(datetime(2021, 5, 20, tzinfo=UTC))
        feed = EventFeed()
        runs = 0

        def run_cycle(self) -> None:
            self.runs += 1
            raise RuntimeError("the disk is full")

    async def scene() -> tuple[int, list[str]]:
        city, stop, names = Failing(), asyncio.Event(), []

        async def listen() -> None:
            async for event in city.feed.subscribe():
                names.append(event.name)
                if len(names) == 2:
                    stop.set()
                    return

        city.clock.set(datetime(2021, 5, 20, 0, 0, 0, 950_000, tzinfo=UTC))
        listener = asyncio.create_task(listen())
        await asyncio.wait_for(run_cycles(city, TickParams(1, 0, 0.1), stop), 20)
        await listener
        return city.runs, names

    runs, names = asyncio.run(scene())
    assert runs >= 2
    assert names == ["cycle_failed", "cycle_failed"]


@pytest.mark.parametrize(
    ("kwargs", "field"),
    [
        ({"period_seconds": 0}, "period_seconds"),
        ({"grace_seconds": 400}, "grace_seconds"),
        ({"relay_seconds": 0}, "relay_seconds"),
    ],
)
def test_impossible_beats_are_refused_by_name(kwargs, field):
    with pytest.raises(ValueError, match=field):
        TickParams(**kwargs)
