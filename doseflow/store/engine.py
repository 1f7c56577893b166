"""open_store(): the one way in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Engine

from doseflow.errors import EnvironmentUnfit, StoreUnavailable
from doseflow.store.api_keys import SqlApiKeys
from doseflow.store.appointments import SqlAppointmentBook
from doseflow.store.audit import SqlAuditLog
from doseflow.store.checkpointer import Checkpointer
from doseflow.store.command_desk import SqlCommandDesk
from doseflow.store.connect import make_engine, read_url
from doseflow.store.gateways import SqlGatewayPositions
from doseflow.store.logger_points import SqlLoggerPoints
from doseflow.store.migrate import migrate
from doseflow.store.outbox import SqlOutbox
from doseflow.store.plan_store import SqlPlanStore
from doseflow.store.plan_store import _tell as tell
from doseflow.store.push_subscriptions import SqlPushSubscriptions
from doseflow.store.reports import SqlReportStore
from doseflow.store.retention import Retention
from doseflow.store.sessions import SqlSessions
from doseflow.store.sources import SqlSourceBook, mark_source, note_unknown_code
from doseflow.store.transactions import Transactions

UNFIT_SENTENCES = ("unable to open database file", "readonly database", "disk is full", "disk I/O error")
"""What SQLite says when the folder or the disk is to blame, not the database."""


@dataclass(frozen=True)
class Store:
    """An open database: what is kept of reports, of plans, and of what must still be told."""

    reports: SqlReportStore
    plans: SqlPlanStore
    outbox: SqlOutbox
    audit: SqlAuditLog
    desk: SqlCommandDesk
    retention: Retention
    appointments: SqlAppointmentBook
    sessions: SqlSessions
    keys: SqlApiKeys
    positions: SqlGatewayPositions
    push: SqlPushSubscriptions
    sources: SqlSourceBook
    logger_points: SqlLoggerPoints
    _resources: tuple[Callable[[], None], ...]

    def close(self) -> None:
        """Give the database back; the store cannot be used afterwards."""
        for give_back in self._resources:
            give_back()


def open_store(url: str, *, must_exist: bool = False, survive_power_cut: bool = False) -> Store:
    """
    Open a database and bring it to the newest schema.

    Parameters
    ----------
    url
        `sqlite:///var/doseflow.sqlite` (relative), `sqlite:////srv/doseflow.sqlite`, or `postgresql+psycopg://...`.
    must_exist
        Whether a SQLite file that is not there is an error, instead of a new database.
    survive_power_cut
        Sync the disk at every commit of SQLite. Without it what was accepted survives `kill -9` and a crash of the
        process, but the last seconds may be missing after the machine lost power; the database is whole either way.

    Raises
    ------
    SettingsWrong
        The URL is not one of these.
    EnvironmentUnfit
        The folder cannot be written, the driver is missing, or a newer doseflow has written the database.
    StoreUnavailable
        The file is not a database, is broken, or the server does not answer.
    """
    read = read_url(url)
    engine = make_engine(read, must_exist=must_exist, survive_power_cut=survive_power_cut)
    where = f"store.url: {read.database}" if engine.dialect.name == "sqlite" else f"store.url: {read}"
    try:
        migrate(Transactions(engine))
    except StoreUnavailable as error:
        engine.dispose()
        if any(sentence in str(error) for sentence in UNFIT_SENTENCES):
            raise EnvironmentUnfit(f"{where} cannot be written: {error}") from error
        raise StoreUnavailable(f"{where} cannot be used: {error}") from error
    except EnvironmentUnfit:
        engine.dispose()
        raise
    return _store(engine)


def _store(engine: Engine) -> Store:
    transactions = Transactions(engine)
    checkpointer = Checkpointer(engine) if engine.dialect.name == "sqlite" else None
    after_cycle = checkpointer.wake if checkpointer else _nothing
    return Store(
        reports=SqlReportStore(transactions, after_write=checkpointer.written if checkpointer else _nothing),
        plans=SqlPlanStore(transactions, after_cycle=after_cycle),
        outbox=SqlOutbox(transactions),
        audit=SqlAuditLog(transactions),
        desk=SqlCommandDesk(transactions, tell),
        retention=Retention(transactions),
        appointments=SqlAppointmentBook(transactions, note_unknown_code, mark_source),
        sessions=SqlSessions(transactions),
        keys=SqlApiKeys(transactions),
        sources=SqlSourceBook(transactions),
        logger_points=SqlLoggerPoints(transactions),
        positions=SqlGatewayPositions(transactions),
        push=SqlPushSubscriptions(transactions),
        _resources=(*([checkpointer.close] if checkpointer else []), engine.dispose),
    )


def _nothing(*_facts: object) -> None:
    """No checkpoint to make."""
