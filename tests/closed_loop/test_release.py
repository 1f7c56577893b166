"""
A small simulated city whose model fails, or is replaced while it runs: who answered, in which cycle, and who did not.

Challengers are real bundles in a real store, opened by the real engine. Only the engine that hangs is put round the
packaged one by the test: no file can make a net hang.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import pytest
from challengers import alike, challenger, forecast_challenger, half_of_it, not_a_number, slow, turned_round

from doseflow import bootstrap
from doseflow.bootstrap import OpenCity, open_city, open_policy
from doseflow.circuit_breaker import BreakerState
from doseflow.demo.playing import bring_receipts, hand_over_orders, import_past_weeks, join_reports
from doseflow.domain.cycle import Cycle
from doseflow.errors import ModelWrong, SettingsWrong
from doseflow.live.clocks import SimulatedClock
from doseflow.nets import open_model_store
from doseflow.planning import replay_cycle
from doseflow.serve.aliases import PACKAGED, Phase, begin, promote, roll_back
from doseflow.settings import ModelSettings, Settings, StoreSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.web.app import create_app

CITY = "synthetic:12"
LIMIT_MILLISECONDS = 100.0
LATEST_MILLISECONDS = 500.0
"""For a single cycle: a busy machine may hold one up for longer than the limit, and no switch may block one."""
BLOCKED_SECONDS = 2.0
# The tests share their machine: what a deadline is for is tested by one that hangs, not by one that is a little late.
PATIENT = {"deadline_milliseconds": 5000}


class DayClock(SimulatedClock):
    """Breakers cool down by the day that is played, and no duration is real: not for tests that measure one."""

    def monotonic_seconds(self) -> float:
        return self.now().timestamp()


@dataclass
class Day:
    """A day of a small city, as it is played."""

    opened: OpenCity
    city: SimulatedCity
    clock: SimulatedClock
    cycles: list[Cycle] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    """What each cycle took by the machine's clock, with what looks back at it."""
    body: bytes = b""

    @property
    def desk(self):
        return self.opened.live.releases["policy"]

    @property
    def aliases(self):
        return self.desk.slot.store.aliases("policy")

    def play(self, num_cycles: int = 1) -> Cycle:
        for _ in range(num_cycles):
            if self.city.now_local.hour >= 16:
                self.city.advance_to_morning()
            self.city.advance(5)
            self.clock.set(self.city.now)
            bring_receipts(self.opened, self.city)
            self.body = join_reports(self.city.reports())
            self.opened.live.submit(self.body)
            began_seconds = time.perf_counter()
            self.cycles.append(self.opened.live.run_cycle())
            self.milliseconds.append((time.perf_counter() - began_seconds) * 1000)
            hand_over_orders(self.opened, self.city)
            self.opened.nets.beside.settle()
        return self.cycles[-1]

    def let_in(self, folder: Path, share_permille: int) -> str:
        """What `doseflow models add` and `canary` do, in whatever process."""
        store = open_model_store(self.opened.settings)
        digest = store.add(folder).digest
        self.switch(lambda one: begin(one, digest, share_permille))
        return digest

    def switch(self, step):
        store = open_model_store(self.opened.settings)
        return store.switch("policy", step, event="by hand", by="a test", why="to see", at=self.clock.now())

    def settle(self):
        """Let what is being opened become warm."""
        self.desk.slot.refresh()
        self.desk.slot.settle()

    def made_by_challenger(self):
        return [number for number, cycle in enumerate(self.cycles) if "challenger at" in cycle.plan.made_by]


@pytest.fixture
def open_day(tmp_path):
    with contextlib.ExitStack() as stack:

        def opened_day(clock_of=SimulatedClock, **sections):
            given = {
                "planner": "learned",
                "store": StoreSettings(url=f"sqlite:///{tmp_path / 'city.sqlite'}"),
                "models": {"folder": str(tmp_path / "models"), "allow_unsigned": True},
                "breaker": PATIENT,
                "engines": {"deadline_milliseconds": 60_000},
            }
            settings = Settings(**(given | sections))
            city = SimulatedCity.from_name(CITY, seed=3)
            city.advance(90)
            clock = clock_of(city.now)
            opened = stack.enter_context(contextlib.closing(open_city(settings, clock=clock, city=city.city)))
            import_past_weeks(opened, city)
            return Day(opened, city, clock)

        yield opened_day


class Hanging:
    """An engine that answers, or does not until it is let go."""

    name = "hanging"

    def __init__(self, engine):
        self.engine, self.goes_on = engine, threading.Event()
        self.goes_on.set()

    def run(self, inputs):
        self.goes_on.wait()
        return self.engine.run(inputs)


def test_an_engine_that_hangs_ten_times_is_answered_for_in_the_same_cycle_and_comes_back(open_day, monkeypatch):
    opened_model = open_policy(Settings())
    engine = Hanging(opened_model.engine)
    monkeypatch.setattr(bootstrap, "open_policy", lambda _settings: replace(opened_model, engine=engine))
    day = open_day(DayClock, breaker={"deadline_milliseconds": 1500, "cool_down_seconds": 590, "probes_to_close": 2})
    breaker = day.desk.slot.standing.champion.engine.breaker
    assert day.play().plan.planner == "learned"

    engine.goes_on.clear()
    for number in range(10):
        assert breaker.view().state is BreakerState.CLOSED, number
        cycle = day.play()
        assert cycle.plan.planner == "rules"
        assert "EngineTimedOut" in cycle.plan.made_by
    assert breaker.view().state is BreakerState.OPEN

    assert "not asked for" in day.play().plan.made_by
    # The cool-down ends while it hangs: the probe hangs beside the flow, and the breaker opens again.
    cycle = day.play()
    assert (cycle.plan.planner, "tried beside the flow" in cycle.plan.why_this_planner) == ("rules", True)
    day.play()
    assert breaker.view().state is BreakerState.OPEN

    engine.goes_on.set()
    while breaker.view().state is not BreakerState.CLOSED:
        before = breaker.view().good_probes
        cycle = day.play()
        assert cycle.plan.planner == "rules"
        assert len(day.cycles) < 30
        give_up = time.monotonic() + 2
        while breaker.view().state is BreakerState.HALF_OPEN and breaker.view().good_probes == before:
            assert time.monotonic() < give_up
            time.sleep(0.005)
    assert day.play(3).plan.made_by == "learned, which the settings choose, with policy packaged, champion"
    assert all(cycle.plan.made_by for cycle in day.cycles)


# Whether somebody is slower is a question for the one test that asks it: the tests share their machine.
AT_TEN_PERCENT = {
    "block_minutes": 5,
    "latency_limit_milliseconds": 5000,
    "min_canary_cycles": 60,
    "slower_factor": 100,
}


@pytest.mark.parametrize(
    ("changed", "said", "num_cycles", "gates"),
    [
        (slow, "was slower than the champion", 40, {"slower_factor": 2}),
        (turned_round, "worse than the champion by", 100, {}),
        (not_a_number, "answered what cannot be right", 1, {}),
    ],
)
def test_a_bad_challenger_is_caught_at_ten_percent_and_serves_nobody_afterwards(
    open_day, tmp_path, changed, said, num_cycles, gates
):
    day = open_day(release=AT_TEN_PERCENT | gates)
    day.play(2)
    digest = day.let_in(challenger(tmp_path / "bad", changed), 100)
    day.settle()
    assert day.desk.slot.refresh().challenger.digest == digest
    first = len(day.cycles)
    while day.aliases.challenger is not None and len(day.cycles) < first + num_cycles:
        day.play()
    caught = len(day.cycles)
    aliases = day.aliases
    assert (aliases.challenger, aliases.champion) == (None, PACKAGED)
    last = day.desk.slot.store.history("policy")[-1]
    assert (last["event"], last["by"]) == ("rolled_back", "release")
    assert said in last["why"]

    day.play(30)
    assert [number for number in day.made_by_challenger() if number >= caught] == []
    assert len(day.made_by_challenger()) <= 0.3 * (caught - first) + 1
    assert all(cycle.plan.planner == "learned" for cycle in day.cycles[caught:])


QUICK = AT_TEN_PERCENT | {
    "min_shadow_cycles": 5,
    "min_canary_cycles": 10,
    "min_served_cycles": 1,
    "worse_margin_share": 0.1,
    "error_rate": 0.05,
    "canary_permille": 300,
}


def test_one_that_is_alike_goes_from_shadow_over_a_share_to_champion_without_a_stop(open_day, tmp_path):
    day = open_day(release=QUICK)
    digest = day.let_in(challenger(tmp_path / "alike", alike), 0)
    day.settle()
    phases = []
    while day.aliases.champion != digest:
        day.play()
        if day.aliases.phase is not None and day.aliases.phase not in phases:
            phases.append(day.aliases.phase)
        assert len(day.cycles) < 120
    assert phases == [Phase.SHADOW, Phase.CANARY]
    events = day.desk.slot.store.history("policy")
    assert [event["event"] for event in events] == ["by hand", "canary", "promoted"]
    # In shadow nobody had its answers; of the share, some and not all; then everybody.
    in_shadow = events[1]["evidence"]["cycles"]
    served = day.made_by_challenger()
    assert all(number >= in_shadow for number in served)
    assert 1 <= len(served) < len(day.cycles) - in_shadow
    assert events[2]["evidence"]["challenger_served_cycles"] == len(served)
    assert f"policy {digest[:12]}, champion" in day.play().plan.made_by
    assert all(cycle.plan.planner == "learned" for cycle in day.cycles)


def test_where_a_person_must_promote_it_stays_at_its_share_until_one_does(open_day, tmp_path):
    day = open_day(release=QUICK | {"promotes_by_itself": False})
    day.let_in(challenger(tmp_path / "alike", alike), 300)
    day.settle()
    while day.aliases.phase is Phase.CANARY:
        day.play()
        assert len(day.cycles) < 120
    day.play(5)
    assert (day.aliases.phase, day.aliases.champion) == (Phase.READY, PACKAGED)


@contextlib.contextmanager
def readers_of(day):
    """Two who read the orders all the time and send again what was sent; gives what was refused of it."""
    stop, refused = threading.Event(), []

    def keep_reading():
        while not stop.is_set():
            day.opened.live.open_orders()
            # Sites that send again what they have sent: all of it is read, checked, and kept in quarantine.
            refused.append(len(day.opened.live.submit(day.body).refused))
            time.sleep(0.01)

    readers = [threading.Thread(target=keep_reading) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        yield refused
    finally:
        stop.set()
        for reader in readers:
            reader.join()


def order(day, step, **body):
    """What the dashboard posts."""

    async def post():
        transport = httpx.ASGITransport(create_app(day.opened.live))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.post(f"/api/v1/models/{step}", json={"net": "policy", "by": "a test", **body})

    answer = asyncio.run(post())
    assert answer.status_code == 200, answer.text


def released_and_taken_back(day, digest, num_rounds):
    """Let in, promote and roll back over HTTP, again and again; gives the milliseconds of the cycles meanwhile."""
    first = len(day.cycles)
    for _ in range(num_rounds):
        order(day, "canary", model=digest, share_percent=10)
        day.play(3)
        day.settle()
        day.play(2)
        order(day, "promote", force=True)
        assert f"policy {digest[:12]}, champion" in day.play().plan.made_by
        order(day, "rollback")
        assert "policy packaged, champion" in day.play().plan.made_by
    return day.milliseconds[first:]


def why_late(without_release, during):
    """What is wrong with the times of cycles beside those without a release; empty where nothing is."""
    usual = statistics.median(without_release)
    # The medians bear a busy machine; the bound on the latest one grows with it, and never to the time of a block.
    latest = min(max(LATEST_MILLISECONDS, 10 * usual), 900 * BLOCKED_SECONDS)
    if statistics.median(during) > max(LIMIT_MILLISECONDS, 2 * usual):
        return f"half of the cycles took more than {statistics.median(during):.0f} ms, without a release {usual:.0f} ms"
    if max(during) > latest:
        return f"a cycle took {max(during):.0f} ms"
    return ""


def test_promoting_and_rolling_back_under_load_fails_no_cycle_and_makes_none_late(open_day, tmp_path):
    day = open_day(release=AT_TEN_PERCENT)
    digest = open_model_store(day.opened.settings).add(challenger(tmp_path / "alike", alike)).digest
    day.play(2)
    with readers_of(day) as refused:
        first = len(day.cycles)
        day.play(28)
        during = released_and_taken_back(day, digest, num_rounds=4)
    assert len(during) == 28
    assert why_late(day.milliseconds[first : first + 28], during) == ""
    cycles = day.cycles[-28:]
    assert all(cycle.plan.planner == "learned" and not cycle.plan.why_this_planner for cycle in cycles)
    assert len({cycle.cycle_id for cycle in cycles}) == 28
    # What a cycle says of itself is real time too, and less than what it took with what looks back at it.
    for cycle, milliseconds in zip(cycles, during, strict=True):
        assert 0 < sum(cycle.stage_milliseconds.values()) < milliseconds
    assert len(refused) > 10


def test_a_switch_that_blocked_a_cycle_would_be_seen_as_late(open_day, tmp_path, monkeypatch):
    day = open_day(release=AT_TEN_PERCENT)
    digest = open_model_store(day.opened.settings).add(challenger(tmp_path / "alike", alike)).digest
    day.play(8)
    slot = day.desk.slot
    read_again, blocked = slot._read_again, []

    def blocks_once(stamp):
        if not blocked:
            blocked.append(stamp)
            time.sleep(BLOCKED_SECONDS)
        read_again(stamp)

    monkeypatch.setattr(slot, "_read_again", blocks_once)
    during = released_and_taken_back(day, digest, num_rounds=1)
    assert why_late(day.milliseconds[:8], during).startswith("a cycle took 2")


def test_a_cycle_does_not_wait_for_a_model_that_is_being_opened(open_day, tmp_path, monkeypatch):
    day = open_day()
    day.play()
    slot, may_open = day.desk.slot, threading.Event()
    open_warm = slot._open_warm
    monkeypatch.setattr(slot, "_open_warm", lambda digest: (may_open.wait(), open_warm(digest))[1])
    digest = day.let_in(challenger(tmp_path / "alike", alike), 999)
    for _ in range(3):
        assert "policy packaged, champion" in day.play().plan.made_by
    may_open.set()
    slot.settle()
    assert f"policy {digest[:12]}, challenger at 99.9 %" in day.play().plan.made_by


def test_a_challenger_that_is_damaged_in_the_store_never_answers_and_the_champion_goes_on(open_day, tmp_path):
    day = open_day()
    day.play()
    store = open_model_store(day.opened.settings)
    digest = store.add(challenger(tmp_path / "alike", alike)).digest
    path = store.folder / "objects" / digest / "model.onnx"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(ModelWrong, match=r"model.onnx: its SHA-256 must be"):
        day.desk.slot.require_opens(digest)
    # Somebody lets it in all the same: the load fails, and it is dropped.
    day.switch(lambda one: begin(one, digest, 999))
    day.settle()
    assert day.aliases.challenger is None
    assert "cannot be opened" in store.history()[-1]["why"]
    assert "policy packaged, champion" in day.play(2).plan.made_by


def test_a_champion_that_is_damaged_before_a_restart_is_answered_for_by_the_previous_one(open_day, tmp_path):
    day = open_day()
    store = open_model_store(day.opened.settings)
    digest = store.add(challenger(tmp_path / "alike", alike)).digest
    day.switch(lambda one: begin(one, digest, 100))
    day.switch(promote)
    (store.folder / "objects" / digest / "golden.npz").write_bytes(b"x")
    again = open_day()
    assert "policy packaged, champion" in again.play().plan.made_by
    assert store.history()[-1]["event"] == "load_failed"


def test_a_forecaster_answers_for_its_districts_and_a_worse_one_is_rolled_back(open_day, tmp_path):
    day = open_day(planner="rules", forecaster="learned", release=AT_TEN_PERCENT)
    desk = day.opened.live.releases["forecaster"]
    store = open_model_store(day.opened.settings)
    digest = store.add(forecast_challenger(tmp_path / "half", half_of_it)).digest
    day.play(2)
    told = {"event": "by hand", "by": "a test", "why": "to see", "at": day.clock.now()}
    store.switch("forecaster", lambda one: begin(one, digest, 500), **told)
    desk.slot.refresh()
    desk.slot.settle()

    cycle = day.play()
    standing = desk.slot.standing
    sites = cycle.state.city.sites
    # This city has fewer than ten districts, so that sites are drawn.
    chosen = [standing.is_challengers(f"{cycle.state.city.city_id}|{site.site_id}") for site in sites]
    assert 0 < sum(chosen) < len(sites)
    assert f"forecaster {digest[:12]}, challenger at 50 %, for {sum(chosen)} sites" in cycle.forecast.made_by
    champion = standing.champion.answers(cycle.state)
    for idx, is_challengers in enumerate(chosen):
        ratio = cycle.forecast.arrivals_people[idx].sum() / champion.arrivals_people[idx].sum()
        assert ratio == pytest.approx(0.5 if is_challengers else 1.0, rel=1e-3)

    while store.aliases("forecaster").challenger is not None:
        day.play()
        assert len(day.cycles) < 120
    last = store.history("forecaster")[-1]
    assert "worse than the champion by" in last["why"]
    assert day.play().forecast.made_by == "forecaster packaged, champion"


def test_a_cycle_of_a_challenger_replays_with_the_challenger_long_after_it_is_gone(open_day, tmp_path):
    day = open_day(release=AT_TEN_PERCENT)
    digest = day.let_in(challenger(tmp_path / "bad", turned_round), 500)
    day.settle()
    while not (day.made_by_challenger() and day.cycles[-1].plan.decisions):
        day.play()
        assert len(day.cycles) < 30
    day.switch(roll_back)
    day.play()
    settings = day.opened.settings
    for cycle in (day.cycles[-2], day.cycles[-1]):
        replayed = replay_cycle(cycle.cycle_id, settings.store.url, settings)
        assert replayed.is_same
        assert (digest[:12] in replayed.plan.made_by) == (digest[:12] in cycle.plan.made_by)
        assert replayed.plan.made_by == cycle.plan.made_by
    # The packaged model alone would have planned it otherwise, somewhere in these cycles.
    served = [day.cycles[number] for number in day.made_by_challenger()]
    assert all(replay_cycle(one.cycle_id, settings.store.url, settings).is_same for one in served)
    without_store = settings.model_copy(update={"models": ModelSettings()})
    with pytest.raises(SettingsWrong, match=f"the model {digest[:12]} is needed"):
        replay_cycle(served[0].cycle_id, settings.store.url, without_store)
