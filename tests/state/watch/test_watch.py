from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from watched_city import TEN, Watched, city_of

from doseflow.domain.anomaly import AnomalyKind
from doseflow.domain.feature_classes import FeatureClass
from doseflow.state.unknown import unknown_state
from doseflow.state.watch import WatchParams, first_watch, watch
from doseflow.state.watch.alarms import next_anomalies
from doseflow.state.watch.findings import Finding
from doseflow.state.watch.fridge_readings import fridge_axis
from doseflow.state.watch.words import KIND_TO_WORDS


def arrays_of(thing):
    """Every array inside, by its place."""
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, tuple):
        for one in thing:
            yield from arrays_of(one)
    elif is_dataclass(thing):
        for one in fields(thing):
            if one.name != "city":
                yield from arrays_of(getattr(thing, one.name))


def wild(rng, shape, high):
    """Readings of any size, a fifth of them unknown."""
    return np.where(rng.random(shape) < 0.2, np.nan, rng.integers(0, high, shape).astype(float))


def wild_values(rng, num_sites):
    return {
        "told": rng.random(num_sites) < 0.8,
        "arrivals_people": wild(rng, num_sites, 40),
        "waiting_people": wild(rng, (num_sites, 4), 90),
        "doses_given": wild(rng, num_sites, 40),
        "observed_wait_minutes": wild(rng, num_sites, 200),
        "stations_open": wild(rng, (num_sites, 4), 9),
        "temperature": wild(rng, num_sites, 30),
        "excursion": wild(rng, num_sites, 60),
        "arrivals_past_weeks_people": wild(rng, (num_sites, 4, 24), 20),
        "lots": {(int(rng.integers(num_sites)), f"lot-{rng.integers(3)}"): int(rng.integers(500)) for _ in range(4)},
    }


@given(seed=st.integers(0, 10**6))
@settings(max_examples=8)
def test_no_state_makes_it_raise_and_no_array_is_written_to(seed):
    rng, watched = np.random.default_rng(seed), Watched(city_of(4))
    for _ in range(8):
        state = watched.state(**wild_values(rng, 4))
        learned = watched.learned or first_watch(state)
        before = [array.copy() for array in arrays_of((state, learned))]
        watched.learned, anomalies = watch(learned, state)
        watched.period += 1
        for array, kept in zip(arrays_of((state, learned)), before, strict=True):
            assert array.tobytes() == kept.tobytes()
        causes = [(one.site_id, one.fridge_id) for one in anomalies if one.ended_at is None]
        assert len(causes) == len(set(causes)), "one open anomaly a cause"
        assert all(one.text_en and one.text_zh for one in anomalies)


def test_a_city_that_says_nothing_has_no_anomaly():
    state = unknown_state(city_of(3), TEN)
    assert watch(first_watch(state), state)[1] == ()


@given(rate=st.floats(0.5, 30), seed=st.integers(0, 10**6))
@settings(max_examples=4)
def test_sites_of_a_constant_rate_are_rarely_flagged(rate, seed):
    """20 sites for 100 periods are 7 site-days, so that more than 2 flags are far beyond the stated rate."""
    rng, watched = np.random.default_rng(seed), Watched(city_of(20))
    for _ in range(100):
        watched.show(arrivals_people=rng.poisson(rate, 20).astype(float), doses_given=np.full(20, np.nan))
    assert len(watched.ever) <= 2


def test_every_kind_has_words_in_both_languages():
    assert set(KIND_TO_WORDS) == set(AnomalyKind)
    for english, chinese in KIND_TO_WORDS.values():
        assert english.isascii() or "°" in english
        assert not chinese.isascii()


def found(kind, fridge=-1, since=0.0):
    evidence = {"value": 3.0, "readings": 9.0, "people": 4.0, "temperature_celsius": 5.0}
    return Finding(kind, FeatureClass.ARRIVALS, 0, since, evidence, fridge)


def alarms(previous, findings, minutes):
    city, start = city_of(1), TEN.timestamp() / 60
    return next_anomalies(previous, findings, city, fridge_axis(city), start + minutes, WatchParams())


def test_several_findings_of_one_cause_are_one_anomaly_named_by_the_first():
    opened = alarms((), [found(AnomalyKind.STUCK_READING), found(AnomalyKind.PEOPLE_VANISH)], 0)
    again = alarms(opened, [found(AnomalyKind.PEOPLE_VANISH)], 5)
    assert [one.kind for one in again] == [AnomalyKind.STUCK_READING]
    assert again[0].anomaly_id == opened[0].anomaly_id
    assert again[0].last_at > opened[0].last_at


def test_an_anomaly_ends_once_nothing_has_spoken_for_it_for_an_hour():
    opened = alarms((), [found(AnomalyKind.STUCK_READING)], 0)
    assert alarms(opened, [], 60)[0].ended_at is None
    ended = alarms(opened, [], 61)
    assert ended[0].ended_at == opened[0].last_at
    assert alarms(ended, [], 66) == ()


def test_a_logger_stuck_with_the_counts_of_its_site_is_the_same_cause():
    since = TEN.timestamp() / 60
    site, fridge = found(AnomalyKind.STUCK_READING, since=since), found(AnomalyKind.LOGGER_STUCK, 0, since + 5)
    assert len(alarms((), [site, fridge], 40)) == 1
    assert len(alarms((), [site, found(AnomalyKind.LOGGER_STUCK, 0, since - 60)], 40)) == 2


@pytest.mark.parametrize(
    ("name", "value"), [("false_alarms_per_site_day", 0.0), ("silent_share", 1.0), ("patient_minutes", 500.0)]
)
def test_params_out_of_bounds_are_refused_by_name(name, value):
    with pytest.raises(ValueError, match=name):
        WatchParams(**{name: value})
