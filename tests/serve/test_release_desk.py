"""Slots and desks of releases with toy models: who stands when, whom the share falls on, and whose decision counts."""

import threading
import time
from datetime import UTC, datetime

import numpy as np
import pytest
import structlog
from serve_samples import toy_bundle

from doseflow.circuit_breaker import BreakerParams, CircuitBreaker
from doseflow.errors import EnvironmentUnfit, ModelWrong
from doseflow.serve.aliases import PACKAGED, Phase, begin, promote, roll_back
from doseflow.serve.folder_lock import folder_lock
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
    def make(broken=(), waits_for=None):
        def open_warm(digest):
            if waits_for is not None and digest in waits_for:
                waits_for[digest].wait()
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


@pytest.fixture
def second(store, tmp_path):
    return store.add(toy_bundle(tmp_path / "second", licence="MIT")).digest


@pytest.fixture
def cold(digest, second):
    """What no slot can open before the test lets it, by digest."""
    may_open = {second: threading.Event()}
    yield may_open
    for one in may_open.values():
        one.set()


def test_a_challenger_rolled_back_while_the_next_one_is_being_opened_stops_at_once(
    store, digest, second, make_slot, cold
):
    take(store, lambda one: begin(one, digest, 500))
    slot = make_slot(waits_for=cold)
    assert slot.standing.challenger.digest == digest
    take(store, roll_back)
    take(store, lambda one: begin(one, second, 500))
    standing = slot.refresh()
    assert (standing.champion.digest, standing.challenger) == (PACKAGED, None)
    assert digest not in slot._warm
    cold[second].set()
    slot.settle()
    assert slot.refresh().challenger.digest == second


def test_a_champion_rolled_back_to_one_that_is_not_warm_stops_at_once(store, digest, second, make_slot, cold):
    # The previous one is cold: somebody promoted twice before anybody looked.
    for one in (second, digest):
        take(store, lambda aliases, one=one: begin(aliases, one, 0))
        take(store, promote)
    other = ModelStore(store.folder, TrustedKeys.none(), allows_unsigned=True)
    cold[second].set()
    slot = make_slot(waits_for=cold)
    assert slot.standing.champion.digest == digest
    slot._warm.pop(second)
    cold[second].clear()
    take(other, roll_back)
    assert slot.refresh().champion.digest == PACKAGED
    cold[second].set()
    slot.settle()
    assert slot.refresh().champion.digest == second


def test_a_champion_that_is_cold_is_answered_for_by_the_previous_one_and_never_by_its_challenger(
    store, digest, second, make_slot, cold
):
    take(store, lambda one: begin(one, digest, 0))
    take(store, promote)
    slot = make_slot(waits_for=cold)
    take(store, lambda one: begin(one, second, 0))
    take(store, promote)
    standing = slot.refresh()
    assert (standing.champion.digest, standing.challenger) == (digest, None)


BAD_ALIASES = [
    b"null",
    b"[]",
    b"",
    b"\xff",
    b'{"phase": null, "champion": null}',
    b'{"phase": null, "champion": 7}',
    b'{"phase": null, "revision": "1"}',
    b'{"phase": null, "share_permille": true}',
    b'{"phase": "canary", "challenger": ["a"], "share_permille": 10}',
    b'{"phase": "canary", "challenger": "a", "share_permille": 1000}',
    b'{"phase": null, "history": 3}',
    b'{"phase": null, "colour": "red"}',
]


@pytest.mark.parametrize("data", [*BAD_ALIASES, None])
def test_aliases_that_are_no_aliases_are_said_once_and_the_model_at_hand_goes_on(store, digest, make_slot, data):
    take(store, lambda one: begin(one, digest, 0))
    take(store, promote)
    slot = make_slot()
    path = store.alias_path("policy")
    path.unlink()
    if data is None:
        path.mkdir()
    else:
        path.write_bytes(data)
    with pytest.raises(ModelWrong, match=r"^policy.json: "):
        store.aliases("policy")
    with structlog.testing.capture_logs() as logs:
        assert [slot.refresh().champion.digest for _ in range(3)] == [digest] * 3
    assert [one["event"] for one in logs] == ["aliases_not_read"]
    # After a restart nobody knows who was champion: the packaged model answers until the file is mended.
    again = make_slot()
    assert again.refresh().champion.digest == PACKAGED


def broken_disk(store):
    """Nothing can be written in the folder of the aliases, whoever asks."""
    (store.folder / "aliases" / ".policy.json.new").mkdir()


def mended_disk(store):
    (store.folder / "aliases" / ".policy.json.new").rmdir()


def test_a_store_that_cannot_be_written_keeps_no_challenger_in_and_is_told_once_it_can(store, digest, make_slot):
    take(store, lambda one: begin(one, digest, 500))
    slot = make_slot()
    desk = ReleaseDesk(slot, PARAMS)
    broken_disk(store)
    with structlog.testing.capture_logs() as logs:
        desk.take(slot.standing, pair(100.0, 100.0, hard_failure="not a number"))
        standings = [slot.refresh() for _ in range(4)]
    assert [one.challenger for one in standings] == [None] * 4
    assert [one["event"] for one in logs] == ["stop_held_in_memory"]
    assert (store.aliases("policy").challenger, len(store.history())) == (digest, 1)

    mended_disk(store)
    for _ in range(3):
        assert slot.refresh().challenger is None
    assert store.aliases("policy").challenger is None
    assert [(one["event"], one["why"]) for one in store.history()[1:]] == [("rolled_back", "not a number")]
    # The same model may be let in again, by a person.
    take(store, lambda one: begin(one, digest, 500))
    slot.refresh()
    slot.settle()
    assert slot.refresh().challenger.digest == digest


def test_a_cycle_waits_for_nobody_who_holds_the_lock_of_the_store(store, digest, make_slot):
    take(store, lambda one: begin(one, digest, 500))
    slot = make_slot()
    done = threading.Event()

    def stop_and_go_on():
        slot.stop(slot.standing.aliases, by="release", why="slow")
        for _ in range(3):
            slot.refresh()
        done.set()

    cycles = threading.Thread(target=stop_and_go_on)
    with folder_lock(store.folder, 0):
        cycles.start()
        # It need not be quick on a busy machine; one that waits for the lock never ends while it is held.
        assert done.wait(5)
        assert slot.standing.challenger is None
        assert store.aliases("policy").challenger == digest
    cycles.join()
    slot.refresh()
    assert store.aliases("policy").challenger is None


def test_a_lock_that_is_held_too_long_is_said_and_nothing_is_changed(store, digest):
    began_seconds = time.monotonic()
    told = {"event": "x", "by": "a test", "why": "", "at": NOW, "patience_seconds": 0.05}
    with folder_lock(store.folder, 0), pytest.raises(EnvironmentUnfit, match="being changed by somebody else"):
        store.switch("policy", lambda one: begin(one, digest, 1), **told)
    assert time.monotonic() - began_seconds >= 0.05
    assert (store.history(), store.aliases("policy").revision) == ([], 0)
