"""What the store lets go of, and what never: the same on SQLite and PostgreSQL."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, func, inspect, select, text

sys.path.append(str(Path(__file__).parents[1] / "store"))  # the samples of the store's own tests

from store_samples import CITY, START, WHY, make_cycle, make_report

from doseflow.domain.commanding import Press
from doseflow.domain.decisions import StationChange
from doseflow.domain.orders import OrderReceipt, OrderState, ReceiptStatus
from doseflow.domain.roles import Stage
from doseflow.errors import CycleNotFound, OrderNotFound, PlanNotFound
from doseflow.store.engine import Store, open_store
from doseflow.store.migrate import SCRIPTS
from doseflow.store.retention import KeepParams
from doseflow.store.tables import cycles, orders, outbox, receipts, reports
from doseflow.store.transactions import Transactions

PERIOD = timedelta(minutes=5)
DAY = timedelta(days=1)


def count(store: Store, table: object) -> int:
    with store.reports._transactions.read() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def accept(store: Store, moments: list[datetime], *, site: str = "site-0000", taken_by: str | None = "c1") -> None:
    """Reports at moments; `make_report` gives each the arrivals of its number."""
    sent = [make_report(site, f"{moment:%Y%m%dT%H%M}", moment) for moment in moments]
    store.reports.accept([one for one, _ in sent], [raw for _, raw in sent])
    if taken_by is not None:
        store.plans.save_cycle(make_cycle(CITY, taken_by, as_of=moments[-1]), [one for one, _ in sent])


def test_old_reports_go_and_their_arrivals_stay(store: Store) -> None:
    first = datetime(2026, 2, 27, 23, 50, tzinfo=UTC)
    accept(store, [first + number * PERIOD for number in range(288)])
    end = first + 300 * PERIOD
    before = store.reports.arrivals_between(CITY, first - 12 * PERIOD, end)
    assert np.isfinite(before).sum() == 288

    num_gone, _ = store.retention.forget_reports_before(datetime(2026, 3, 1, 12, tzinfo=UTC))

    assert num_gone == 288
    assert count(store, reports) == 0
    np.testing.assert_array_equal(store.reports.arrivals_between(CITY, first - 12 * PERIOD, end), before)


def test_a_report_that_no_cycle_took_never_goes(store: Store) -> None:
    accept(store, [START, START + PERIOD])
    accept(store, [START + 2 * PERIOD], taken_by=None)

    store.retention.forget_reports_before(START + 400 * DAY)

    assert [one.report.valid_at for one in store.reports.pending()] == [START + 2 * PERIOD]
    assert count(store, reports) == 1


def test_what_a_report_told_of_a_day_beats_what_was_imported_of_it(store: Store) -> None:
    day = datetime(2026, 2, 3, tzinfo=UTC)
    store.reports.import_arrivals(day.date(), ["site-0000"], np.full((1, 288), 77.0))
    accept(store, [day + 2 * PERIOD])
    told = store.reports.arrivals_between(CITY, day, day + DAY)[0]
    assert (told == 77.0).sum() == 287

    store.retention.forget_reports_before(day + 40 * DAY)

    assert store.reports.arrivals_between(CITY, day, day + DAY)[0].tolist() == told.tolist()


def test_a_repeat_is_known_across_the_end_of_a_month(store: Store) -> None:
    last, first = datetime(2026, 2, 28, 23, 55, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
    accept(store, [last, first], taken_by=None)
    again = [make_report("site-0000", f"{moment:%Y%m%dT%H%M}", moment) for moment in (first, last)]
    assert store.reports.accept([one for one, _ in again], [raw for _, raw in again]) == [False, False]
    assert len(store.reports.pending()) == 2


def test_records_go_when_their_time_is_over_and_open_orders_never(store: Store) -> None:
    def station(number: int) -> tuple[StationChange, ...]:
        return (StationChange("site-0000", Stage.VACCINATION, 1, number, WHY),)

    for idx, age in enumerate((900, 800, 1)):
        store.plans.save_cycle(make_cycle(CITY, f"c{idx}", station(idx + 2), as_of=START - age * DAY), [])
    by_cycle = {one.cycle_id: one for one in store.plans.orders()}
    done = OrderReceipt(ReceiptStatus.DONE, START - 900 * DAY)
    store.plans.record_receipt(by_cycle["c0"].order_id, done)

    forgotten = store.retention.forget(START, KeepParams())

    assert (forgotten.orders, forgotten.cycles) == (1, 1)
    with pytest.raises(OrderNotFound):
        store.plans.order(by_cycle["c0"].order_id)
    with pytest.raises(PlanNotFound):
        store.plans.plan("c0")
    assert {one.cycle_id: one.state for one in store.plans.orders()} == {
        "c1": OrderState.PROPOSED,
        "c2": OrderState.PROPOSED,
    }
    assert store.plans.plan("c1")["decisions"]
    with pytest.raises(CycleNotFound, match="no longer kept"):
        store.plans.cycle_inputs("c1")
    assert store.plans.cycle_inputs("c2")[1]["cycle_id"] == "c2"
    assert (count(store, receipts), count(store, orders), count(store, cycles)) == (0, 2, 2)
    assert count(store, outbox) == 2


def test_a_repeated_press_is_known_for_as_long_as_it_is_kept(store: Store) -> None:
    def freeze(days: int) -> None:
        store.desk.command_site("freeze", "site-0000", Press("anna", START + days * DAY, "rain", "key-1"))

    freeze(0)
    freeze(1)
    assert len(store.audit.entries()) == 1
    assert store.retention.forget(START + 80 * DAY, KeepParams()).presses == 0
    assert store.retention.forget(START + 91 * DAY, KeepParams()).presses == 1
    freeze(92)
    assert len(store.audit.entries()) == 2


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"reports_days": 34}, "reports_days"),
        ({"cycle_inputs_days": 0}, "cycle_inputs_days"),
        ({"records_days": 41}, "records_days"),
        ({"quarantine_days": 36_501}, "quarantine_days"),
    ],
)
def test_days_out_of_bounds_are_refused(wrong: dict[str, int], field: str) -> None:
    with pytest.raises(ValueError, match=f"^{field}: must lie in "):
        KeepParams(**wrong)


def test_on_postgresql_a_month_is_a_partition_and_goes_whole(postgres_url: str) -> None:
    engine = create_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    store = open_store(postgres_url)
    store.plans.save_city(CITY)
    january, march = datetime(2026, 1, 31, 12, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
    accept(store, [january, march], taken_by="c1")
    assert partitions(engine) == {"reports_2026_01", "reports_2026_03"}

    assert store.retention.forget_reports_before(datetime(2026, 3, 31, tzinfo=UTC)) == (1, 1)

    assert partitions(engine) == {"reports_2026_03"}
    assert [one.report.valid_at for one in store.reports.reports_of_site("site-0000")] == [march]
    store.close()
    engine.dispose()


def partitions(engine: object) -> set[str]:
    return {name for name in inspect(engine).get_table_names() if name.startswith("reports_")}


def test_reports_of_an_older_schema_move_to_their_months(store_url: str) -> None:
    """Written by schema 0007, read by the newest; and back again."""
    engine = create_engine(store_url)
    going = Config()
    going.set_main_option("script_location", str(SCRIPTS))
    moments = [datetime(2026, 1, 31, 23, 55, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)]
    with Transactions(engine).write() as connection:
        going.attributes["connection"] = connection
        command.upgrade(going, "0007")
        for number, moment in enumerate(moments):
            report, raw = make_report("site-0000", f"r{number}", moment)
            told = moment.isoformat(timespec="microseconds") if engine.dialect.name == "sqlite" else moment
            connection.execute(
                text(
                    "INSERT INTO reports (site_id, report_id, valid_at, received_at, arrivals_people, raw) "
                    "VALUES ('site-0000', :id, :at, :at, :people, :raw)"
                ),
                {"id": f"r{number}", "at": told, "people": report.report.arrivals_people, "raw": raw},
            )

    store = open_store(store_url)
    assert [one.report.valid_at for one in store.reports.pending()] == moments
    again = [make_report("site-0000", f"r{number}", moment) for number, moment in enumerate(moments)]
    new, raw = make_report("site-0000", "r2", moments[1])
    kept = store.reports.accept([one for one, _ in again] + [new], [raw for _, raw in again] + [raw])
    assert kept == [False, False, True]
    if engine.dialect.name == "postgresql":
        assert partitions(engine) == {"reports_2026_01", "reports_2026_02"}
    store.close()

    with Transactions(engine).write() as connection:
        going.attributes["connection"] = connection
        command.downgrade(going, "0007")
        told_ids = connection.execute(text("SELECT report_id FROM reports ORDER BY report_no")).scalars().all()
    assert told_ids == ["r0", "r1", "r2"]
    engine.dispose()
