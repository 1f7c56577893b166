from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from postgres_server import NoPostgres, postgres_server
from sqlalchemy import create_engine, text
from store_samples import START, WHY, make_city, make_cycle

from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.domain.approvals import Approval
from doseflow.domain.commanding import OrderAction, OrderWish, Press
from doseflow.domain.decisions import SendWalkIns
from doseflow.domain.orders import Order, OrderReceipt, OrderState, ReceiptStatus
from doseflow.domain.playbooks import Playbook, PlaybookKind
from doseflow.errors import CommandRefused, HandoverNotFound, OrderNotFound, PlaybookNotFound
from doseflow.store.audit_lines import check_lines
from doseflow.store.command_desk import SqlCommandDesk
from doseflow.store.engine import Store

CITY = make_city()
NOTHING = timedelta(0)
SOON = START + timedelta(minutes=1)


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    try:
        with postgres_server() as url:
            yield url
    except NoPostgres as reason:
        pytest.skip(f"THE COMMAND DESK IS NOT TESTED ON POSTGRESQL HERE: {reason}")


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'store.sqlite'}"
    url: str = request.getfixturevalue("postgres_url")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return url


def sending(people: int = 2) -> SendWalkIns:
    return SendWalkIns("site-0001", "site-0000", people, 9.0, WHY)


def save(store: Store, *decisions: SendWalkIns, name: str = "c1", approval: Approval = Approval.ALWAYS_ASK) -> Order:
    standing = tuple(store.plans.orders(states=OPEN_STATES))
    cycle = make_cycle(CITY, name, decisions, as_of=START, open_orders=standing)
    asked = tuple(replace(order, approval=approval) for order in cycle.new_orders)
    store.plans.save_cycle(replace(cycle, new_orders=asked), [])
    return store.plans.orders()[0]


def press(reason: str = "they are needed here", key: str = "", by: str = "ann") -> Press:
    return Press(by, SOON, reason, key)


def act(store: Store, order: Order, action: OrderAction, wait: timedelta = NOTHING) -> OrderState | None:
    return store.desk.decide_all([OrderWish(order.order_id, action)], press(), wait)[0].state


def deliver(store: Store) -> list[str]:
    due = store.outbox.due(SOON)
    store.outbox.mark_delivered([entry.entry_id for entry in due], SOON)
    return [entry.topic for entry in due]


def test_an_answer_is_not_undone_where_a_newer_order_asks_for_the_same(store: Store) -> None:
    order = save(store, sending())
    act(store, order, OrderAction.WITHDRAW)
    save(store, sending(), name="c2")
    with pytest.raises(CommandRefused, match="successor"):
        act(store, order, OrderAction.UNDO)


def test_a_withdrawal_is_told_only_where_the_order_may_have_been(store: Store) -> None:
    secret = save(store, sending())
    act(store, secret, OrderAction.WITHDRAW)
    assert deliver(store) == []
    told = save(store, sending(), name="c2", approval=Approval.AUTOMATIC)
    assert deliver(store) == ["order"]
    act(store, told, OrderAction.WITHDRAW)
    assert deliver(store) == ["withdrawal"]
    with pytest.raises(CommandRefused):
        act(store, told, OrderAction.UNDO)


def test_an_approved_order_has_as_long_to_be_carried_out_as_one_told_at_once(store: Store) -> None:
    order = save(store, sending())
    act(store, order, OrderAction.APPROVE, timedelta(seconds=10))
    after = store.plans.order(order.order_id)
    assert after.due_at - (SOON + timedelta(seconds=10)) == order.due_at - order.created_at


def test_a_rejection_binds_like_a_refusal_and_an_undone_one_does_not(store: Store) -> None:
    order = save(store, sending())
    act(store, order, OrderAction.REJECT)
    assert store.plans.commitments(SOON).refused == (sending(),)
    assert store.plans.commitments(SOON + timedelta(minutes=61)).refused == ()
    act(store, order, OrderAction.UNDO)
    assert store.plans.commitments(SOON).refused == ()


def test_all_or_none_leaves_everything_as_it_was_when_one_is_refused(store: Store) -> None:
    order = save(store, sending())
    wishes = [OrderWish(order.order_id, OrderAction.APPROVE), OrderWish("nothing", OrderAction.APPROVE)]
    with pytest.raises(OrderNotFound):
        store.desk.decide_all(wishes, press(), NOTHING)
    assert store.plans.order(order.order_id).is_waiting
    assert store.audit.entries() == []
    each = store.desk.decide(wishes, press(), NOTHING)
    assert [answer.state for answer in each] == [OrderState.APPROVED, None]
    assert len(store.audit.entries()) == 1


def test_a_deed_that_fails_half_way_is_neither_done_nor_written_down(store: Store) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the outbox is full")

    order = save(store, sending())
    desk = SqlCommandDesk(store.plans._transactions, broken)
    with pytest.raises(RuntimeError):
        desk.decide_all([OrderWish(order.order_id, OrderAction.APPROVE)], press(key="k"), NOTHING)
    assert store.plans.order(order.order_id).is_waiting
    assert store.audit.entries() == []
    assert act(store, order, OrderAction.APPROVE) is OrderState.APPROVED


def test_another_officer_may_use_the_same_client_key(store: Store) -> None:
    order = save(store, sending())
    store.desk.pin_order(order.order_id, press(key="k", by="ann"))
    store.desk.unpin_order(order.order_id, press(key="k", by="bob"))
    assert [(one.entry.by, one.entry.action) for one in store.audit.entries()] == [
        ("ann", "order.pin"),
        ("bob", "order.unpin"),
    ]


def override(store: Store, order: Order, people: int) -> Order:
    return store.desk.override(order.order_id, sending(people), press())


def test_an_override_replaces_the_order_and_binds_the_quantity_while_an_order_for_it_is_open(store: Store) -> None:
    order = save(store, sending(5), approval=Approval.AUTOMATIC)
    deliver(store)
    new = override(store, order, 3)
    assert store.plans.order(order.order_id).state is OrderState.WITHDRAWN
    assert deliver(store) == ["withdrawal", "order"]
    binding = store.plans.commitments(SOON)
    assert binding.pinned == binding.overridden == (sending(3),)
    store.plans.record_receipt(new.order_id, OrderReceipt(ReceiptStatus.DONE, SOON))
    assert store.plans.commitments(SOON).overridden == ()


def test_an_override_that_is_over_does_not_bind_a_later_order_for_the_same(store: Store) -> None:
    new = override(store, save(store, sending(5), approval=Approval.AUTOMATIC), 3)
    store.plans.record_receipt(new.order_id, OrderReceipt(ReceiptStatus.DONE, SOON))
    save(store, sending(5), name="c2")
    assert store.plans.commitments(SOON).pinned == ()


def test_an_override_says_before_and_after_and_why_in_the_log(store: Store) -> None:
    order = save(store, sending(5))
    new = override(store, order, 3)
    (entry,) = [one.entry for one in store.audit.entries()]
    assert (entry.by, entry.action, entry.reason) == ("ann", "order.override", "they are needed here")
    assert entry.details["before"] == {"order_id": order.order_id, "state": "proposed", "quantity": 5.0}
    assert entry.details["after"] == {"order_id": new.order_id, "state": "proposed", "quantity": 3.0}


def test_a_promised_order_is_not_overridden(store: Store) -> None:
    order = save(store, sending(5), approval=Approval.AUTOMATIC)
    store.plans.record_receipt(order.order_id, OrderReceipt(ReceiptStatus.ACKNOWLEDGED, SOON))
    with pytest.raises(CommandRefused, match="promised"):
        override(store, order, 3)


@pytest.mark.parametrize(("on", "off", "held"), [("freeze", "unfreeze", "frozen"), ("suspend", "resume", "suspended")])
def test_a_command_of_a_site_holds_until_it_is_lifted_and_both_are_written_down(
    store: Store, on: str, off: str, held: str
) -> None:
    store.desk.command_site(on, "site-0001", press())
    assert getattr(store.plans.commitments(SOON), f"{held}_site_ids") == {"site-0001"}
    store.desk.command_site(off, "site-0001", press())
    assert getattr(store.plans.commitments(SOON), f"{held}_site_ids") == frozenset()
    assert [one.entry.action for one in store.audit.entries()] == [f"site.{on}", f"site.{off}"]


def test_a_hand_over_lists_what_is_open_and_is_confirmed_once(store: Store) -> None:
    order = save(store, sending())
    store.desk.command_site("freeze", "site-0002", press())
    made = store.desk.hand_over("Ann", "Bob", "watch the queue", press(key="k"))
    assert store.desk.hand_over("Ann", "Bob", "watch the queue", press(key="k")) == made
    assert made.open_items["waiting_order_ids"] == [order.order_id]
    assert made.open_items["frozen_site_ids"] == ["site-0002"]
    taken = store.desk.confirm_handover(made.handover_id, press(by="bob"))
    assert (taken.confirmed_by, taken.confirmed_at) == ("bob", SOON)
    with pytest.raises(CommandRefused):
        store.desk.confirm_handover(made.handover_id, press(by="eve"))
    with pytest.raises(HandoverNotFound):
        store.desk.confirm_handover(99, press())


def start(store: Store, playbooks: Sequence[Playbook]) -> None:
    for playbook in playbooks:
        store.desk.start_playbook(playbook, press())


def test_running_playbooks_bind_the_next_plan_and_ended_ones_do_not(store: Store) -> None:
    books = [
        Playbook("p1", PlaybookKind.SUSPEND_SITE, ("site-0001",)),
        Playbook("p2", PlaybookKind.RECALL_LOT, lot_number="L1"),
        Playbook("p3", PlaybookKind.FRIDGE_FAILURE, ("site-0000",), fridge_id="f1"),
        Playbook("p4", PlaybookKind.POWER_CUT, ("site-0002",)),
        Playbook("p5", PlaybookKind.SURGE, factor=1.5),
    ]
    nothing = store.plans.commitments(SOON)
    start(store, books)
    bound = store.plans.commitments(SOON)
    assert bound.suspended_site_ids == {"site-0001"}
    assert bound.incidents.recalled_lots == {"L1"}
    assert bound.incidents.failed_fridges == {("site-0000", "f1")}
    assert bound.incidents.power_cut_site_ids == {"site-0002"}
    assert bound.incidents.surge_factor == 1.5
    for book in books:
        store.desk.end_playbook(book.playbook_id, press("it is over"))
        store.desk.end_playbook(book.playbook_id, press("again"))
    assert store.plans.commitments(SOON) == nothing
    assert len(store.audit.entries()) == 2 * len(books)
    with pytest.raises(PlaybookNotFound):
        store.desk.end_playbook("p9", press())


def test_what_incidents_lay_on_a_cycle_is_kept_with_its_state(store: Store) -> None:
    start(store, [Playbook("p2", PlaybookKind.RECALL_LOT, lot_number="L1")])
    save(store, sending(5), approval=Approval.AUTOMATIC)
    cycle = make_cycle(CITY, "c2", (), as_of=START)
    bound = store.plans.commitments(SOON)
    store.plans.save_cycle(replace(cycle, state=replace(cycle.state, commitments=bound)), [])
    assert store.plans.cycle_inputs("c2")[0].commitments == bound


def test_the_same_press_from_many_lines_at_once_is_one_deed(store: Store) -> None:
    order = save(store, sending())
    wishes = [OrderWish(order.order_id, OrderAction.APPROVE)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: store.desk.decide_all(wishes, press(key="k"), NOTHING), range(6)))
    assert all(answer == answers[0] for answer in answers)
    assert len(store.audit.entries()) == 1
    assert deliver(store) == ["order"]


def test_officers_cycles_and_sites_at_once_neither_block_nor_lose_each_other(store: Store) -> None:
    cities = [SendWalkIns(f"site-000{one}", f"site-000{other}", 2, 9.0, WHY) for one, other in ((0, 1), (1, 2), (2, 0))]
    save(store, *cities)

    def officer(number: int) -> int:
        done = 0
        for turn in range(8):
            waiting = [order for order in store.plans.orders() if order.is_waiting]
            ids = sorted((order.order_id for order in waiting), reverse=number % 2 == 0)
            wishes = [OrderWish(order_id, OrderAction.APPROVE, "fits") for order_id in ids]
            answers = store.desk.decide(wishes, press(key=f"{number}-{turn}"), NOTHING) if wishes else []
            done += sum(answer.state is not None for answer in answers)
        return done

    def planner() -> int:
        for turn in range(8):
            people = [replace(one, people=2 + turn % 3) for one in cities]
            save(store, *people, name=f"p{turn}")
        return 0

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(officer, number) for number in range(3)] + [pool.submit(planner)]
        done = sum(one.result(timeout=60) for one in running)
    head, wrong = check_lines(store.audit.lines())
    assert not wrong
    assert head.entry_no == done
    approved = [entry for entry in store.audit.entries() if entry.entry.action == "order.approve"]
    assert len({entry.entry.subject for entry in approved}) == len(approved)
