"""Hl7Door: one HL7 v2 message in, its acknowledgement out, the message stored in between."""

from __future__ import annotations

import secrets
from zoneinfo import ZoneInfo

import structlog

from doseflow.domain.appointment import SourceMessage
from doseflow.errors import MessageRefused, StoreUnavailable
from doseflow.intake.hl7_answer import Answer, AnswerCode, ErrorCode, answer_bytes
from doseflow.intake.hl7_appointment import EVENTS, appointment_message
from doseflow.intake.hl7_doses import doses_message
from doseflow.intake.hl7_message import Hl7Message, read_message
from doseflow.intake.hl7_scrubbed import scrubbed
from doseflow.live.appointment_desk import AppointmentDesk

log = structlog.get_logger(__name__)
_LATER = Answer(AnswerCode.REJECT, ErrorCode.INTERNAL, "", "nobody can take messages now; send it again later")


class Hl7Door:
    """
    Takes SIU^S12 to S26 and VXU^V04; everything else is rejected by name.

    A VXU whose place is no site is answered AE, since its doses could be counted nowhere; an appointment whose place is
    no site is kept and listed, since it can be placed later.
    """

    def __init__(self, desk: AppointmentDesk, timezone: str) -> None:
        self._desk = desk
        self._zone = ZoneInfo(timezone)

    def answer(self, raw: bytes) -> bytes:
        """The acknowledgement of a message; AA only when it is stored."""
        message: Hl7Message | None = None
        try:
            message = read_message(raw)
            answer = self._taken(message, len(raw))
        except MessageRefused as error:
            answer = self._refused(message, error, len(raw))
        except StoreUnavailable:
            log.exception("hl7_message_not_stored")
            answer = _LATER
        return answer_bytes(message, answer, self._desk.clock.now(), secrets.token_hex(8))

    def too_large(self) -> bytes:
        """The acknowledgement of a message over the size limit, of which nothing is kept."""
        sentence = "the message is larger than the setting hl7.max_message_bytes allows"
        answer = Answer(AnswerCode.REJECT, ErrorCode.INTERNAL, "", sentence)
        return answer_bytes(None, answer, self._desk.clock.now(), secrets.token_hex(8))

    def _taken(self, message: Hl7Message, num_bytes: int) -> Answer:
        understood = understand(message, self._zone)
        if isinstance(understood, Answer):
            self._desk.refuse(understood.field, understood.text, scrubbed(message), num_bytes)
            return understood
        for one in understood.doses:
            if self._desk.places.site_of(one.place) is None:
                raise MessageRefused("RXA-11", "must be a place that the setting appointments.locations says is a site")
        self._desk.take(understood)
        return Answer(AnswerCode.ACCEPT)

    def _refused(self, message: Hl7Message | None, error: MessageRefused, num_bytes: int) -> Answer:
        # Of bytes that are no message nothing is kept but their number: nobody knows what is in them.
        kept = b"" if message is None else scrubbed(message)
        try:
            self._desk.refuse(error.field, error.reason, kept, num_bytes)
        except StoreUnavailable:
            log.exception("hl7_refusal_not_stored")
            return _LATER
        code = AnswerCode.REJECT if message is None else AnswerCode.ERROR
        kind = ErrorCode.UNKNOWN_KEY if error.field == "RXA-11" else ErrorCode.REQUIRED_FIELD_MISSING
        if "-" not in error.field:
            kind = ErrorCode.SEGMENT_SEQUENCE
        return Answer(code, kind, error.field, error.reason)


def understand(message: Hl7Message, zone: ZoneInfo) -> SourceMessage | Answer:
    """
    What a message says, or why it is not for us.

    Raises
    ------
    MessageRefused
    """
    code, event = message.header.text(9, 1), message.header.text(9, 2)
    if code == "VXU" and event == "V04":
        return doses_message(message)
    if code != "SIU":
        sentence = "must be SIU^S12 to SIU^S26, or VXU^V04"
        return Answer(AnswerCode.REJECT, ErrorCode.UNSUPPORTED_MESSAGE, "MSH-9", sentence)
    if event not in EVENTS:
        sentence = "must be one of the events S12 to S24 and S26"
        return Answer(AnswerCode.REJECT, ErrorCode.UNSUPPORTED_EVENT, "MSH-9", sentence)
    return appointment_message(message, zone)
