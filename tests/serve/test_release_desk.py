"""Slots and desks of releases with toy models: who stands when, whom the share falls on, and whose decision counts."""

from datetime import UTC, datetime

import numpy as np
import pytest
from serve_samples import toy_bundle

from doseflow.circuit_breaker import BreakerParams, CircuitBreaker
from doseflow.errors import ModelWrong
from doseflow.serve.aliases import PACKAGED, Phase, begin, promote, roll_back
from doseflow.serve.guarded_engine import GuardedEngine, WallSeconds
from doseflow.serve.model_store import ModelStore
from doseflow.serve.net_slot import NetSlot, WarmModel
from doseflow.serve.release_desk import ReleaseDesk
from doseflow.serve.release_gates import Answered, CyclePair, ReleaseParams
from doseflow.serve.signatures import TrustedKeys

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
PARAMS = ReleaseParams(min_shadow_cycles=2, min_canary_cycles=2, min_served_cycles=1, error_rate=0.2)


class Toy:
    name = "toy"

    def run(self, inputs):
        return {"y": np.zeros(1)}


@pytest.fixture
def store(tmp_path):
    return ModelStore(tmp_path / "models", TrustedKeys.none(), allows_unsigned=True)


@pytest.fixture
def digest(store, tmp_path):
    return store.add(toy_bundle(tmp_path / "toy")).digest


@pytest.fixture
def make_slot(store):
    def make(broken=()):
        def open_warm(digest):
            if digest in broken:
                raise ModelWrong(f"{digest[:6]} is broken")
            breaker = CircuitBreaker(BreakerParams(), WallSeconds())
            return WarmModel(digest, digest[:12], GuardedEngine(Toy(), breaker), digest)

        return NetSlot("policy", store, open_warm, lambda: NOW)

    return make


def take(store, step):
    store.switch("policy", step, event="by hand", by="a test", why="", at=NOW)


def pair(cost_champion, cost_challenger, hard_failure=""):
    challenger = Answered(5.0, cost_challenger, hard_failure=hard_failure)
    return CyclePair(Answered(5.0, cost_champion), challenger, True, True)


def test_the_share_falls_on_as_many_keys_as_it_says_and_always_on_the_same(store, digest, make_slot):
    take(store, lambda one: begin(one, digest, 100))
    slot = make_slot()
    standing = slot.standing
    chosen = [key for key in range(5000) if standing.is_challengers(f"district {key}")]
    # Ten per cent of 5000, within four standard deviations.
    assert abs(len(chosen) - 500) < 4 * np.sqrt(5000 * 0.1 * 0.9)
    assert chosen == [key for key in range(5000) if make_slot().standing.is_challengers(f"district {key}")]
    take(store, roll_back)
    assert not any(slot.refresh().is_challengers(f"district {key}") for key in range(5000))
    take(store, lambda one: begin(one, digest, 100))
    slot.refresh()
    slot.settle()
    again = slot.refresh()
    # Another release begins with others.
    assert chosen != [key for key in range(5000) if again.is_challengers(f"district {key}")]


def test_who_had_a_share_keeps_it_when_the_share_grows(store, digest, make_slot):
    take(store, lambda one: begin(one, digest, 100))
    standing = make_slot().standing
    keys = [f"district {number}" for number in range(300)]
    few = {key for key in keys if standing.drawn(key) < 100}
    assert few < {key for key in keys if standing.drawn(key) < 500}


def test_a_desk_takes_a_challenger_through_its_phases(store, digest, make_slot):
    take(store, lambda one: begin(one, digest, 0))
    slot = make_slot()
    desk = ReleaseDesk(slot, PARAMS)
    phases = []
    for _ in range(60):
        standing = slot.refresh()
        if standing.aliases.phase is None:
            break
        phases.append(standing.aliases.phase)
        desk.take(standing, pair(100.0, 90.0))
    assert list(dict.fromkeys(phases)) == [Phase.SHADOW, Phase.CANARY]
    assert (slot.standing.champion.digest, store.aliases("policy").previous) == (digest, PACKAGED)
    # Each phase was judged by what was seen in it alone.
    assert [one["evidence"]["cycles"] for one in store.history()[1:]] == [
        phases.count(Phase.SHADOW),
        phases.count(Phase.CANARY),
    ]


def test_what_was_measured_does_not_override_what_a_person_has_decided_since(store, digest, make_slot):
    take(store, lambda one: begin(one, digest, 100))
    slot = make_slot()
    desk, standing = ReleaseDesk(slot, PARAMS), slot.standing
    take(store, promote)
    desk.take(standing, pair(100.0, 100.0, hard_failure="not a number"))
    assert store.aliases("policy").champion == digest
    assert [one["event"] for one in store.history()] == ["by hand", "by hand"]


def test_a_broken_challenger_is_dropped_and_a_broken_champion_leaves_the_old_one(store, digest, make_slot):
    slot = make_slot(broken={digest})
    take(store, lambda one: begin(one, digest, 100))
    slot.refresh()
    slot.settle()
    assert slot.refresh().challenger is None
    assert store.aliases("policy").challenger is None
    take(store, lambda one: begin(one, digest, 100))
    take(store, promote)
    for _ in range(3):
        slot.refresh()
        slot.settle()
    assert slot.refresh().champion.digest == PACKAGED
    assert [one["event"] for one in store.history()][-1] == "load_failed"
    assert [one["event"] for one in store.history()].count("load_failed") == 1


def test_aliases_that_cannot_be_read_leave_everything_as_it_is(store, digest, make_slot):
    slot = make_slot()
    take(store, lambda one: begin(one, digest, 100))
    slot.refresh()
    slot.settle()
    before = slot.refresh()
    store.alias_path("policy").write_bytes(b"{broken")
    assert slot.refresh() is before


def test_the_previous_model_stays_warm_and_those_before_are_let_go(store, digest, make_slot, tmp_path):
    second = store.add(toy_bundle(tmp_path / "second", licence="MIT")).digest
    slot = make_slot()
    for one in (digest, second):
        take(store, lambda aliases, one=one: begin(aliases, one, 100))
        slot.refresh()
        slot.settle()
        slot.refresh()
        take(store, promote)
        slot.refresh()
    assert (slot.standing.champion.digest, store.aliases("policy").previous) == (second, digest)
    take(store, roll_back)
    assert slot.refresh().champion.digest == digest
    assert set(slot._warm) == {digest, PACKAGED}
