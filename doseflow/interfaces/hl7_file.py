"""Files of HL7 v2 messages, one or several, with or without MLLP framing."""

from __future__ import annotations

import codecs
import re
from collections import Counter

from doseflow.domain.appointment import AppointmentNotice, DosesNotice, UnknownCode
from doseflow.errors import MessageRefused
from doseflow.intake.hl7_answer import Answer
from doseflow.intake.hl7_message import read_message
from doseflow.interfaces.file_reading import FileReading
from doseflow.interfaces.reading_context import ReadingContext
from doseflow.live.hl7_door import understand

_FRAMING = re.compile(rb"[\x0b\x1c]")
_NEXT_MESSAGE = re.compile(rb"(?:(?<=[\r\n])|^)(?:\xef\xbb\xbf)?(?=MSH.)")


def is_hl7(content: bytes) -> bool:
    """Whether a file begins as an HL7 v2 message does."""
    return (
        content[:4096]
        .lstrip(b"\x0b \t\r\n")
        .removeprefix(codecs.BOM_UTF8)
        .lstrip()
        .startswith((b"MSH", b"FHS", b"BHS"))
    )


def read_hl7_file(content: bytes, context: ReadingContext) -> FileReading:
    """Read each message of a file."""
    pieces = [piece for piece in _NEXT_MESSAGE.split(_FRAMING.sub(b"\r", content)) if piece.strip().startswith(b"MSH")]
    kinds: Counter[str] = Counter()
    kept: list[str] = []
    problems: list[str] = []
    unknown: list[UnknownCode] = []
    for number, piece in enumerate(pieces, start=1):
        try:
            message = read_message(piece)
            kinds[message.kind] += 1
            understood = understand(message, context.zone)
        except MessageRefused as error:
            problems.append(f"message {number}: {error}")
            continue
        if isinstance(understood, Answer):
            problems.append(f"message {number}: {understood.field}: {understood.text}")
            continue
        kept += [_appointment(one, context) for one in understood.appointments]
        kept += [_doses(one, context) for one in understood.doses]
        unknown += understood.unknown_codes
    if not pieces:
        problems.append("MSH: must begin a message")
    said = [f"{number} x {kind}" for kind, number in sorted(kinds.items())]
    return FileReading("HL7 v2", said, kept, unknown, problems)


def _appointment(one: AppointmentNotice, context: ReadingContext) -> str:
    starts_at = one.starts_at.isoformat() if one.starts_at else "no start said"
    return f"appointment: {one.status}, {starts_at}, people {one.people or 1}, {context.where(one.place)}"


def _doses(one: DosesNotice, context: ReadingContext) -> str:
    refused = "" if context.places.site_of(one.place) else "; answered AE until appointments.locations names it"
    return f"doses given: {one.doses} on {one.given_on.isoformat()}, {context.where(one.place)}{refused}"
