"""
HL7 v2 scheduling messages SIU^S12 to S26 (HL7 v2.8, chapter 10, sections 10.4.1 to 10.4.14).

What they tell: one appointment's booking, moving, cancelling and missing, at the moment it happens. What they cannot
tell: what was booked before the connection was made (load that first, or set `appointments.warm_up_hours`), and whether
somebody without an appointment comes.

Traps: the start stands in TQ1-7 (v2.5 and later), in a resource's segment, or in the fourth component of SCH-11
(v2.3); the status is the event's, since SCH-25 is optional and site-defined; SCH-2 is the scheduler's own id, SCH-1
the asking system's, and either may be missing; S23 and S24 block and open time and are nobody's appointment.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo

from doseflow.domain.appointment import (
    MAX_PEOPLE,
    AppointmentNotice,
    AppointmentStatus,
    Place,
    SourceMessage,
    UnknownCode,
)
from doseflow.errors import MessageRefused
from doseflow.intake.hl7_message import Hl7Message, Segment
from doseflow.intake.hl7_time import moment_of, zone_of

STATUS_BY_EVENT = {
    "S15": AppointmentStatus.CANCELLED,
    "S16": AppointmentStatus.CANCELLED,
    "S17": AppointmentStatus.CANCELLED,
    "S26": AppointmentStatus.NOSHOW,
}
"""Events that say where the appointment stands whatever SCH-25 says."""
BLOCKING_EVENTS = frozenset({"S23", "S24"})
EVENTS = frozenset(f"S{number}" for number in range(12, 25)) | {"S26"}
"""Trigger events of SIU that are understood; S25 is none of SIU's."""
STATUS_BY_FILLER = {
    "PENDING": AppointmentStatus.PENDING,
    "WAITLIST": AppointmentStatus.PENDING,
    "BLOCKED": AppointmentStatus.PENDING,
    "BOOKED": AppointmentStatus.BOOKED,
    "OVERBOOK": AppointmentStatus.BOOKED,
    "STARTED": AppointmentStatus.ARRIVED,
    "COMPLETE": AppointmentStatus.FULFILLED,
    "CANCELLED": AppointmentStatus.CANCELLED,
    "DC": AppointmentStatus.CANCELLED,
    "DELETED": AppointmentStatus.CANCELLED,
    "NOSHOW": AppointmentStatus.NOSHOW,
}
"""HL7 table 0278, filler status; of blocked time nobody is expected."""
FILLER_STATUS_SYSTEM = "HL70278"
MINUTES_BY_UNIT = {"S": 1 / 60, "SEC": 1 / 60, "MIN": 1.0, "M": 1.0, "MINUTES": 1.0, "H": 60.0, "HR": 60.0, "D": 1440.0}
MAX_DURATION_MINUTES = 31 * 1440
MAX_AHEAD = timedelta(days=800)
"""A message sent longer before the start has a made-up MSH-7, as test systems do: its receipt counts instead."""
_LIKE_A_CODE = re.compile(r"[A-Za-z0-9_\-]{1,20}")
_RESOURCES = (("AIS", 4), ("AIL", 6), ("AIG", 8), ("AIP", 6))
"""Segments of resources, and their field of the start."""


def source_of(message: Hl7Message) -> str:
    """Name of the sending system by MSH-3 and MSH-4."""
    names = "@".join(name for name in (message.header.text(3), message.header.text(4)) if name)
    names = "".join(char for char in names if char.isprintable())
    return f"hl7:{names}"[:100] if names else "hl7"


def message_id_of(message: Hl7Message) -> str:
    """The control id with a digest of the content: senders count from 1 again, and repeat with a new time."""
    digest = hashlib.blake2b(digest_size=16)
    for segment in message.segments[1:]:
        digest.update("\x1f".join(segment.fields).encode("utf-8", "surrogatepass") + b"\r")
    return f"{message.control_id}\n{digest.hexdigest()}"


def appointment_message(message: Hl7Message, zone: tzinfo) -> SourceMessage:
    """
    What an SIU message says.

    Parameters
    ----------
    zone
        The city's, for stamps of a message that names no offset.

    Raises
    ------
    MessageRefused
        No SCH, no id of the appointment, or a booking without a start.
    """
    event = message.header.text(9, 2)
    source, message_id = source_of(message), message_id_of(message)
    if event in BLOCKING_EVENTS:
        return SourceMessage(source, message_id)
    schedule = message.first("SCH")
    if schedule is None:
        raise MessageRefused("SCH", "must be given in a scheduling message")
    outside_id = _outside_id(schedule)
    zone = zone_of(message.header.text(7), zone)
    status, unknown = _status(event, schedule)
    starts_at = _start(message, zone)
    if starts_at is None and status == AppointmentStatus.BOOKED:
        raise MessageRefused("TQ1-7", "must be the start of the appointment, to the minute (AIS-4 or SCH-11.4 will do)")
    notice = AppointmentNotice(
        outside_id=outside_id,
        status=status,
        starts_at=starts_at and starts_at.astimezone(UTC),
        ends_at=_end(message, schedule, starts_at, zone),
        people=min(MAX_PEOPLE, max(1, len(message.named("PID")))),
        place=place_of(message),
        changed_at=_changed_at(moment_of(message.header.text(7), zone), starts_at),
    )
    return SourceMessage(source, message_id, (notice,), unknown_codes=unknown)


def place_of(message: Hl7Message) -> Place:
    """Where a message says that it happens: the location resource, else the visit's location, else who sends."""
    return Place(tuple(dict.fromkeys((*_location_keys(message), *_sender_keys(message)))))


def _outside_id(schedule: Segment) -> str:
    for field in (2, 1):
        found = schedule.text(field)
        if found:
            # The assigning authority belongs to it: two schedulers count from 1 both.
            return "^".join((found, *schedule.components(field)[1:])).rstrip("^")
    raise MessageRefused("SCH-2", "must be the scheduler's id of the appointment (SCH-1 will do)")


def _status(event: str, schedule: Segment) -> tuple[AppointmentStatus, tuple[UnknownCode, ...]]:
    if event in STATUS_BY_EVENT:
        return STATUS_BY_EVENT[event], ()
    code = schedule.text(25)
    known = STATUS_BY_FILLER.get(code.upper().replace("-", "").replace(" ", ""))
    if known is not None:
        return known, ()
    # What does not look like a code may be anything, somebody's name too.
    shown = code if _LIKE_A_CODE.fullmatch(code) else "?"
    unknown = (UnknownCode(FILLER_STATUS_SYSTEM, shown),) if code else ()
    return AppointmentStatus.BOOKED, unknown


def _start(message: Hl7Message, zone: tzinfo) -> datetime | None:
    return next((found for stamp in _start_stamps(message) if (found := moment_of(stamp, zone)) is not None), None)


def _start_stamps(message: Hl7Message) -> Iterator[str]:
    for timing in message.named("TQ1"):
        yield timing.text(7)
    for name, field in _RESOURCES:
        for resource in message.named(name):
            yield resource.text(field)
    for schedule in message.named("SCH"):
        yield schedule.text(11, 4)


def _end(message: Hl7Message, schedule: Segment, starts_at: datetime | None, zone: tzinfo) -> datetime | None:
    if starts_at is None:
        return None
    stamps = [timing.text(8) for timing in message.named("TQ1")] + [schedule.text(11, 5)]
    for stamp in stamps:
        end = moment_of(stamp, zone)
        if end is not None and timedelta() < end - starts_at <= timedelta(minutes=MAX_DURATION_MINUTES):
            return end.astimezone(UTC)
    minutes = _duration_minutes(schedule)
    return None if minutes is None else _later(starts_at, minutes)


def _duration_minutes(schedule: Segment) -> float | None:
    per_unit = MINUTES_BY_UNIT.get(schedule.text(10).upper())
    length = schedule.text(9)
    if per_unit is None or not (length.isascii() and length.isdigit() and len(length) < 8):
        return None
    minutes = int(length) * per_unit
    return minutes if 0 < minutes <= MAX_DURATION_MINUTES else None


def _later(moment: datetime, minutes: float) -> datetime | None:
    try:
        return moment.astimezone(UTC) + timedelta(minutes=minutes)
    except OverflowError:
        return None


def _changed_at(sent_at: datetime | None, starts_at: datetime | None) -> datetime | None:
    if sent_at is None or (starts_at is not None and starts_at - sent_at > MAX_AHEAD):
        return None
    return sent_at.astimezone(UTC)


def _location_keys(message: Hl7Message) -> Iterator[str]:
    for name, field in (("AIL", 3), ("PV1", 3)):
        for segment in message.named(name):
            parts = segment.components(field)
            if any(parts):
                yield f"{name}-{field}|{'^'.join(parts).rstrip('^')}"
            for component in (4, 1):
                if component <= len(parts) and parts[component - 1]:
                    yield f"{name}-{field}.{component}|{parts[component - 1]}"


def _sender_keys(message: Hl7Message) -> Iterator[str]:
    for part in message.header.components(4)[:2]:
        if part:
            yield f"MSH-4|{part}"
