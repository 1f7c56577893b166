"""
The answer to an HL7 v2 message: ACK in original mode (HL7 v2.8, chapter 2, sections 2.9.2 and 2.14).

AA is said after the message is stored. AE: the message cannot be used as it is, sending it again changes nothing. AR:
it is not for this door, or nobody can take it now (ERR-3 207: send it again later).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from doseflow.intake.hl7_message import Hl7Message


class AnswerCode(StrEnum):
    """MSA-1, HL7 table 0008."""

    ACCEPT = "AA"
    ERROR = "AE"
    REJECT = "AR"


class ErrorCode(StrEnum):
    """ERR-3, HL7 table 0357."""

    SEGMENT_SEQUENCE = "100"
    REQUIRED_FIELD_MISSING = "101"
    UNSUPPORTED_MESSAGE = "200"
    UNSUPPORTED_EVENT = "201"
    UNKNOWN_KEY = "204"
    INTERNAL = "207"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of a message: for anything but AA a code, the field and a sentence."""

    code: AnswerCode
    error: ErrorCode | None = None
    field: str = ""
    text: str = ""


def answer_bytes(message: Hl7Message | None, answer: Answer, now: datetime, own_id: str) -> bytes:
    """The acknowledgement as bytes, in the character set of the message; one that could not be read has no MSA-2."""
    event = message.header.text(9, 2) if message else ""
    kind = f"ACK^{event}^ACK" if event else "ACK"
    version = (message.header.text(12) if message else "") or "2.5.1"
    processing = (message.header.text(11) if message else "") or "P"
    to_whom = _raw_fields(message, 3, 4)
    from_whom = _raw_fields(message, 5, 6) if message else ["doseflow", ""]
    stamp = f"{now.astimezone(UTC):%Y%m%d%H%M%S}+0000"
    own_charset = _raw_fields(message, 18, 18)[0]
    header = ["MSH", "^~\\&", *from_whom, *to_whom, stamp, "", kind, own_id, _plain(processing), _plain(version)]
    header += ["", "", "", "", "", own_charset]
    lines = [
        "|".join(header).rstrip("|"),
        "|".join(("MSA", answer.code, _plain(message.control_id if message else ""))),
    ]
    if answer.error is not None:
        lines.append(_error_line(answer, answer.error))
    charset = message.charset if message else "utf-8"
    return ("\r".join(lines) + "\r").encode(charset, "replace")


def _error_line(answer: Answer, error: ErrorCode) -> str:
    segment, _, field = answer.field.partition("-")
    position = f"{segment}^1^{field.partition('.')[0]}".rstrip("^") if field else segment
    code = f"{error}^{error.name.replace('_', ' ').lower()}^HL70357"
    sentence = f"{answer.field}: {answer.text}" if answer.field else answer.text
    return "|".join(("ERR", "", position, code, "E", "", "", "", _plain(sentence)))


def _raw_fields(message: Hl7Message | None, *fields: int) -> list[str]:
    """Fields of the header with its own delimiters turned into ours, which the answer names."""
    if message is None:
        return [""] * len(fields)
    return ["^".join(_plain(part) for part in message.header.components(field)) for field in fields]


def _plain(text: str) -> str:
    """Text with nothing in it that would divide it."""
    for mark, escape in (("\\", "\\E\\"), ("|", "\\F\\"), ("^", "\\S\\"), ("~", "\\R\\"), ("&", "\\T\\")):
        text = text.replace(mark, escape)
    return "".join(char for char in text if char.isprintable())
