from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from store_samples import START, WHY, make_city, make_cycle

from doseflow.dispatch.gateway_line import GatewayLine
from doseflow.dispatch.relay import RelayParams, RelayResult, relay_once
from doseflow.domain.decisions import StationChange
from doseflow.domain.orders import Order, OrderState
from doseflow.domain.roles import Stage
from doseflow.gateways.site_inbox import SiteInbox
from doseflow.gateways.webhook import Webhook
from doseflow.ports import Gateway, OutboxEntry
from doseflow.store.engine import Store, open_store

sys.path.append(str(Path(__file__).parents[1] / "gateways"))

from webhook_receiver import Receiver, receiving

CITY = make_city(num_sites=6)
SECRET = base64.b64encode(b"twenty-four bytes or more").decode()
PARAMS = RelayParams(first_retry_seconds=10.0, max_retry_seconds=30.0, max_attempts=2, jitter_share=0.0)


class HandMovedClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.moment = START

    def now(self) -> datetime:
        return self.moment

    def monotonic_seconds(self) -> float:
        return self.moment.timestamp()


@pytest.fixture
def clock() -> HandMovedClock:
    return HandMovedClock()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'store.sqlite'}")
    yield opened
    opened.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as started:
        yield started


def decide(store: Store, cycle_id: str, *cells: tuple[int, Stage]) -> list[Order]:
    """Save a cycle that opens a station at each (site, stage), beside what stands; its orders."""
    decisions = tuple(StationChange(f"site-{site:04d}", stage, 1, 2, WHY) for site, stage in cells)
    store.plans.save_cycle(make_cycle(CITY, cycle_id, decisions), [])
    return [order for order in reversed(store.plans.orders()) if order.cycle_id == cycle_id]


def line_of(gateway: Gateway, clock: HandMovedClock, params: RelayParams = PARAMS) -> GatewayLine:
    return GatewayLine(
        gateway, clock, failures_to_open=params.failures_to_open, cool_down_seconds=params.cool_down_seconds
    )


def relay(
    store: Store, clock: HandMovedClock, *gateways: Gateway | GatewayLine, params: RelayParams = PARAMS
) -> RelayResult:
    lines = [one if isinstance(one, GatewayLine) else line_of(one, clock, params) for one in gateways]
    store.outbox.set_up_gateways([line.name for line in lines], clock.now())
    return asyncio.run(relay_once(store.outbox, lines, clock, params))


def states(store: Store, orders: Sequence[Order]) -> list[str]:
    return [store.plans.order(order.order_id).state.value for order in orders]


def test_what_is_due_is_told_and_becomes_sent(store: Store, clock: HandMovedClock, receiver: Receiver) -> None:
    orders = decide(store, "c1", (0, Stage.SCREENING), (1, Stage.SCREENING))

    told = relay(store, clock, SiteInbox(), Webhook(receiver.url, SECRET, 5.0))

    assert told == RelayResult(delivered=4)
    assert sorted(receiver.told()) == sorted(("order.made", order.order_id) for order in orders)
    assert states(store, orders) == ["sent", "sent"]
    assert relay(store, clock, SiteInbox(), Webhook(receiver.url, SECRET, 5.0)) == RelayResult()
    assert len(receiver.told()) == 2


def test_a_site_is_told_in_order_even_when_the_first_attempts_fail(
    store: Store, clock: HandMovedClock, receiver: Receiver
) -> None:
    orders = [*decide(store, "c1", *((0, stage) for stage in Stage)), *decide(store, "c2", (0, Stage.SCREENING))]
    ids = [order.order_id for order in orders]
    receiver.answers = [500, 503]
    webhook = Webhook(receiver.url, SECRET, 5.0)

    assert relay(store, clock, webhook) == RelayResult(failed=1)
    clock.moment += timedelta(seconds=9)
    assert relay(store, clock, webhook) == RelayResult()
    clock.moment += timedelta(seconds=1)
    assert relay(store, clock, webhook) == RelayResult(failed=1)
    clock.moment += timedelta(seconds=20)
    assert relay(store, clock, webhook) == RelayResult(delivered=5)

    assert [order_id for _, order_id in receiver.told()] == [ids[0], ids[0], *ids]


def test_an_entry_that_fails_while_others_get_through_is_a_dead_letter_and_the_next_goes_on(
    store: Store, clock: HandMovedClock, receiver: Receiver
) -> None:
    bad, later = decide(store, "c1", (0, Stage.SCREENING), (0, Stage.VACCINATION))
    receiver.failing_sites = {bad.site_id: 500}
    line = line_of(Webhook(receiver.url, SECRET, 5.0), clock)

    results = []
    for round_no in range(PARAMS.max_attempts + 1):
        results.append(relay(store, clock, line))
        decide(store, f"other{round_no}", (0, Stage.SCREENING), (0, Stage.VACCINATION), (1 + round_no, Stage.SCREENING))
        relay(store, clock, line)
        clock.moment += timedelta(seconds=30)

    assert [result.dead for result in results] == [0, 0, 1]
    (letter,) = store.outbox.dead_letters()
    assert (letter.order.order_id, letter.reason) == (bad.order_id, "127.0.0.1 answered 500")
    assert states(store, (bad, later)) == ["proposed", "proposed"]

    receiver.failing_sites = {}
    clock.moment += timedelta(seconds=30)
    store.outbox.resend(letter.entry_id, clock.now(), by="anna", reason="mended")
    relay(store, clock, line)
    assert states(store, (bad, later)) == ["sent", "sent"]
    deed = store.audit.entries()[-1].entry
    assert (deed.action, deed.by, deed.subject, deed.reason) == ("letter.resend", "anna", bad.order_id, "mended")


def test_a_day_of_outage_makes_no_dead_letter_and_drains_afterwards(
    store: Store, clock: HandMovedClock, receiver: Receiver
) -> None:
    orders = decide(store, "c1", *((site, Stage.SCREENING) for site in range(6)))
    receiver.failing_sites = {f"site-{site:04d}": 503 for site in range(6)}
    line = line_of(Webhook(receiver.url, SECRET, 5.0), clock)
    for _ in range(300):
        assert relay(store, clock, line).dead == 0
        clock.moment += timedelta(minutes=5)
    receiver.failing_sites = {}
    num_tried = len(receiver.told())
    for _ in range(3):
        relay(store, clock, line)
        clock.moment += timedelta(minutes=1)

    assert store.outbox.dead_letters() == []
    assert num_tried < 320
    assert {order_id for _, order_id in receiver.told()[num_tried:]} == {order.order_id for order in orders}


def test_an_outage_of_one_gateway_holds_back_and_tells_again_nothing_at_the_other(
    store: Store, clock: HandMovedClock, receiver: Receiver
) -> None:
    with receiving() as down:
        down.failing_sites = {f"site-{site:04d}": 503 for site in range(6)}
        up_line = line_of(Webhook(receiver.url, SECRET, 5.0, name="webhook:up"), clock)
        down_line = line_of(Webhook(down.url, SECRET, 5.0, name="webhook:down"), clock)
        store.outbox.set_up_gateways(["webhook:up", "webhook:down"], START)
        first = decide(store, "c1", (0, Stage.SCREENING))
        for _ in range(5):
            relay(store, clock, up_line, down_line)
            clock.moment += timedelta(minutes=1)
        assert receiver.told() == [("order.made", first[0].order_id)]
        assert states(store, first) == ["sent"]
        down.failing_sites = {}
        clock.moment += timedelta(minutes=5)
        relay(store, clock, up_line, down_line)

        assert down.told()[-1] == ("order.made", first[0].order_id)
        assert len(receiver.told()) == 1


def test_a_refusal_for_good_is_a_dead_letter_at_once_and_what_is_behind_it_goes_on(
    store: Store, clock: HandMovedClock, receiver: Receiver
) -> None:
    refused, later = decide(store, "c1", (0, Stage.SCREENING), (0, Stage.VACCINATION))
    receiver.answers = [422]
    line = line_of(Webhook(receiver.url, SECRET, 5.0), clock)

    assert relay(store, clock, line) == RelayResult(dead=1)
    assert relay(store, clock, line) == RelayResult(delivered=1)
    assert [letter.order.order_id for letter in store.outbox.dead_letters()] == [refused.order_id]
    assert states(store, (later,)) == ["sent"]


def test_one_site_that_fails_keeps_no_other_from_its_orders(
    store: Store, clock: HandMovedClock, receiver: Receiver
) -> None:
    orders = decide(store, "c1", *((site, Stage.SCREENING) for site in range(6)))
    receiver.failing_sites = {"site-0002": 500}

    assert relay(store, clock, Webhook(receiver.url, SECRET, 5.0)) == RelayResult(delivered=5, failed=1)
    assert states(store, orders) == ["sent", "sent", "proposed", "sent", "sent", "sent"]


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (3, 3)])
def test_sites_are_told_at_once_up_to_the_limit(
    store: Store, clock: HandMovedClock, receiver: Receiver, concurrency: int, most: int
) -> None:
    decide(store, "c1", *((site, Stage.SCREENING) for site in range(6)))
    receiver.delay_seconds = 0.15
    params = RelayParams(concurrency=concurrency)

    assert relay(store, clock, Webhook(receiver.url, SECRET, 5.0), params=params).delivered == 6
    assert receiver.most_at_once == most


def test_deliveries_are_noted_while_a_slow_site_is_still_being_tried(store: Store, clock: HandMovedClock) -> None:
    slow, quick = decide(store, "c1", (0, Stage.SCREENING), (1, Stage.SCREENING))

    class SlowForOne:
        name = "slow for one"
        group_size = 1

        def reaches(self, site_id: str) -> bool:
            return True

        async def deliver(self, entries: Sequence[OutboxEntry]) -> None:
            while entries[0].order.site_id == slow.site_id and states(store, (quick,)) == ["proposed"]:
                await asyncio.sleep(0.02)

    assert relay(store, clock, SlowForOne()) == RelayResult(delivered=2)


def test_a_defect_of_one_gateway_keeps_no_other_from_telling(
    store: Store, clock: HandMovedClock, receiver: Receiver
) -> None:
    class Broken:
        name = "broken"
        group_size = 1

        def reaches(self, site_id: str) -> bool:
            return True

        async def deliver(self, entries: Sequence[OutboxEntry]) -> None:
            raise ValueError("a defect")

    webhook = Webhook(receiver.url, SECRET, 5.0)
    store.outbox.set_up_gateways(["webhook", "broken"], START)
    orders = decide(store, "c1", (0, Stage.SCREENING))
    assert relay(store, clock, webhook, Broken()) == RelayResult(delivered=1, failed=1)
    assert states(store, orders) == ["sent"]
    assert [(line.gateway, line.num_waiting) for line in store.outbox.lines()] == [("broken", 1), ("webhook", 0)]


def test_a_round_that_is_cut_off_tells_again_what_it_did_not_note(
    store: Store, clock: HandMovedClock, receiver: Receiver
) -> None:
    orders = decide(store, "c1", (0, Stage.SCREENING))
    receiver.delay_seconds = 0.5
    webhook = Webhook(receiver.url, SECRET, 5.0)
    store.outbox.set_up_gateways(["webhook"], START)

    async def cut_off() -> None:
        await asyncio.wait_for(relay_once(store.outbox, [line_of(webhook, clock)], clock, PARAMS), timeout=0.3)

    with pytest.raises(TimeoutError):
        asyncio.run(cut_off())
    receiver.delay_seconds = 0.0

    assert relay(store, clock, webhook) == RelayResult(delivered=1)
    assert {order_id for _, order_id in receiver.told()} == {orders[0].order_id}


def test_a_withdrawn_order_is_told_as_withdrawn(store: Store, clock: HandMovedClock, receiver: Receiver) -> None:
    (order,) = decide(store, "c1", (0, Stage.SCREENING))
    webhook = Webhook(receiver.url, SECRET, 5.0)
    relay(store, clock, webhook)
    standing = tuple(store.plans.orders(states=[OrderState.SENT]))
    store.plans.save_cycle(make_cycle(CITY, "c2", open_orders=standing), [])
    relay(store, clock, webhook)

    assert receiver.told() == [("order.made", order.order_id), ("order.withdrawn", order.order_id)]
    assert receiver.bodies[-1]["data"]["state"] == "withdrawn"


def test_retries_come_after_twice_the_time_up_to_a_limit_give_or_take_a_share() -> None:
    params = RelayParams(first_retry_seconds=10.0, max_retry_seconds=60.0, jitter_share=0.5)
    for draw, share in ((0.0, 0.5), (0.5, 1.0), (1.0, 1.5)):
        waits = [params.retry_at(failed, START, lambda draw=draw: draw) - START for failed in (1, 2, 3, 4, 5, 5000)]
        assert [wait.total_seconds() for wait in waits] == [share * wait for wait in (10, 20, 40, 60, 60, 60)]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"first_retry_seconds": 0.0}, "first_retry_seconds: must lie in 0.1..3600, got 0.0"),
        ({"max_retry_seconds": 1.0}, "max_retry_seconds: must lie in first_retry_seconds..86400, got 1.0"),
        ({"max_attempts": 0}, "max_attempts: must lie in 1..100, got 0"),
        ({"concurrency": 0}, "concurrency: must lie in 1..256, got 0"),
        ({"max_entries": 10_001}, "max_entries: must lie in 1..10000, got 10001"),
    ],
)
def test_parameters_out_of_range_are_refused(changes: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        RelayParams(**changes)
