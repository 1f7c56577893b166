"""Loggers that speak for single fridges, between the lists that the site itself tells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from state_samples import folded, nothing_known, report

from doseflow.domain.feature_classes import FeatureClass, ReadingSource
from doseflow.domain.report import FridgeReading, Power
from doseflow.domain.state import CityState

BIG, SMALL = "alpha-big", "alpha-small"


def temperatures(state: CityState) -> dict[str, float]:
    return dict(zip(state.fridges.fridge_id, state.fridges.temperature_celsius.tolist(), strict=True))


def row_of(state: CityState, fridge_id: str) -> int:
    return state.fridges.fridge_id.index(fridge_id)


def listed(valid: float, **celsius: float):
    """The site's own list."""
    ids = {"big": BIG, "small": SMALL}
    return report(valid=valid, fridges=tuple(FridgeReading(ids[name], one) for name, one in celsius.items()))


def logged(valid: float, fridge_id: str, celsius: float | None, **told):
    return report(
        valid=valid,
        report_id=f"log-{fridge_id}-{valid}-{celsius}",
        source=f"logger:{fridge_id}",
        fridges=(FridgeReading(fridge_id, celsius, **told),),
    )


def test_a_logger_of_one_fridge_leaves_the_others_as_they_were_told():
    state = folded(nothing_known(), listed(0, big=4.0, small=5.0))
    after = folded(state, logged(2, BIG, 9.0), at=5)
    assert temperatures(after) == {BIG: 9.0, SMALL: 5.0}


def test_the_loggers_of_two_fridges_both_count_in_one_fold_and_in_two():
    first, second = logged(0, BIG, 4.5), logged(3, SMALL, 6.5)
    for reports in ((first, second), (second, first)):
        assert temperatures(folded(nothing_known(), *reports, at=5)) == {BIG: 4.5, SMALL: 6.5}
        assert temperatures(folded(folded(nothing_known(), reports[0], at=5), reports[1], at=5)) == {
            BIG: 4.5,
            SMALL: 6.5,
        }


def test_an_older_reading_that_comes_late_does_not_undo_a_newer_one():
    state = folded(nothing_known(), logged(0, BIG, 9.0), logged(1, SMALL, 6.0), at=5)
    assert temperatures(folded(state, logged(-15, BIG, 4.0), at=5))[BIG] == 9.0


def test_a_logger_that_falls_silent_ages_alone():
    told = [logged(0, BIG, 4.5, power=Power.ON, door_open=False, alarms=("DOOR",)), logged(0, SMALL, 6.5)]
    state = folded(nothing_known(), *told, at=5)
    later = folded(state, logged(55, SMALL, 6.0), at=65)
    row = row_of(later, BIG)
    assert np.isnan(later.fridges.temperature_celsius[row])
    assert np.isnan(later.fridges.power_on[row])
    assert np.isnan(later.fridges.door_open[row])
    assert later.fridges.alarms[row] is None
    assert temperatures(later)[SMALL] == 6.0
    assert later.source[0, FeatureClass.FRIDGES] == ReadingSource.CARRIED


def test_what_a_logger_tells_of_door_alarms_and_holdover_stands_in_the_state():
    told = {"ambient_celsius": 31.5, "door_open": True, "door_open_minutes": 15.0, "holdover_hours": 9.5}
    state = folded(nothing_known(), logged(0, BIG, 4.5, alarms=("DOOR", "EERR:x"), **told), at=2)
    row = row_of(state, BIG)
    assert {name: float(getattr(state.fridges, name)[row]) for name in told} == told
    assert state.fridges.alarms[row] == "DOOR\nEERR:x"


def test_no_alarm_is_told_apart_from_nobody_knowing():
    state = folded(nothing_known(), logged(0, BIG, 4.5, alarms=()), logged(0, SMALL, 4.5), at=2)
    assert state.fridges.alarms[row_of(state, BIG)] == ""
    assert state.fridges.alarms[row_of(state, SMALL)] is None


def test_the_power_that_the_site_told_ages_although_a_logger_goes_on_without_it():
    state = folded(nothing_known(), report(valid=0, fridges=(FridgeReading(BIG, 4.0, power=Power.ON),)))
    state = folded(state, logged(30, BIG, 5.0), at=31)
    assert state.fridges.power_on[row_of(state, BIG)] == 1.0
    state = folded(state, logged(62, BIG, 5.5), at=63)
    assert np.isnan(state.fridges.power_on[row_of(state, BIG)])
    assert temperatures(state) == {BIG: 5.5}


def test_a_list_of_the_site_drops_what_it_leaves_out_but_not_what_a_logger_spoke_for():
    state = folded(nothing_known(), logged(0, BIG, 4.5), at=1)
    state = folded(state, listed(5, small=6.0), at=6)
    assert temperatures(state) == {BIG: 4.5, SMALL: 6.0}
    state = folded(state, listed(10, big=4.0), at=11)
    assert temperatures(state) == {BIG: 4.0}
    state = folded(state, listed(24 * 60 + 10, small=6.0), at=24 * 60 + 11)
    assert temperatures(state) == {SMALL: 6.0}


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(-20, 4), st.sampled_from([BIG, SMALL]), st.sampled_from([3.0, 9.0, None])),
        min_size=1,
        max_size=8,
        unique_by=lambda one: one[:2],
    ),
    st.randoms(use_true_random=False),
    st.integers(0, 8),
)
def test_of_each_fridge_the_newest_temperature_stands_in_whatever_order_and_folds_they_come(told, random, cut):
    newest: dict[str, tuple[int, float]] = {}
    for valid, fridge_id, celsius in told:
        if celsius is not None and (fridge_id not in newest or valid > newest[fridge_id][0]):
            newest[fridge_id] = (valid, celsius)
    random.shuffle(told)
    reports = [logged(valid, fridge_id, celsius, alarms=()) for valid, fridge_id, celsius in told]
    state = folded(folded(nothing_known(), *reports[:cut], at=5), *reports[cut:], at=5)
    got = {name: celsius for name, celsius in temperatures(state).items() if not np.isnan(celsius)}
    assert got == {name: celsius for name, (_, celsius) in newest.items()}


@pytest.mark.parametrize("minutes", [0.0, 25.0])
def test_a_state_of_loggers_folds_on_when_nothing_new_comes(minutes):
    state = folded(nothing_known(), logged(0, BIG, 4.5, alarms=()), at=1)
    assert temperatures(folded(state, at=1 + minutes)) == {BIG: 4.5}
