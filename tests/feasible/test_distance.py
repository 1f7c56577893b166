"""The distance counts what was changed, in the units of the decisions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from feasible_city import make_forecast, make_state, move, pre_cool, release, set_point, stations, transfer

from doseflow.domain.decisions import DecisionKind
from doseflow.feasible.distance import WEIGHT, distance
from doseflow.feasible.ledger import Ledger
from doseflow.feasible.lookup import StateLookup
from doseflow.feasible.resize import resized

STATE = make_state()
PERSON, STATION, DOSE, FRIDGE = (
    WEIGHT[kind]
    for kind in (
        DecisionKind.STAFF_MOVE,
        DecisionKind.STATION_CHANGE,
        DecisionKind.DOSE_TRANSFER,
        DecisionKind.SET_POINT,
    )
)

CHANGES = {
    "nothing": ([move()], [move()], 0.0),
    "a person fewer": ([move(people=3)], [move(people=2)], PERSON),
    "a move dropped": ([move(people=3)], [], 3 * PERSON),
    "a station fewer": ([stations(after=6)], [stations(after=5)], STATION),
    "a change dropped leaves what is open now": ([stations(after=6)], [], 2 * STATION),
    "a closing added": ([], [stations(after=1)], 3 * STATION),
    "doses added": ([transfer(doses=5)], [transfer(doses=5), transfer(lot="late", doses=15)], 15 * DOSE),
    "a setting dropped": ([set_point()], [], FRIDGE),
    "another temperature": ([set_point(celsius=4.0)], [set_point(celsius=5.0)], FRIDGE),
    "asked twice": ([move(), move()], [move()], PERSON),
    "a quantity that means nothing": ([move(people=float("nan"))], [], PERSON),
    "an unknown site": ([replace(move(people=9), to_site_id="nowhere")], [], PERSON),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_distance_of(name):
    proposed, planned, expected = CHANGES[name]
    lookup, forecast = StateLookup(STATE), make_forecast(STATE)
    assert distance(Ledger(lookup, forecast, proposed), Ledger(lookup, forecast, planned)) == expected


def test_every_kind_has_a_weight():
    assert set(WEIGHT) == set(DecisionKind)
    assert all(weight > 0 for weight in WEIGHT.values())


@pytest.mark.parametrize("decision", [move(), stations(), transfer(), release()])
def test_a_decision_of_another_size_is_otherwise_the_same(decision):
    other = resized(decision, 30)
    assert (other.quantity, other.key) == (30, decision.key)
    assert resized(other, decision.quantity) == decision


@pytest.mark.parametrize("setting", [set_point(), pre_cool()])
def test_a_setting_has_no_size(setting):
    assert resized(setting, 1) is setting
