from __future__ import annotations

import hashlib
import multiprocessing
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from types import SimpleNamespace

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_server import NoPostgres, postgres_server
from sqlalchemy import delete, update
from store_samples import START, make_city, make_cycle

from doseflow.domain.audit import AuditEntry, AuditFilter, AuditHead
from doseflow.errors import InputWrong
from doseflow.store.audit_lines import check_lines, line_of
from doseflow.store.engine import Store, open_store
from doseflow.store.tables import audit_log

EACH = 15


def chain_by_hand() -> list[tuple[int, bytes, str, str]]:
    """A chain as its definition says: SHA-256 over the digest before, the number and the content, a line each."""
    digest, rows = "0" * 64, []
    for number in range(1, 4):
        content = orjson.dumps({"by": "ann", "n": number})
        after = hashlib.sha256(digest.encode() + b"\n" + str(number).encode() + b"\n" + content).hexdigest()
        rows.append((number, content, digest, after))
        digest = after
    return rows


HEAD = AuditHead(3, chain_by_hand()[-1][3])


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    try:
        with postgres_server() as url:
            yield url
    except NoPostgres as error:
        pytest.skip(str(error))


@pytest.fixture(params=["sqlite", "postgresql"])
def any_url(request: pytest.FixtureRequest, store_url: str) -> str:
    return store_url if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def entry(number: int, by: str = "ann", action: str = "order.approve") -> AuditEntry:
    return AuditEntry(START + timedelta(minutes=number), by, action, f"o{number}", "because", {"n": number, "x": 0.1})


def filled(store: Store, count: int = 5) -> Store:
    for number in range(1, count + 1):
        store.audit.append(entry(number))
    return store


def append_many(url: str, name: str) -> None:
    store = open_store(url)
    for number in range(EACH):
        store.audit.append(entry(number, by=name))
    store.close()


def test_threads_and_processes_that_append_at_once_leave_no_gap(any_url: str) -> None:
    open_store(any_url).close()
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=append_many, args=(any_url, f"process-{idx}")) for idx in range(2)]
    workers += [threading.Thread(target=append_many, args=(any_url, f"thread-{idx}")) for idx in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    store = open_store(any_url)
    head, wrong = check_lines(store.audit.lines())
    kept = store.audit.entries(limit=10_000)
    store.close()
    assert not wrong
    assert head.entry_no == len(workers) * EACH
    for idx in range(2):
        own = [one.entry.details["n"] for one in kept if one.entry.by == f"process-{idx}"]
        assert own == list(range(EACH))


def test_an_empty_log_is_whole(store: Store) -> None:
    assert check_lines(store.audit.lines()) == (store.audit.head(), "")


def spoilt(store: Store, how: Callable[[], object]) -> str:
    with store.audit._transactions.write() as connection:
        connection.execute(how())
    return check_lines(store.audit.lines(), store.audit.heads())[1]


def test_a_changed_word_a_missing_and_a_renumbered_entry_are_named(store: Store) -> None:
    filled(store)
    number = audit_log.c.entry_no
    changed = update(audit_log).where(number == 2).values(content=b'{"by":"eve"}')
    assert spoilt(store, lambda: changed) == "entry 2: was changed: its digest does not fit its content"
    assert "entry 3" in spoilt(store, lambda: delete(audit_log).where(number == 2))


def test_a_rewritten_chain_is_found_by_a_head_kept_elsewhere(store: Store) -> None:
    filled(store)
    kept = store.audit.head()
    with store.audit._transactions.write() as connection:
        connection.execute(delete(audit_log).where(audit_log.c.entry_no > 3))
    assert check_lines(store.audit.lines()) == (store.audit.head(), "")
    assert check_lines(store.audit.lines(), [kept])[1].startswith("entry 4: is missing")
    for number in (40, 50):
        store.audit.append(entry(number))
    assert check_lines(store.audit.lines(), [kept])[1].startswith("entry 5: is not the one")


def test_entries_deleted_at_the_end_are_missed_by_the_head_in_a_cycles_record(store: Store) -> None:
    filled(store)
    store.plans.save_cycle(make_cycle(make_city(), "c1", (), as_of=START), [])
    assert store.plans.latest_cycle()["audit_head"] == str(store.audit.head())
    assert "entry 5: is missing" in spoilt(store, lambda: delete(audit_log).where(audit_log.c.entry_no == 5))


def test_a_part_of_the_log_is_checked_from_where_it_begins(store: Store) -> None:
    lines = list(filled(store).audit.lines(after_no=2))
    assert check_lines(lines) == (store.audit.head(), "")
    assert check_lines(lines[1:2] + lines[:1])[1].startswith("entry 3: must follow entry 4")


def test_a_line_says_what_was_done(store: Store) -> None:
    (line,) = filled(store, 1).audit.lines()
    content = orjson.loads(orjson.loads(line)["content"])
    assert (content["by"], content["action"], content["subject"]) == ("ann", "order.approve", "o1")


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b'{"entry_no": 1}', b"\xff", b'{"entry_no": 1, "content": 2}'])
def test_a_line_that_is_no_entry_is_refused_with_its_number(line: bytes) -> None:
    with pytest.raises(InputWrong, match="line 1"):
        check_lines([line])


LINES = tuple(
    line_of(SimpleNamespace(entry_no=number, content=content, previous_digest=before, digest=after))
    for number, content, before, after in chain_by_hand()
)


@settings(max_examples=200)
@given(st.integers(0, 2), st.integers(0, 10_000), st.integers(0, 255))
def test_any_other_byte_in_an_export_is_noticed(which: int, where: int, byte: int) -> None:
    line = bytearray(LINES[which])
    line[where % len(line)] = byte
    changed = [bytes(line) if idx == which else one for idx, one in enumerate(LINES)]
    try:
        _, wrong = check_lines(changed, [HEAD])
        assert bool(wrong) == (orjson.loads(changed[which]) != orjson.loads(LINES[which]))
    except InputWrong:
        pass


def test_filters_hold_together_and_pages_go_on_where_the_last_one_ended(store: Store) -> None:
    for number in range(1, 9):
        store.audit.append(
            entry(number, by="ann" if number % 2 else "bob", action="order.pin" if number > 4 else "site.freeze")
        )
    orders = AuditFilter(by="ann", action="order")
    first = store.audit.search(orders, limit=1)
    rest = store.audit.search(orders, after_no=first.next_after_no)
    assert [one.entry.subject for one in (*first.entries, *rest.entries)] == ["o5", "o7"]
    assert rest.next_after_no is None
    between = AuditFilter(since=START + timedelta(minutes=3), before=START + timedelta(minutes=5))
    assert [one.entry_no for one in store.audit.search(between).entries] == [3, 4]
    assert store.audit.search(AuditFilter(action="or")).entries == ()


def test_a_head_reads_as_number_and_digest() -> None:
    assert str(AuditHead(3, "ab")) == "3:ab"
