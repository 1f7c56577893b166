"""GET /api/v1/appointments: what other systems told of bookings and free slots, and which places are no site yet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from fastapi import APIRouter

from doseflow.live.appointment_desk import AppointmentDesk
from doseflow.web.actions import needs
from doseflow.web.error_responses import STORE_UNAVAILABLE, documented
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving

SLOT_DAYS = 7
DOSES_DAYS = 7
router = APIRouter(prefix="/api/v1", tags=["appointments"])


@dataclass(frozen=True, slots=True)
class SourceHeard:
    """A source of appointments, and when it last told of one at a site."""

    source: str
    told_at: datetime


@dataclass(frozen=True, slots=True)
class SiteBookings:
    """People booked at a site in each of the eight quarter hours after `from_at` of the answer."""

    site_id: str
    booked_people: list[int]


@dataclass(frozen=True, slots=True)
class SiteSlots:
    """Free slots of a site in the coming days; `capacity_left` is null where the publisher tells none."""

    source: str
    site_id: str
    slots: int
    capacity_left: int | None
    told_at: datetime


@dataclass(frozen=True, slots=True)
class UnplacedRow:
    """Appointments or slots of a place that nobody has said to be a site; `place` are names for the settings."""

    source: str
    place: list[str]
    kind: str
    number: int
    told_at: datetime


@dataclass(frozen=True, slots=True)
class DosesRow:
    """Doses that messages said were given at a site on a day; never mixed with the site's own count."""

    source: str
    site_id: str
    given_on: str
    doses: int


@dataclass(frozen=True, slots=True)
class AppointmentsAnswer:
    """What the book says now; everything is empty where no door for appointments is on."""

    now: datetime
    is_on: bool
    from_at: datetime | None
    sources: list[SourceHeard]
    sites: list[SiteBookings]
    slots: list[SiteSlots]
    unplaced: list[UnplacedRow]
    doses: list[DosesRow]


@router.get("/appointments", responses={200: {"model": AppointmentsAnswer}, **documented(STORE_UNAVAILABLE)})
@needs("appointment.read")
def get_appointments(living: AskLiving) -> JsonAnswer:
    """What other systems have told of appointments."""
    desk, now = living.live.appointments, living.live.clock.now()
    if desk is None:
        return JsonAnswer(AppointmentsAnswer(now, False, None, [], [], [], [], []))
    return JsonAnswer(_answer(desk, now))


def _answer(desk: AppointmentDesk, now: datetime) -> AppointmentsAnswer:
    from_at, bookings = desk.booked_people()
    slots = desk.book.slots_left(now, now + timedelta(days=SLOT_DAYS))
    return AppointmentsAnswer(
        now=now,
        is_on=True,
        from_at=from_at,
        sources=[SourceHeard(source, told_at) for source, told_at in sorted(desk.book.sources().items())],
        sites=[SiteBookings(site_id, list(people)) for site_id, people in sorted(bookings.items())],
        slots=[SiteSlots(one.source, one.site_id, one.slots, one.capacity_left, one.told_at) for one in slots],
        unplaced=[
            UnplacedRow(one.source, list(one.place), one.kind, one.number, one.told_at) for one in desk.book.unplaced()
        ],
        doses=[DosesRow(*row) for row in desk.book.doses_told(now - timedelta(days=DOSES_DAYS))],
    )
