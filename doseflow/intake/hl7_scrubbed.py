"""What may be kept of an HL7 v2 message that was refused: fields of an allow-list, and nothing of anybody."""

from __future__ import annotations

import re

from doseflow.intake.hl7_message import Hl7Message, Segment

KEPT_FIELDS = {
    "MSH": (3, 4, 5, 6, 7, 9, 10, 11, 12, 18),
    "SCH": (9, 10, 25),
    "TQ1": (7, 8),
    "AIS": (4,),
    "AIL": (3, 6),
    "AIG": (8,),
    "AIP": (6,),
    "RXA": (3, 9, 20, 21),
}
"""Systems, kinds, moments, places and codes; ids of appointments and everything about people is left out."""
_SAFE = re.compile(r"[\w ^&.:+\-/]{0,80}", re.ASCII)


def scrubbed(message: Hl7Message) -> bytes:
    """The message with only what is allowed, a segment a line."""
    return "\r".join(_kept(segment) for segment in message.segments).encode()


def _kept(segment: Segment) -> str:
    allowed = KEPT_FIELDS.get(segment.name, ())
    last = max(allowed, default=0)
    fields = [segment.name]
    for position in range(1, min(last, len(segment.fields) - 1) + 1):
        text = segment.fields[position] if position in allowed else ""
        fields.append(text if _SAFE.fullmatch(text) else "?")
    return "|".join(fields)
