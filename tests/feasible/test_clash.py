"""`Infeasible` names what truly clashes: which pin, which rule, at which site."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from feasible_city import changed, make_city, make_forecast, make_state, move, release, send, stations, transfer

from doseflow.domain.limits import OperatingLimits
from doseflow.domain.orders import Commitments
from doseflow.domain.plan import Infeasible, Plan, Proposal
from doseflow.feasible.layer import FeasibleLayer, FeasibleParams

LAYERS = (
    FeasibleLayer(FeasibleParams(time_limit_milliseconds=10_000)),
    FeasibleLayer(FeasibleParams(time_limit_milliseconds=0)),
)

# What command wants, and the rules beside "pinned" that it runs into.
CLASHES = {
    "frozen": ({"pinned": (move(),), "frozen_site_ids": frozenset({"s1"})}, ("frozen_site",), "Birch is frozen"),
    "suspended": (
        {"pinned": (move(),), "suspended_site_ids": frozenset({"s1"})},
        ("suspended_site",),
        "Birch is suspended",
    ),
    "opened though suspended": (
        {"pinned": (stations(after=5),), "suspended_site_ids": frozenset({"s0"})},
        ("suspended_site",),
        "5 vaccination stations would be open",
    ),
    "stock": ({"pinned": (transfer(doses=300),)}, ("doses_on_hand",), "300 doses asked for, 100 unopened"),
    "refused": ({"pinned": (move(),), "refused": (move(),)}, ("not_refused",), "refused within the last hour"),
    "unknown": ({"pinned": (transfer(lot="lost"),)}, ("known_things",), "no lot 'lost'"),
    "people": ({"pinned": (move(people=7),)}, ("staff_on_hand",), "7 vaccinators asked to leave, 6 may"),
    "slots": ({"pinned": (release(people=9),)}, ("slots_within_share",), "9 appointments to change"),
    "walk-ins": ({"pinned": (send(people=90),)}, ("send_walk_ins",), "90 walk-ins to be sent"),
}


def roomy_state(wishes):
    """The tidy state with limits out of the way, so that a pin runs into one rule."""
    limits = OperatingLimits(max_moved_share=1.0, max_station_changes=8)
    city = make_city(limits=limits)
    city = replace(
        city,
        vans=tuple(replace(van, capacity_litres=99.0) for van in city.vans),
        sites=tuple(replace(site, minimum_team=(0, 0, 0, 0)) for site in city.sites),
    )
    state = make_state(city)
    return replace(
        state,
        booked_people=changed(state.booked_people, 1, 10.0),
        breaks_due_people=np.zeros_like(state.breaks_due_people),
        fridges=replace(state.fridges, volume_possible_litres=np.full(12, 99.0)),
        commitments=Commitments(**wishes),
    )


@pytest.mark.parametrize("name", CLASHES)
@pytest.mark.parametrize("layer", LAYERS, ids=["solver", "trimmer"])
def test_a_clash_names_the_pin_and_the_rule(name, layer):
    wishes, rules, words = CLASHES[name]
    state = roomy_state(wishes)
    outcome = layer(state, make_forecast(state), Proposal("rules", (stations(site=3),)))
    assert isinstance(outcome, Infeasible)
    assert outcome.clashing_rules == ("pinned", *rules)
    assert outcome.sentences[0].startswith("pinned by command: ")
    assert any(words in sentence for sentence in outcome.sentences[1:])


def test_only_the_pins_that_clash_are_named():
    wishes = {"pinned": (move(2, 3), move(), stations(site=2, after=5)), "frozen_site_ids": frozenset({"s0"})}
    state = roomy_state(wishes)
    outcome = LAYERS[0](state, make_forecast(state), Proposal("rules", ()))
    assert outcome.sentences[0] == "pinned by command: send 1 vaccinator from Alder to Birch"
    assert not any("Cedar" in sentence for sentence in outcome.sentences)


def test_two_pins_may_clash_with_each_other_and_both_are_named():
    state = roomy_state({"pinned": (move(people=4), move(to=2, people=4), release(site=3, people=1))})
    outcome = LAYERS[0](state, make_forecast(state), Proposal("rules", ()))
    assert isinstance(outcome, Infeasible)
    pins = [sentence for sentence in outcome.sentences if sentence.startswith("pinned by command")]
    assert len(pins) == 2
    assert outcome.clashing_rules == ("pinned", "staff_on_hand")


def test_a_pin_may_need_a_station_to_close_and_then_nothing_clashes():
    state = roomy_state({"pinned": (move(people=6),)})
    for layer in LAYERS:
        plan = layer(state, make_forecast(state), Proposal("rules", ()))
        assert isinstance(plan, Plan)
        assert {(one.decision.kind, one.decision.quantity) for one in plan.decisions} == {
            ("staff_move", 6),
            ("station_change", 2),
        }


def test_without_pins_nothing_clashes_even_where_a_suspended_site_is_frozen_and_has_refused():
    wishes = {
        "suspended_site_ids": frozenset({"s0"}),
        "frozen_site_ids": frozenset({"s0"}),
        "refused": (stations(0, 2, 0),),
    }
    state = roomy_state(wishes)
    assert isinstance(LAYERS[0](state, make_forecast(state), Proposal("rules", (move(),))), Plan)
