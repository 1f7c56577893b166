"""
What every store promises, whatever database is under it: the promises of ReportStore, PlanStore and Outbox.

Over 500 lines, since it is one contract: whoever brings another store reads and runs this file whole.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

sys.path.append(str(Path(__file__).parents[1] / "store"))  # the samples of the store's own tests

from store_samples import (
    CITY,
    START,
    WHY,
    assert_same_state,
    make_city,
    make_cycle,
    make_plan,
    make_report,
    one_of_each_kind,
)

from doseflow.dispatch.order_difference import OPEN_STATES
from doseflow.domain.commanding import Press
from doseflow.domain.decisions import SendWalkIns, StationChange
from doseflow.domain.orders import Order, OrderReceipt, OrderState, ReceiptStatus
from doseflow.domain.plan import Infeasible, RepairPath, Violation
from doseflow.domain.roles import Stage
from doseflow.errors import CycleNotFound, NotFound, OrderNotFound, PlanNotFound, ReceiptRefused
from doseflow.ports import Outbox, PlanStore, QuarantinedReport, ReportStore
from doseflow.store import commands, quarantine
from doseflow.store.engine import Store, open_store
from doseflow.store.tables import metadata

MINUTE = timedelta(minutes=1)


def station(open_stations: int, site: int = 0) -> StationChange:
    return StationChange(f"site-{site:04d}", Stage.VACCINATION, 1, open_stations, WHY)


def save(store: Store, cycle_id: str, *decisions: object, as_of: datetime = START) -> list[Order]:
    """Save a cycle with these decisions against the orders that stand; its orders, as they are kept."""
    cycle = make_cycle(
        CITY, cycle_id, decisions, as_of=as_of, open_orders=tuple(store.plans.orders(states=OPEN_STATES))
    )
    store.plans.save_cycle(cycle, [])
    return [order for order in reversed(store.plans.orders()) if order.cycle_id == cycle_id]


def tell_all(store: Store, now: datetime = START) -> None:
    store.outbox.mark_delivered([entry.entry_id for entry in store.outbox.due(now)], now)


def receipt(status: str, at: datetime = START, receipt_id: str | None = None, reason: str = "") -> OrderReceipt:
    return OrderReceipt(ReceiptStatus(status), at, receipt_id, reason)


def test_the_stores_stand_behind_the_ports(store: Store) -> None:
    for port, room in ((ReportStore, store.reports), (PlanStore, store.plans), (Outbox, store.outbox)):
        promised = [name for name in vars(port) if not name.startswith("_")]
        assert promised
        assert [name for name in promised if not callable(getattr(room, name, None))] == []


def is_partition(difference: object) -> bool:
    kind, table = difference[:2] if isinstance(difference, tuple) else (None, None)
    return kind == "remove_table" and table.name.startswith("reports_")


def test_the_migrations_make_what_the_tables_say(store: Store) -> None:
    with store.reports._transactions.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert [one for one in compare_metadata(context, metadata) if not is_partition(one)] == []


# Reports


def test_a_repeated_report_is_kept_once_within_a_body_and_later(store: Store) -> None:
    one, raw = make_report("site-0000", "r1")
    two, raw2 = make_report("site-0001", "r1")

    assert store.reports.accept([one, two, one], [raw, raw2, raw]) == [True, True, False]
    assert store.reports.accept([one, two], [raw, raw2]) == [False, False]
    assert store.reports.pending() == [one, two]
    assert store.reports.accept([], []) == []


def test_accepted_reports_outlive_the_process_until_a_cycle_takes_them(store: Store, store_url: str) -> None:
    sent = [make_report(f"site-{idx % 3:04d}", f"r{idx}", START + idx * MINUTE) for idx in range(6)]
    store.reports.accept([one for one, _ in sent], [raw for _, raw in sent])
    store.close()

    reopened = open_store(store_url)
    assert reopened.reports.pending() == [one for one, _ in sent]
    reopened.plans.save_cycle(make_cycle(CITY, "c1"), [one for one, _ in sent[:4]])
    assert reopened.reports.pending() == [one for one, _ in sent[4:]]
    reopened.close()


def test_reports_of_a_site_come_newest_first(store: Store) -> None:
    sent = [make_report("site-0000", f"r{idx}", START + minutes * MINUTE) for idx, minutes in enumerate((5, 15, 10))]
    other = make_report("site-0001", "other", START + 20 * MINUTE)
    for one, raw in (*sent, other):
        store.reports.accept([one], [raw])

    latest = store.reports.reports_of_site("site-0000", limit=2)

    assert [one.report.report_id for one in latest] == ["r1", "r2"]


def test_the_same_report_from_many_threads_is_new_to_one_of_them(store: Store) -> None:
    sent = [make_report("site-0000", f"r{idx}", START + idx * MINUTE) for idx in range(20)]
    reports, raws = [one for one, _ in sent], [raw for _, raw in sent]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: store.reports.accept(reports, raws), range(8)))

    assert np.array(answers).sum(axis=0).tolist() == [1] * len(sent)
    assert len(store.reports.pending()) == len(sent)


def test_quarantine_keeps_what_was_refused_cut_to_a_length_newest_first(store: Store) -> None:
    big = b"x" * (quarantine.MAX_RAW_BYTES + 1)
    store.reports.quarantine(
        [
            QuarantinedReport(None, START, None, "body", "must be UTF-8", b"\xff\x00", 2),
            QuarantinedReport(None, START, "site \x00 \ud800", "site_id", "must be known", big, len(big)),
        ]
    )
    store.reports.quarantine([])

    newest, oldest = store.reports.quarantined()

    assert (oldest.raw, oldest.site_id, oldest.reason, oldest.received_at) == (
        b"\xff\x00",
        None,
        "must be UTF-8",
        START,
    )
    assert (len(newest.raw), newest.num_bytes) == (quarantine.MAX_RAW_BYTES, len(big))
    assert newest.site_id is not None
    assert newest.site_id.startswith("site \ufffd ")
    assert [one.quarantine_id for one in store.reports.quarantined(limit=1)] == [newest.quarantine_id]


def test_quarantine_keeps_only_so_many(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quarantine, "MAX_KEPT", 3)
    for idx in range(7):
        store.reports.quarantine([QuarantinedReport(None, START, None, f"field {idx}", "wrong", b"", 0)])

    assert [one.field for one in store.reports.quarantined()] == ["field 6", "field 5", "field 4"]


def test_arrivals_come_from_imported_days_and_reports_and_reports_win(store: Store) -> None:
    day = np.full((2, 288), np.nan)
    day[0, 108:114] = [1, 2, 3, 4, 5, 6]  # 09:00 to 09:30 UTC
    store.reports.import_arrivals(date(2026, 3, 2), ["site-0000", "a site of another city"], np.zeros((2, 288)))
    store.reports.import_arrivals(date(2026, 3, 2), ["site-0000", "a site of another city"], day)
    told = [
        make_report("site-0000", "r1", START + 10 * MINUTE, arrivals_people=20),
        make_report("site-0001", "r2", START + 10 * MINUTE + timedelta(seconds=40), arrivals_people=7),
        make_report("site-0001", "r3", START + 10 * MINUTE + timedelta(seconds=80), arrivals_people=8),
        make_report("site-0001", "r4", START + 15 * MINUTE, arrivals_people=None),
        make_report("site-0001", "r5", START, arrivals_people=99),
        make_report("not of this city", "r6", START + 10 * MINUTE, arrivals_people=9),
    ]
    store.reports.accept([one for one, _ in told], [raw for _, raw in told])

    people = store.reports.arrivals_between(CITY, START, START + 24 * MINUTE)

    unknown = np.nan
    expected = [[1, 20, 3, 4], [unknown, 8, unknown, unknown], [unknown] * 4]
    np.testing.assert_array_equal(people, expected)


def test_arrivals_join_across_midnight(store: Store) -> None:
    for day_on, value in ((date(2026, 3, 1), 1.0), (date(2026, 3, 2), 2.0), (date(2026, 3, 3), 3.0)):
        store.reports.import_arrivals(day_on, ["site-0002"], np.full((1, 288), value))
    start = datetime(2026, 3, 1, 23, 55, tzinfo=UTC)

    people = store.reports.arrivals_between(CITY, start, start + timedelta(days=1, minutes=10))

    assert people.shape == (3, 290)
    assert people[2].tolist() == [1.0] + [2.0] * 288 + [3.0]


# Cycles and plans


def test_a_cycle_saved_twice_is_kept_once(store: Store) -> None:
    cycle = make_cycle(CITY, "c1", one_of_each_kind())

    store.plans.save_cycle(cycle, [])
    store.plans.save_cycle(cycle, [])

    assert list(reversed(store.plans.orders())) == list(cycle.new_orders)
    assert len(store.outbox.due(START)) == len(cycle.new_orders)


def test_the_latest_state_comes_back_to_the_last_bit(store: Store, store_url: str) -> None:
    assert store.plans.latest_state() is None
    store.plans.save_cycle(make_cycle(CITY, "c1"), [])
    cycle = make_cycle(CITY, "c2", as_of=START + 5 * MINUTE)
    store.plans.save_cycle(cycle, [])

    assert_same_state(store.plans.latest_state(), cycle.state)
    assert store.plans.latest_state().city is CITY
    reopened = open_store(store_url)
    assert_same_state(reopened.plans.latest_state(), cycle.state)
    assert reopened.plans.latest_state().city.sites == CITY.sites
    reopened.close()


def test_a_process_goes_on_with_the_state_of_its_own_city_only(store: Store, store_url: str) -> None:
    store.plans.save_cycle(make_cycle(CITY, "c1"), [])

    reopened = open_store(store_url)
    reopened.plans.save_city(make_city(num_sites=4))
    assert reopened.plans.latest_state() is None
    assert_same_state(reopened.plans.cycle_inputs("c1")[0], store.plans.latest_state())
    reopened.close()


def test_the_record_of_a_cycle_says_what_it_made(store: Store) -> None:
    assert store.plans.latest_cycle() is None
    infeasible = Infeasible(("staff", "seats"), ("nobody is left",))
    cycle = replace(make_cycle(CITY, "c1", (station(3),), why_this_planner="time ran out"), infeasible=infeasible)
    one, raw = make_report("site-0000", "r1")
    store.reports.accept([one], [raw])
    store.plans.save_cycle(cycle, [one])

    record = store.plans.latest_cycle()

    assert store.plans.cycle_inputs("c1")[1] == record
    assert record["plan_digest"] == store.plans.digest_of(cycle.plan)
    assert {name: record[name] for name in record if not name.endswith("_digest")} == {
        "cycle_id": "c1",
        "started_at": "2026-03-02T09:00:00+00:00",
        "completed_at": "2026-03-02T09:00:00.002000+00:00",
        "planner": "rules",
        "why_this_planner": "time ran out",
        "forecaster": "seasonal_naive",
        "repair_path": "solver",
        "sites": 3,
        "reports": 1,
        "orders": 1,
        "withdrawn": 0,
        "infeasible": {"clashing_rules": ["staff", "seats"], "sentences": ["nobody is left"]},
        "stage_milliseconds": {"state": 1.5, "forecast": 0.5},
        "audit_head": f"0:{'0' * 64}",
    }


def test_a_plan_is_given_as_it_was_with_the_orders_that_stand_for_it(store: Store) -> None:
    (standing,) = save(store, "c1", station(3))
    dropped = make_plan((station(8, site=2),)).decisions
    violation = Violation("churn", "site-0000", "too many changes", 2.0, hard=False, decision_idx=(0,))
    cycle = make_cycle(
        CITY,
        "c2",
        (station(3), *one_of_each_kind()),
        open_orders=(standing,),
        dropped=dropped,
        soft_violations=(violation,),
    )
    store.plans.save_cycle(cycle, [])

    plan = store.plans.plan("c2")

    assert plan["plan_id"] == plan["cycle_id"] == "c2"
    assert (plan["planner"], plan["repair_path"], plan["distance"]) == ("rules", "solver", 1.5)
    assert datetime.fromisoformat(plan["as_of"]) == START
    assert [one["order_id"] for one in plan["decisions"]] == [
        standing.order_id,
        *(order.order_id for order in cycle.new_orders),
    ]
    assert plan["decisions"][0]["open_stations"] == 3
    assert plan["decisions"][0]["family"] == "stations"
    assert plan["decisions"][0]["why"] == {"code": WHY.code, "facts": WHY.facts}
    assert plan["decisions"][0]["reason_zh"] == "原因 station_change"
    assert plan["dropped"][0]["site_id"] == "site-0002"
    assert plan["soft_violations"][0]["sentence"] == "too many changes"
    assert plan["infeasible"] is None


def test_a_cycle_that_fails_half_way_leaves_nothing(store: Store) -> None:
    one, raw = make_report("site-0000", "r1")
    store.reports.accept([one], [raw])
    (old,) = save(store, "c1", station(3))
    broken = make_cycle(CITY, "c2", one_of_each_kind(), open_orders=(old,), soft_violations=(object(),))

    with pytest.raises(TypeError):
        store.plans.save_cycle(broken, [one])

    assert store.plans.latest_cycle()["cycle_id"] == "c1"
    assert store.plans.orders() == [old]
    assert [entry.order for entry in store.outbox.due(START)] == [old]
    assert store.reports.pending() == [one]


def test_what_is_not_there_is_said_so(store: Store) -> None:
    with pytest.raises(PlanNotFound, match="'nothing'"):
        store.plans.plan("nothing")
    with pytest.raises(CycleNotFound, match="'nothing'"):
        store.plans.cycle_inputs("nothing")
    with pytest.raises(OrderNotFound, match="'nothing'"):
        store.plans.order("nothing")
    with pytest.raises(OrderNotFound, match="'nothing'"):
        store.plans.record_receipt("nothing", receipt("done"))


# Orders and receipts


def test_orders_come_newest_first_and_can_be_chosen(store: Store) -> None:
    (first,) = save(store, "c1", station(3))
    tell_all(store)
    first = store.plans.order(first.order_id)
    second, third = save(
        store, "c2", station(3), station(4, site=1), SendWalkIns("site-0001", "site-0000", 5, 9.0, WHY)
    )

    assert first.state is OrderState.SENT
    assert store.plans.orders() == [third, second, first]
    assert store.plans.orders(limit=2) == [third, second]
    assert store.plans.orders(states=[OrderState.SENT]) == [first]
    assert store.plans.orders(site_id="site-0001") == [third, second]
    assert store.plans.orders(states=[OrderState.SENT], site_id="site-0001") == []
    assert store.plans.orders(states=[]) == []


def test_an_order_lives_through_its_receipts(store: Store) -> None:
    (order,) = save(store, "c1", station(3))
    tell_all(store)

    for status in ("acknowledged", "under_way", "done"):
        answer = store.plans.record_receipt(order.order_id, receipt(status))
        assert answer == store.plans.order(order.order_id) == replace(order, state=OrderState(status))
        assert store.plans.record_receipt(order.order_id, receipt(status)) == answer


def test_a_step_an_order_cannot_take_is_refused_and_changes_nothing(store: Store) -> None:
    (order,) = save(store, "c1", station(3))
    tell_all(store)
    store.plans.record_receipt(order.order_id, receipt("done", receipt_id="a"))

    with pytest.raises(ReceiptRefused, match="status: must follow from done"):
        store.plans.record_receipt(order.order_id, receipt("under_way", receipt_id="b"))
    with pytest.raises(ReceiptRefused, match="status: must follow from done"):
        store.plans.record_receipt(order.order_id, receipt("under_way", receipt_id="b"))

    assert store.plans.order(order.order_id).state is OrderState.DONE


def test_a_refusal_needs_its_reason_and_keeps_it(store: Store) -> None:
    (order,) = save(store, "c1", station(3))
    tell_all(store)

    with pytest.raises(ReceiptRefused, match="reason: must say why"):
        store.plans.record_receipt(order.order_id, receipt("refused", reason="  "))
    refused = store.plans.record_receipt(order.order_id, receipt("refused", reason="nobody \x00 free 没有人"))

    assert refused.refusal_reason == "nobody \ufffd free 没有人"
    assert store.plans.order(order.order_id) == refused


def test_whoever_answers_an_order_was_told_of_it(store: Store) -> None:
    (order,) = save(store, "c1", station(3))

    answered = store.plans.record_receipt(order.order_id, receipt("acknowledged"))
    tell_all(store)

    assert answered.state is OrderState.ACKNOWLEDGED
    assert store.plans.order(order.order_id).state is OrderState.ACKNOWLEDGED


def test_of_two_answers_at_once_one_counts(store: Store) -> None:
    orders = save(store, "c1", *(station(2 + idx, site=idx) for idx in range(3)))
    tell_all(store)

    def answer(order: Order, status: str) -> str:
        try:
            return store.plans.record_receipt(order.order_id, receipt(status, reason="busy")).state
        except ReceiptRefused:
            return "not taken"

    with ThreadPoolExecutor(6) as pool:
        for order in orders:
            answers = sorted(pool.map(lambda status, order=order: answer(order, status), ("done", "refused") * 3))
            final = store.plans.order(order.order_id).state
            assert answers == sorted([final] * 3 + ["not taken"] * 3)


def test_open_orders_expire_after_they_were_due(store: Store) -> None:
    early, late = save(store, "c1", station(3), SendWalkIns("site-0001", "site-0000", 5, 9.0, WHY))

    assert store.plans.expire_orders(early.due_at) == []
    assert store.plans.expire_orders(early.due_at + MINUTE) == [early.order_id]
    assert store.plans.expire_orders(early.due_at + MINUTE) == []

    assert store.plans.order(early.order_id).state is OrderState.EXPIRED
    assert store.plans.order(late.order_id).state is OrderState.PROPOSED
    assert [entry.order.order_id for entry in store.outbox.dead_letters()] == [early.order_id]
    assert [entry.order.order_id for entry in store.outbox.due(early.due_at)] == [late.order_id]


def test_an_order_that_was_begun_is_late_for_an_hour_before_it_is_void(store: Store) -> None:
    (order,) = save(store, "c1", station(3))
    tell_all(store)
    store.plans.record_receipt(order.order_id, receipt("under_way", START + MINUTE))

    assert store.plans.expire_orders(order.due_at + 60 * MINUTE) == []
    assert store.plans.order(order.order_id).state is OrderState.UNDER_WAY
    assert store.plans.expire_orders(order.due_at + 61 * MINUTE) == [order.order_id]


# Commitments


def test_commitments_follow_the_states_of_the_orders(store: Store) -> None:
    decisions = one_of_each_kind()[:4]
    orders = save(store, "c1", *decisions)
    assert store.plans.commitments(START).sent == ()
    tell_all(store)
    for order, status in zip(orders, ("acknowledged", "under_way", "refused"), strict=False):
        store.plans.record_receipt(order.order_id, receipt(status, START + MINUTE, reason="no"))

    binding = store.plans.commitments(START + 61 * MINUTE)

    assert binding.acknowledged == (decisions[0],)
    assert binding.under_way == (decisions[1],)
    assert binding.refused == (decisions[2],)
    assert binding.sent == (decisions[3],)
    assert store.plans.commitments(START + 62 * MINUTE).refused == ()


@pytest.mark.parametrize("at", [START - timedelta(days=300), START + timedelta(days=300)])
def test_a_refusal_dated_by_a_wrong_clock_binds_for_its_hour_and_no_longer(store: Store, at: datetime) -> None:
    (order,) = save(store, "c1", station(3))
    tell_all(store)
    store.plans.record_receipt(order.order_id, receipt("refused", at, reason="no"))

    assert store.plans.commitments(START + 30 * MINUTE).refused == (station(3),)
    assert store.plans.commitments(order.due_at + 61 * MINUTE).refused == ()


def test_commands_hold_until_they_are_lifted(store: Store, store_url: str) -> None:
    def command(name: str, site_id: str) -> None:
        store.desk.command_site(name, site_id, Press("ann", START, "a drill"))

    for name in ("freeze", "suspend"):
        command(name, "site-0001")
        command(name, "site-0001")
    command("freeze", "site-0002")
    with store.plans._transactions.write() as connection:
        for decision in (station(3), station(4, site=1), station(5)):
            commands.pin(connection, decision, START)

    reopened = open_store(store_url)
    binding = reopened.plans.commitments(START + timedelta(days=1))
    reopened.close()
    assert binding.frozen_site_ids == {"site-0001", "site-0002"}
    assert binding.suspended_site_ids == {"site-0001"}
    assert binding.pinned == (station(4, site=1), station(5))

    command("unfreeze", "site-0001")
    command("resume", "site-0001")
    command("resume", "site-0002")
    with store.plans._transactions.write() as connection:
        commands.unpin(connection, station(99), START)
    binding = store.plans.commitments(START)
    assert (binding.frozen_site_ids, binding.suspended_site_ids) == ({"site-0002"}, set())
    assert binding.pinned == (station(4, site=1),)
    command("suspend", "site-0001")
    assert store.plans.commitments(START).suspended_site_ids == {"site-0001"}


# The difference of two plans, and the outbox


def test_a_changed_wish_withdraws_the_unanswered_order_and_makes_a_new_one(store: Store) -> None:
    (old,) = save(store, "c1", station(3))
    tell_all(store)
    (new,) = save(store, "c2", station(4))

    assert store.plans.order(old.order_id).state is OrderState.WITHDRAWN
    assert [(entry.topic, entry.order.order_id) for entry in store.outbox.due(START)] == [
        ("withdrawal", old.order_id),
        ("order", new.order_id),
    ]
    assert store.plans.latest_cycle()["withdrawn"] == 1


def test_an_order_that_was_never_told_is_withdrawn_without_being_told(store: Store) -> None:
    (old,) = save(store, "c1", station(3))
    store.outbox.mark_failed(store.outbox.due(START)[0].entry_id, START, "down", None)
    save(store, "c2")

    assert [entry.topic for entry in store.outbox.due(START)] == ["withdrawal"]
    assert store.outbox.dead_letters() == []
    tell_all(store)
    assert store.plans.order(old.order_id).state is OrderState.WITHDRAWN


def test_an_order_answered_while_the_next_plan_is_made_keeps_standing_alone(store: Store) -> None:
    (old,) = save(store, "c1", station(3))
    tell_all(store)
    cycle = make_cycle(CITY, "c2", (station(4), station(4, site=1)), open_orders=tuple(store.plans.orders()))
    store.plans.record_receipt(old.order_id, receipt("acknowledged"))
    store.plans.save_cycle(cycle, [])

    assert store.plans.order(old.order_id).state is OrderState.ACKNOWLEDGED
    assert [order.decision for order in store.plans.orders() if order.cycle_id == "c2"] == [station(4, site=1)]
    assert [entry.topic for entry in store.outbox.due(START)] == ["order"]
    record = store.plans.latest_cycle()
    assert (record["orders"], record["withdrawn"]) == (1, 0)
    assert [one["order_id"] is None for one in store.plans.plan("c2")["decisions"]] == [True, False]


def test_a_plan_that_holds_everything_withdraws_nothing(store: Store) -> None:
    (old,) = save(store, "c1", station(3))
    store.plans.save_cycle(make_cycle(CITY, "c2", open_orders=(old,), repair_path=RepairPath.HELD), [])

    assert store.plans.order(old.order_id).state is OrderState.PROPOSED


def failing(store: Store, entry_id: int, retry_at: datetime | None) -> None:
    store.outbox.mark_failed(entry_id, START, "it said no", retry_at)


def test_the_entries_of_a_site_stay_in_order_and_those_of_others_do_not_wait(store: Store) -> None:
    save(store, "c1", station(3), station(3, site=1))
    save(store, "c2", station(3), station(3, site=1), *(one for one in one_of_each_kind() if one.kind == "pre_cool"))
    first, other, second = store.outbox.due(START)
    assert [entry.order.site_id for entry in (first, other, second)] == ["site-0000", "site-0001", "site-0000"]

    failing(store, first.entry_id, START + MINUTE)

    assert store.outbox.due(START) == [other]
    again = store.outbox.due(START + MINUTE)
    assert [entry.entry_id for entry in again] == [first.entry_id, other.entry_id, second.entry_id]
    assert [entry.attempts for entry in again] == [1, 0, 0]
    assert store.outbox.due(START + MINUTE, limit=1) == again[:1]


def test_a_dead_letter_blocks_nobody_and_can_be_sent_again(store: Store) -> None:
    (order,) = save(store, "c1", station(3))
    save(store, "c2", station(3), *(one for one in one_of_each_kind() if one.kind == "pre_cool"))
    dead, later = store.outbox.due(START)
    failing(store, dead.entry_id, None)

    assert store.outbox.due(START + timedelta(days=1)) == [later]
    assert [entry.order for entry in store.outbox.dead_letters()] == [order]

    store.outbox.resend(dead.entry_id, START)
    assert store.outbox.dead_letters() == []
    assert store.outbox.due(START) == [dead, later]
    tell_all(store)
    assert store.outbox.due(START) == []
    for nothing in (dead.entry_id, 10_000):
        with pytest.raises(NotFound):
            store.outbox.resend(nothing, START)


def test_what_was_delivered_cannot_fail_afterwards(store: Store) -> None:
    (order,) = save(store, "c1", station(3))
    (entry,) = store.outbox.due(START)
    store.outbox.mark_delivered([entry.entry_id], START)
    store.outbox.mark_delivered([], START)
    failing(store, entry.entry_id, None)

    assert store.plans.order(order.order_id).state is OrderState.SENT
    assert store.outbox.dead_letters() == []
    assert store.outbox.due(START + timedelta(days=1)) == []


def test_many_readers_and_writers_do_not_disturb_each_other(store: Store) -> None:
    def write(idx: int) -> None:
        one, raw = make_report(f"site-{idx % 3:04d}", f"r{idx}", START + idx * MINUTE)
        assert store.reports.accept([one], [raw]) == [True]
        store.plans.save_cycle(make_cycle(CITY, f"c{idx}", (station(2 + idx % 3, site=idx % 3),)), [one])

    def read(_: int) -> None:
        store.plans.orders()
        store.plans.commitments(START)
        store.outbox.due(START)

    jobs: list[Callable[[int], None]] = [write, read]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda idx: jobs[idx % 2](idx // 2), range(60)))

    assert store.reports.pending() == []
    assert len(store.plans.orders()) == 30
