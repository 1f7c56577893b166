"""SqlAppointmentBook: what other systems say of their appointments and slots, the newest word of each kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Table, case, delete, func, or_, select, update

from doseflow.domain.appointment import (
    AppointmentNotice,
    AppointmentStatus,
    DosesNotice,
    Place,
    SlotNotice,
    SourceMessage,
)
from doseflow.domain.report import BOOKING_BINS
from doseflow.ports import SlotsLeft, TakenMessage, UnplacedAppointments
from doseflow.store.insert_new import UpsertInsert, insert_new, upsert_insert
from doseflow.store.tables import (
    appointment_messages,
    appointment_sites,
    appointment_slots,
    appointments,
    booking_reports,
    doses_told,
)
from doseflow.store.transactions import Transactions

BIN_MINUTES = 15
MAX_PLACE = 500
"""Characters kept of the names of a place."""

_COUNTED = {"preserve_rowcount": True}

SiteOf = Callable[[Place], str | None]
NoteUnknown = Callable[[Connection, str, str, str, str, datetime], None]
"""Notes an unknown code in a transaction: source, system, code, text, moment."""
MarkSource = Callable[[Connection, str, datetime, bool, str], None]
"""Notes in a transaction that a source was heard, or failed and why: source, moment, whether heard, sentence."""


def _note_nothing(*_told: Any) -> None:
    return


class SqlAppointmentBook:
    """
    The book on SQLite or PostgreSQL; thread-safe.

    Parameters
    ----------
    note_unknown
        Keeps an unknown code in the transaction of the message that used it.
    mark_source
        Notes in the same transaction that the source was heard.
    """

    def __init__(
        self,
        transactions: Transactions,
        note_unknown: NoteUnknown = _note_nothing,
        mark_source: MarkSource = _note_nothing,
    ) -> None:
        self._transactions = transactions
        self._note_unknown = note_unknown
        self._mark_source = mark_source

    def take(
        self, message: SourceMessage, site_of: SiteOf, hash_of: Callable[[str], str], now: datetime
    ) -> TakenMessage:
        """Keep a message in one transaction, once; of an appointment only what is not older than what is known."""
        with self._transactions.write() as connection:
            self._mark_source(connection, message.source, now, True, "")
            if message.message_id is not None and not _is_first(connection, message, now):
                return TakenMessage(is_repeat=True)
            source = message.source
            rows = [_appointment_row(source, one, site_of, hash_of, now) for one in message.appointments]
            changed = _run(connection, _keep_newest(connection), rows)
            slots = [_slot_row(source, one, site_of, now) for one in message.slots]
            _run(connection, _replace(connection, appointment_slots), slots)
            _note_sites(connection, source, {row["site_id"] for row in rows if row["site_id"]}, now)
            unplaced = [row["place"] for row in (*rows, *slots) if row["site_id"] is None and row["place"]]
            unplaced += _count_doses(connection, source, message.doses, site_of)
            for code in message.unknown_codes:
                self._note_unknown(connection, source, code.system, code.code, code.text, now)
        return TakenMessage(False, changed, len(rows) - changed, tuple(dict.fromkeys(unplaced)))

    def mark(self, source: str, now: datetime, ok: bool, text: str = "") -> None:
        """Note that a source was heard, or that it could not be asked and why."""
        with self._transactions.write() as connection:
            self._mark_source(connection, source, now, ok, text)

    def place_again(self, site_of: SiteOf) -> int:
        """Give what had no site the site that its names stand for now; how many rows were placed."""
        with self._transactions.write() as connection:
            return sum(_place_rows(connection, table, site_of) for table in (appointments, appointment_slots))

    def booked_people(
        self, start: datetime, *, heard_since: datetime, first_before: datetime
    ) -> dict[str, tuple[int, ...]]:
        """
        People booked in each of the eight quarter hours after `start`, by site.

        Only sites of which a source has told: 0 for a site that nobody speaks for would be a lie. The source must have
        told of any site since `heard_since`, and of this one before `first_before`.
        """
        table = appointments.c
        end = start + timedelta(minutes=BIN_MINUTES * BOOKING_BINS)
        statement = (
            select(table.site_id, table.starts_at, func.sum(func.coalesce(table.people, 1)))
            .where(table.status == AppointmentStatus.BOOKED.value, table.starts_at >= start, table.starts_at < end)
            .where(table.site_id.is_not(None))
            .group_by(table.starts_at, table.site_id)
        )
        with self._transactions.read() as connection:
            bins = {site: [0] * BOOKING_BINS for site in _told_sites(connection, heard_since, first_before)}
            for site_id, starts_at, people in connection.execute(statement):
                if site_id in bins:
                    bins[site_id][int((starts_at - start) / timedelta(minutes=BIN_MINUTES))] += int(people)
        return {site: tuple(counts) for site, counts in bins.items()}

    def told_reports(self) -> dict[str, str]:
        """Id of the last report made from the book, by site."""
        with self._transactions.read() as connection:
            return {row.site_id: row.report_id for row in connection.execute(select(booking_reports))}

    def note_told(self, report_ids: dict[str, str]) -> None:
        """Remember which reports were made, by site."""
        rows = [{"site_id": site_id, "report_id": report_id} for site_id, report_id in report_ids.items()]
        with self._transactions.write() as connection:
            _run(connection, _replace(connection, booking_reports), rows)

    def unplaced(self, limit: int = 1000) -> list[UnplacedAppointments]:
        """Appointments and slots whose place nobody has said to be a site, by source and place, most first."""
        found = []
        with self._transactions.read() as connection:
            for table in (appointments, appointment_slots):
                statement = (
                    select(table.c.source, table.c.place, func.count(), func.max(table.c.received_at))
                    .where(table.c.site_id.is_(None))
                    .group_by(table.c.source, table.c.place)
                    .order_by(func.count().desc(), table.c.place)
                    .limit(limit)
                )
                for source, place, number, told_at in connection.execute(statement):
                    keys = tuple(place.split("\n")) if place else ()
                    found.append(UnplacedAppointments(source, keys, table.name, number, told_at))
        return found

    def slots_left(self, start: datetime, end: datetime) -> list[SlotsLeft]:
        """What publishers still offer between two moments, by source and site; unknown capacity is not counted."""
        table = appointment_slots.c
        statement = (
            select(
                table.source, table.site_id, func.count(), func.sum(table.capacity_left), func.max(table.received_at)
            )
            .where(table.site_id.is_not(None), table.ends_at > start, table.starts_at < end)
            .where(table.status == "free")
            .group_by(table.source, table.site_id)
            .order_by(table.source, table.site_id)
        )
        with self._transactions.read() as connection:
            return [SlotsLeft(*row) for row in connection.execute(statement)]

    def sources(self) -> dict[str, datetime]:
        """When each source last told of an appointment at a site."""
        table = appointment_sites.c
        statement = select(table.source, func.max(table.told_at)).group_by(table.source)
        with self._transactions.read() as connection:
            return {source: told_at for source, told_at in connection.execute(statement)}  # noqa: C416 - rows, not pairs

    def doses_told(self, since: datetime) -> list[tuple[str, str, str, int]]:
        """Doses that messages told, as source, site, day and number, from a day on."""
        table = doses_told.c
        statement = select(doses_told).where(table.given_on >= since.date()).order_by(table.given_on, table.site_id)
        with self._transactions.read() as connection:
            rows = connection.execute(statement)
            return [(row.source, row.site_id, row.given_on.isoformat(), row.doses) for row in rows]

    def forget_before(self, moment: datetime) -> int:
        """Let go of what ended, and of messages that came, before a moment; how many rows."""
        booked, slots, messages = appointments.c, appointment_slots.c, appointment_messages.c
        over = func.coalesce(booked.ends_at, booked.starts_at, booked.received_at) < moment
        statements = (
            delete(appointments).where(over, booked.received_at < moment),
            delete(appointment_slots).where(slots.ends_at < moment),
            delete(appointment_messages).where(messages.received_at < moment),
            delete(doses_told).where(doses_told.c.given_on < moment.date()),
        )
        with self._transactions.write() as connection:
            return sum(connection.execute(statement).rowcount for statement in statements)


def _is_first(connection: Connection, message: SourceMessage, now: datetime) -> bool:
    digest = hashlib.blake2b(str(message.message_id).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    row = {"source": message.source, "message_hash": digest, "received_at": now}
    return _run(connection, insert_new(connection, appointment_messages), [row]) > 0


def _appointment_row(
    source: str, one: AppointmentNotice, site_of: SiteOf, hash_of: Callable[[str], str], now: datetime
) -> dict[str, Any]:
    # A clock that runs ahead must not shut out what comes after it.
    changed_at = min(one.changed_at or now, now)
    return {
        "source": source,
        "id_hash": hash_of(f"{source}\n{one.outside_id}"),
        "site_id": site_of(one.place),
        "place": "\n".join(one.place.keys)[:MAX_PLACE],
        "starts_at": one.starts_at,
        "ends_at": one.ends_at,
        "people": one.people,
        "status": one.status.value,
        "changed_at": changed_at,
        "version": one.version,
        "received_at": now,
    }


def _slot_row(source: str, one: SlotNotice, site_of: SiteOf, now: datetime) -> dict[str, Any]:
    return {
        "source": source,
        "slot_key": one.slot_key[:200],
        "site_id": site_of(one.place),
        "place": "\n".join(one.place.keys)[:MAX_PLACE],
        "starts_at": one.starts_at,
        "ends_at": one.ends_at,
        "status": one.status.value,
        "capacity_left": one.capacity_left,
        "received_at": now,
    }


def _keep_newest(connection: Connection) -> UpsertInsert:
    """An insert that changes a row only with a word that is not older, and leaves what the word does not say."""
    statement = upsert_insert(connection, appointments)
    new, old = statement.excluded, appointments.c
    is_placed = new.place != ""
    return statement.on_conflict_do_update(
        index_elements=["source", "id_hash"],
        set_={
            "site_id": case((is_placed, new.site_id), else_=old.site_id),
            "place": case((is_placed, new.place), else_=old.place),
            "starts_at": func.coalesce(new.starts_at, old.starts_at),
            "ends_at": case((new.starts_at.is_not(None), new.ends_at), else_=old.ends_at),
            "people": func.coalesce(new.people, old.people),
            "status": new.status,
            "changed_at": new.changed_at,
            "version": new.version,
            "received_at": new.received_at,
        },
        where=or_(new.changed_at > old.changed_at, (new.changed_at == old.changed_at) & (new.version >= old.version)),
    )


def _replace(connection: Connection, table: Table) -> UpsertInsert:
    statement = upsert_insert(connection, table)
    keys = list(table.primary_key.columns)
    changing = {column.name: statement.excluded[column.name] for column in table.columns if not column.primary_key}
    return statement.on_conflict_do_update(index_elements=keys, set_=changing)


def _run(connection: Connection, statement: Any, rows: Sequence[dict[str, Any]]) -> int:
    # Without the option psycopg's count of an INSERT is lost.
    return connection.execute(statement, list(rows), execution_options=_COUNTED).rowcount if rows else 0


def _note_sites(connection: Connection, source: str, site_ids: set[str], now: datetime) -> None:
    statement = upsert_insert(connection, appointment_sites)
    statement = statement.on_conflict_do_update(
        index_elements=["source", "site_id"], set_={"told_at": statement.excluded.told_at}
    )
    rows = [{"source": source, "site_id": one, "first_told_at": now, "told_at": now} for one in sorted(site_ids)]
    _run(connection, statement, rows)


def _count_doses(connection: Connection, source: str, doses: Sequence[DosesNotice], site_of: SiteOf) -> list[str]:
    """Add doses to their site's day; gives the places that are no site."""
    statement = upsert_insert(connection, doses_told)
    statement = statement.on_conflict_do_update(
        index_elements=["source", "site_id", "given_on"],
        set_={"doses": doses_told.c.doses + statement.excluded.doses},
    )
    unplaced = []
    for one in doses:
        site_id = site_of(one.place)
        if site_id is None:
            unplaced.append("\n".join(one.place.keys))
            continue
        row = {"source": source, "site_id": site_id, "given_on": one.given_on, "doses": one.doses}
        connection.execute(statement, row)
    return unplaced


def _told_sites(connection: Connection, heard_since: datetime, first_before: datetime) -> set[str]:
    table = appointment_sites.c
    heard = select(table.source).group_by(table.source).having(func.max(table.told_at) >= heard_since)
    statement = select(table.site_id).where(table.source.in_(heard), table.first_told_at <= first_before)
    return set(connection.execute(statement).scalars())


def _place_rows(connection: Connection, table: Table, site_of: SiteOf) -> int:
    places = select(table.c.place).where(table.c.site_id.is_(None), table.c.place != "").distinct()
    placed = 0
    for place in connection.execute(places).scalars().all():
        site_id = site_of(Place(tuple(place.split("\n"))))
        if site_id is None:
            continue
        here = (table.c.site_id.is_(None), table.c.place == place)
        if table is appointments:
            _note_placed(connection, site_id, here)
        placed += connection.execute(update(table).where(*here).values(site_id=site_id)).rowcount
    return placed


def _note_placed(connection: Connection, site_id: str, here: tuple[Any, ...]) -> None:
    received = select(appointments.c.source, func.max(appointments.c.received_at)).where(*here)
    for source, told_at in connection.execute(received.group_by(appointments.c.source)).all():
        _note_sites(connection, source, {site_id}, told_at)
