"""
An appointment as another system keeps it, and what one message says of it.

Who has the appointment is never here: people are counted, and the other system's id lives only until it is hashed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

MAX_PEOPLE = 10_000
"""People of one appointment or slot; more is a slip of the sender."""


class AppointmentStatus(StrEnum):
    """Where an appointment stands; only the people of `booked` ones are still expected."""

    PENDING = "pending"
    BOOKED = "booked"
    ARRIVED = "arrived"
    FULFILLED = "fulfilled"
    CANCELLED = "cancelled"
    NOSHOW = "noshow"


class SlotStatus(StrEnum):
    """FHIR R4 `Slot.status`, value set slotstatus."""

    FREE = "free"
    BUSY = "busy"
    BUSY_UNAVAILABLE = "busy-unavailable"
    BUSY_TENTATIVE = "busy-tentative"
    ENTERED_IN_ERROR = "entered-in-error"


@dataclass(frozen=True, slots=True)
class UnknownCode:
    """A code that a message used and we do not know; it is kept and shown, and the rest of the message counts."""

    system: str
    code: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """
    Where another system says that something is.

    Parameters
    ----------
    keys
        Its names, `system|value` or `Location/id`, the most telling first.
    latitude, longitude
        Degrees, None where it does not say.
    """

    keys: tuple[str, ...] = ()
    latitude: float | None = None
    longitude: float | None = None


@dataclass(frozen=True, slots=True)
class AppointmentNotice:
    """
    What one message says of one appointment; None is what it does not say, and what was known of it stands.

    Parameters
    ----------
    outside_id
        The other system's id; never kept as it is.
    changed_at
        When the other system says that this became true, which orders messages that come late; None is on receipt.
    version
        Orders messages of the same moment.
    """

    outside_id: str
    status: AppointmentStatus
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    people: int | None = None
    place: Place = Place()
    changed_at: datetime | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class SlotNotice:
    """
    A bookable stretch of time as a publisher offers it.

    `slot_key` is schedule and start, since publishers repeat the ids of slots; `capacity_left` is how many more may
    book it, None where the publisher does not say.
    """

    slot_key: str
    status: SlotStatus
    starts_at: datetime
    ends_at: datetime
    capacity_left: int | None = None
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class DosesNotice:
    """Doses that a message says were given at a place on a day of the site."""

    given_on: date
    doses: int
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """
    One message of one source, understood.

    `message_id` makes a repeat recognisable; None where the source gives none, and then everything in it must do no
    harm twice.
    """

    source: str
    message_id: str | None = None
    appointments: tuple[AppointmentNotice, ...] = ()
    slots: tuple[SlotNotice, ...] = ()
    doses: tuple[DosesNotice, ...] = ()
    unknown_codes: tuple[UnknownCode, ...] = ()
