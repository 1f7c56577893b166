from datetime import UTC, datetime

import pytest
import structlog

from doseflow.live.site_watch import SiteWatch
from doseflow.simulate.city_choice import city_from_name
from doseflow.state.unknown import unknown_state

NOW = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)


@pytest.fixture
def state():
    return unknown_state(city_from_name("synthetic:3"), NOW)


def test_what_fails_inside_is_recorded_and_does_not_stop_the_cycle(state):
    site_watch = SiteWatch(state)
    with structlog.testing.capture_logs() as logs:
        site_watch.look(None)  # no state at all breaks it for sure
    assert site_watch.num_failures == 1
    assert [one["event"] for one in logs] == ["watch_failed"]
    site_watch.look(state)
    assert site_watch.num_failures == 1
    assert site_watch.open == ()


def test_every_kind_is_counted_also_where_there_is_none(state):
    assert set(SiteWatch(state).count_by_kind().values()) == {0}
