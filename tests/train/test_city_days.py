"""Days as a forecaster sees them: what came is what the sites tell later, and nothing of it is seen before."""

from dataclasses import replace
from datetime import time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest

pytest.importorskip("torch")

from train_samples import NO_FAULTS, small_scenario

from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.encoding.city_features import feature_names
from doseflow.forecast.booked_arrivals import BookingParams
from doseflow.forecast.net_inputs import net_inputs
from doseflow.simulate.scenario_incidents import SurgeIncident
from doseflow.train.city_days import DayTruth, live_day


@pytest.mark.parametrize("num_cycles", [1, 5, 60])
def test_arrivals_ahead_and_doses_left_are_those_of_the_cycles_that_follow(num_cycles):
    rng = np.random.default_rng(num_cycles)
    truth = DayTruth(rng.poisson(4, (num_cycles, 3)).astype(float), rng.poisson(3, (num_cycles, 3)).astype(float))
    ahead, left = truth.arrivals_ahead(), truth.doses_left()
    assert ahead.shape == (num_cycles, 3, HORIZON_PERIODS)
    for cycle in range(num_cycles):
        for site in range(3):
            for period in range(HORIZON_PERIODS):
                at = cycle + period
                expected = truth.arrived_people[at, site] if at < num_cycles else 0
                assert ahead[cycle, site, period] == expected
            assert left[cycle, site] == sum(truth.doses_given[at, site] for at in range(cycle, num_cycles))


def fed(state):
    return net_inputs(state, BookingParams())


def lived(scenario, seed=7):
    states = []
    return states, live_day(scenario, seed, states.append)


def test_what_came_is_what_the_sites_tell_five_minutes_later_where_no_report_is_lost():
    states, truth = lived(small_scenario(7, report_faults=NO_FAULTS))
    assert len(states) == 24
    assert truth.arrived_people.sum() > 50
    assert truth.doses_given.sum() > 50
    for cycle, later in enumerate(states[1:]):
        np.testing.assert_array_equal(later.arrivals_people, truth.arrived_people[cycle])
        np.testing.assert_array_equal(later.doses_given, truth.doses_given[cycle])
    told = states[-1].recent.arrivals_people[:, -23:]
    np.testing.assert_array_equal(told, truth.arrived_people[:23].T)
    np.testing.assert_array_equal(told, truth.arrivals_ahead()[0, :, :23])


def test_what_came_goes_on_after_the_last_look_and_nothing_of_it_is_seen():
    short_states, short = lived(small_scenario(7, hours=(9, 10)))
    long_states, long = lived(small_scenario(7))
    assert (len(short_states), len(long_states)) == (12, 24)
    for one, other in zip(short_states, long_states[:12], strict=True):
        for name, array in fed(one).items():
            assert array.tobytes() == fed(other)[name].tobytes()
    np.testing.assert_array_equal(short.arrived_people, long.arrived_people)
    np.testing.assert_array_equal(short.doses_given, long.doses_given)
    assert short.arrivals_ahead()[11].sum(axis=0).all()
    closes = max(site.closes_at for site in short_states[0].city.sites)
    assert len(short.arrived_people) >= 12 * (closes.hour - 9)
    assert not short.arrived_people[-3:].any()


def test_looks_are_five_minutes_apart_from_the_beginning_of_the_window_to_its_end():
    states, _ = lived(small_scenario(7))
    moments = [state.as_of for state in states]
    assert {later - earlier for earlier, later in pairwise(moments)} == {timedelta(minutes=5)}
    local = [moment.astimezone(ZoneInfo(states[0].city.timezone)).time() for moment in (moments[0], moments[-1])]
    assert local == [time(9, 0), time(10, 55)]


def test_past_weeks_and_bookings_are_known_from_the_first_reports_on():
    states, _ = lived(small_scenario(7, report_faults=NO_FAULTS))
    assert np.isfinite(states[1].arrivals_past_weeks_people).any()
    assert np.isfinite(states[1].booked_people).all()
    assert np.isfinite(states[-1].recent.booked_people[:, 2:]).all()


def test_reports_that_are_lost_leave_gaps():
    faults = replace(NO_FAULTS, missing_share=0.5)
    states, _ = lived(small_scenario(7, report_faults=faults))
    lost = np.isnan(states[-1].recent.arrivals_people[:, -20:]).mean()
    assert 0.35 < lost < 0.65


def test_nothing_of_an_incident_is_seen_before_it_begins():
    surge = SurgeIncident(kind="surge", site_share=1.0, starts_at=time(10), ends_at=time(11), extra_share=3.0)
    calm_states, calm = lived(small_scenario(7))
    states, struck = lived(small_scenario(7, incidents=(surge,)))
    begins = 12  # looks from 9:00 on; this one is at the very moment, when the sites tell of it
    for before, other in zip(calm_states[:begins], states[:begins], strict=True):
        for name, array in fed(before).items():
            assert array.tobytes() == fed(other)[name].tobytes()
    differs = np.argwhere(fed(states[begins])["site"] != fed(calm_states[begins])["site"])
    assert {feature_names()[feature] for _, _, feature in differs} == {"incident_surge"}
    np.testing.assert_array_equal(calm.arrived_people[:begins], struck.arrived_people[:begins])
    # The days do differ, in what came and then in what is seen.
    assert struck.arrived_people[begins:24].sum() > 2 * calm.arrived_people[begins:24].sum()
    after = fed(states[begins + 2])["recent"], fed(calm_states[begins + 2])["recent"]
    assert np.abs(after[0] - after[1]).max() > 0.1
