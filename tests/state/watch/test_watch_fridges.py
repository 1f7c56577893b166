from dataclasses import replace

import numpy as np
import pytest
from watched_city import Watched, city_of

from doseflow.domain.feature_classes import FeatureClass
from doseflow.state.watch import watch


def cooling(rng, above, noise=0.22):
    """Degrees above the set-point five minutes on: a first-order process with a time constant of 20 minutes."""
    return above * np.exp(-5 / 20) + rng.normal(0.0, noise, np.shape(above))


def show_true(watched, periods, seed=1, start=None, digits=1):
    rng = np.random.default_rng(seed)
    above = np.zeros(watched.city.num_sites) if start is None else start
    for _ in range(periods):
        above = cooling(rng, above)
        watched.show(temperature=np.round(5 + above, digits), doses_given=rng.poisson(3.0, len(above)).astype(float))
    return above


def test_true_temperatures_flag_no_more_often_than_stated():
    """150 fridges for 16 hours, 100 site-days: the stated rate is 1 in 100 site-days for all tests together."""
    watched = Watched(city_of(150))
    show_true(watched, 200)
    assert len([one for one in watched.ever.values() if one.fridge_id]) <= 4


@pytest.mark.parametrize("digits", [0, 1])
def test_a_logger_that_shows_whole_degrees_is_not_taken_for_stuck(digits):
    watched = Watched(city_of(5))
    show_true(watched, 150, seed=3, digits=digits)
    assert not watched.ever


def test_a_fridge_that_fails_and_comes_back_is_true(make_watched):
    """Warming of a fridge that stands still for three hours, and its quick cooling afterwards, are physics."""
    watched = make_watched(1)
    above = show_true(watched, 40)
    rng = np.random.default_rng(2)
    for _ in range(36):
        above = 18 - (18 - above) * np.exp(-5 / 987) + rng.normal(0, 0.05, 1)
        watched.show(temperature=np.round(5 + above, 1))
    show_true(watched, 30, start=above)
    assert not watched.ever


def test_an_offset_is_flagged_at_once_lasts_and_ends(make_watched):
    watched, rng = make_watched(1), np.random.default_rng(1)
    above = show_true(watched, 40)
    for period in range(24):
        above = cooling(rng, above)
        watched.show(temperature=np.round(8 + above, 1))
        assert watched.open_kinds == ["temperature_jump"], period
    found = watched.anomalies[0]
    assert found.since_at == found.seen_at < found.last_at
    assert "8" in found.text_en
    show_true(watched, 14)
    assert watched.open_kinds == []
    assert len(watched.ever) == 1


def test_a_stuck_logger_is_one_anomaly_of_its_fridge(make_watched):
    watched, rng = make_watched(3), np.random.default_rng(1)
    above = show_true(watched, 40)
    for _ in range(24):
        above = cooling(rng, above)
        watched.show(temperature=np.concatenate([[5.1], np.round(5 + above[1:], 1)]))
    assert watched.open_kinds == ["logger_stuck"]
    assert watched.anomalies[0].fridge_id == "s0-0"
    assert "s0-0" in watched.anomalies[0].text_en


def test_a_silent_logger_of_a_site_that_reports_is_flagged_and_a_silent_site_is_not(make_watched):
    watched, rng = make_watched(3), np.random.default_rng(1)
    above = show_true(watched, 40)
    for _ in range(24):
        above = cooling(rng, above)
        watched.show(
            temperature=np.concatenate([[np.nan], np.round(5 + above[1:], 1)]), told=np.array([True, False, True])
        )
    assert [one.site_id for one in watched.anomalies] == ["s0"]
    assert watched.open_kinds == ["logger_silent"]


def test_a_site_of_which_another_system_tells_bookings_does_not_make_its_loggers_silent(make_watched):
    watched, rng = make_watched(3), np.random.default_rng(1)
    above = show_true(watched, 40)
    for _ in range(24):
        above = cooling(rng, above)
        state = watched.state(
            temperature=np.concatenate([[np.nan], np.round(5 + above[1:], 1)]), told=np.array([False, True, True])
        )
        valid = state.valid_epoch_minutes.copy()
        valid[0, FeatureClass.BOOKED_AHEAD] = state.as_of.timestamp() / 60
        watched.learned, watched.anomalies = watch(
            watched.learned, replace(state, valid_epoch_minutes=valid), watched.params
        )
        watched.period += 1
    assert watched.open_kinds == []


def test_a_logger_never_told_is_none(make_watched):
    watched = make_watched(2)
    for _ in range(60):
        watched.show(temperature=np.full(2, np.nan))
    assert not watched.ever


def show_counter(watched, minutes, lots=("a",)):
    rng = np.random.default_rng(watched.period)
    watched.show(
        temperature=np.round(5 + rng.normal(0, 0.2, 1), 1), excursion=minutes, lots={(0, lot): 10 for lot in lots}
    )


def test_a_counter_that_goes_back_lasts_until_it_is_right(make_watched):
    watched = make_watched(1)
    for minutes in (0.0, 5.0, 10.0, 12.0):
        show_counter(watched, minutes)
    for _ in range(20):
        show_counter(watched, 2.0)
        assert watched.open_kinds == ["counter_back"]
    for _ in range(14):
        show_counter(watched, 13.0)
    assert len(watched.ever) == 1
    assert watched.open_kinds == []


def test_a_counter_may_go_back_with_the_lot_that_carried_it(make_watched):
    watched = make_watched(1)
    show_counter(watched, 50.0, lots=("a", "b"))
    show_counter(watched, 0.0, lots=("b",))
    show_counter(watched, 60.0, lots=("b", "c"))
    assert not watched.ever
