"""AppointmentDesk: takes what other systems tell of appointments, and reports each site's bookings before a cycle."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import orjson
import structlog

from doseflow.domain.appointment import SourceMessage
from doseflow.intake.site_places import SitePlaces
from doseflow.live.appointment_params import AppointmentParams
from doseflow.ports import AppointmentBook, Clock, QuarantinedReport, ReportStore, TakenMessage
from doseflow.units import PERIOD_MINUTES

if TYPE_CHECKING:
    from doseflow.live.live_city import Submission

FORGET_EVERY = timedelta(hours=1)
log = structlog.get_logger(__name__)


class AppointmentDesk:
    """
    Thread-safe; every door that appointments come through calls `take`.

    What a site's bookings are is told as a report of `booked_people` alone, through the door of all reports: it is a
    reading of the book as it stands, so that telling it twice counts nobody twice.

    Parameters
    ----------
    submit
        Takes a body of reports, as `LiveCity.submit` does.
    hash_of
        Keyed hash of an id.
    """

    def __init__(
        self,
        book: AppointmentBook,
        reports: ReportStore,
        places: SitePlaces,
        clock: Clock,
        submit: Callable[[bytes], Submission],
        hash_of: Callable[[str], str],
        params: AppointmentParams,
    ) -> None:
        self.book = book
        self.places = places
        self.clock = clock
        self._reports = reports
        self._submit = submit
        self._hash_of = hash_of
        self._params = params
        self._lock = threading.Lock()
        self._forgot_at = clock.now()
        num_placed = book.place_again(places.site_of)
        if num_placed:
            log.info("appointments_placed", rows=num_placed)

    def take(self, message: SourceMessage) -> TakenMessage:
        """
        Keep a message; when this returns it is stored.

        Raises
        ------
        StoreUnavailable
        """
        return self.book.take(message, self.places.site_of, self._hash_of, self.clock.now())

    def refuse(self, field: str, reason: str, scrubbed: bytes, num_bytes: int) -> None:
        """
        Keep what could not be used, for the operator; `scrubbed` holds nothing of anybody.

        Raises
        ------
        StoreUnavailable
        """
        kept = QuarantinedReport(None, self.clock.now(), None, field, reason, scrubbed, num_bytes)
        self._reports.quarantine([kept])

    def mark(self, source: str, *, ok: bool, text: str = "") -> None:
        """
        Note that a source was heard, or that it could not be asked and why.

        Raises
        ------
        StoreUnavailable
        """
        self.book.mark(source, self.clock.now(), ok, text)

    def booked_people(self) -> tuple[datetime, dict[str, tuple[int, ...]]]:
        """The last period mark, and the people booked in the eight quarter hours after it by site that is known."""
        now = self.clock.now()
        mark = _period_mark(now)
        params = self._params
        return mark, self.book.booked_people(
            mark,
            heard_since=now - timedelta(hours=params.silent_after_hours),
            first_before=now - timedelta(hours=params.warm_up_hours),
        )

    def tell(self) -> int:
        """Report the bookings as they stand, each site's once a period unless they changed; how many reports."""
        with self._lock:
            self._forget()
            mark, bins = self.booked_people()
            if not bins:
                return 0
            told = self.book.told_reports()
            ids = {site_id: _report_id(mark, people) for site_id, people in bins.items()}
            new = [site_id for site_id in sorted(bins) if told.get(site_id) != ids[site_id]]
            if not new:
                return 0
            self._submit(orjson.dumps([_report(site_id, mark, ids[site_id], bins[site_id]) for site_id in new]))
            self.book.note_told({site_id: ids[site_id] for site_id in new})
            return len(new)

    def _forget(self) -> None:
        now = self.clock.now()
        if now - self._forgot_at < FORGET_EVERY:
            return
        self._forgot_at = now
        self.book.forget_before(now - timedelta(days=self._params.keep_days))


def _period_mark(now: datetime) -> datetime:
    return now.replace(minute=now.minute - now.minute % PERIOD_MINUTES, second=0, microsecond=0)


def _report_id(mark: datetime, people: tuple[int, ...]) -> str:
    digest = hashlib.blake2b(repr(people).encode(), digest_size=6).hexdigest()
    # Time first, so that the ids of one moment lie together in the index of whoever keeps them.
    return f"{mark.astimezone(UTC):%Y%m%dT%H%MZ}-bookings-{digest}"


def _report(site_id: str, mark: datetime, report_id: str, people: tuple[int, ...]) -> dict[str, object]:
    return {"site_id": site_id, "valid_at": mark, "report_id": report_id, "booked_people": people}
