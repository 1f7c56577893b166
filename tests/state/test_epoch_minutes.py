from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from state_samples import TEN

from doseflow.state.epoch_minutes import epoch_minutes_of

ZONES = (UTC, timezone(timedelta(hours=-3, minutes=-30)), ZoneInfo("Europe/Prague"))
moments = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.sampled_from(ZONES))


@settings(max_examples=80)
@given(st.lists(st.none() | moments, max_size=5))
def test_minutes_are_those_of_the_standard_library_in_any_mixture_of_zones(mixture):
    expected = [np.nan if one is None else one.timestamp() / 60 for one in mixture]
    np.testing.assert_allclose(epoch_minutes_of(mixture), expected, rtol=0, atol=1e-7)


def test_whole_seconds_are_exact():
    shared = [TEN + timedelta(seconds=second) for second in range(0, 3600, 7)]
    assert epoch_minutes_of(shared).tolist() == [one.timestamp() / 60 for one in shared]


def test_summer_time_is_seen():
    prague = ZoneInfo("Europe/Prague")
    moments = [datetime(2026, 1, 1, tzinfo=prague), datetime(2026, 7, 1, tzinfo=prague)]
    assert epoch_minutes_of(moments).tolist() == [one.timestamp() / 60 for one in moments]
