"""Trimming cuts by what is too much, the last named first, and never below what is mandatory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from feasible_city import (
    make_forecast,
    make_state,
    move,
    random_proposal,
    random_state,
    release,
    set_point,
    stations,
    transfer,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup
from doseflow.feasible.referee import hard_violations
from doseflow.feasible.trimming import trimmed_decisions

STATE = make_state()
LOOKUP = StateLookup(STATE)
FORECAST = make_forecast(STATE)


def trimmed(*proposed, mandatory=()):
    return trimmed_decisions(LOOKUP, FORECAST, proposed, mandatory)


def test_an_allowed_proposal_is_not_touched():
    proposed = (move(), stations(1), transfer(2, 3))
    assert trimmed(*proposed) == proposed


def test_the_last_of_those_named_is_cut_first_and_by_no_more_than_is_too_much():
    assert [(one.to_site_id, one.people) for one in trimmed(move(people=3), move(to=2, people=3))] == [
        ("s1", 3),
        ("s2", 1),
    ]


def test_doses_are_cut_to_whole_vials():
    (kept,) = trimmed(transfer(doses=13))
    assert kept.doses == 10


def test_doses_that_do_not_fit_a_van_are_cut_by_their_volume():
    city = replace(STATE.city, vans=tuple(replace(van, capacity_litres=0.1) for van in STATE.city.vans))
    state = make_state(city)
    (kept,) = trimmed_decisions(StateLookup(state), FORECAST, (transfer(doses=60),), ())
    assert kept.doses == 25


def test_station_changes_are_cut_towards_what_is_open_now():
    (kept,) = trimmed(stations(after=40))
    assert 4 < kept.open_stations <= 8


def test_settings_are_kept_or_dropped_whole():
    assert trimmed(set_point(celsius=9.0), set_point(1, celsius=4.0)) == (set_point(1, celsius=4.0),)


def test_what_is_mandatory_is_never_cut():
    kept = trimmed(move(to=2, people=4), mandatory=(move(people=4),))
    assert kept == (move(people=4),)
    assert trimmed(release(people=1), mandatory=(release(people=3),)) == (release(people=3),)


def test_asking_twice_for_what_is_mandatory_counts_once():
    assert trimmed(release(people=2), release(people=2), mandatory=(release(people=3),)) == (release(people=3),)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_trimming_only_ever_cuts(seed):
    rng = np.random.default_rng(seed)
    state = random_state(rng, 4)
    proposed = random_proposal(rng, state, 20, wild=0.2)
    lookup, forecast = StateLookup(state), make_forecast(state)
    asked = {}
    for decision in proposed:
        asked.setdefault(decision.key, []).append(decision)
    kept = trimmed_decisions(lookup, forecast, proposed, ())
    assert hard_violations(Ledger(lookup, forecast, kept)) == []
    for decision in kept:
        if decision.kind == "station_change":
            now = decision.open_before
            assert any(
                min(now, one.quantity) <= decision.quantity <= max(now, one.quantity) for one in asked[decision.key]
            )
        else:
            assert any(decision.quantity <= one.quantity for one in asked[decision.key])
