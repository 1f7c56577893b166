"""
HL7 v2 vaccination updates VXU^V04 (HL7 v2.8, chapter 4A; CDC implementation guide for immunisation messaging 2.5.1).

What they tell: that a dose was given, at a place, on a day. What they cannot tell: in which five minutes. RXA-3 is
often a day alone and messages come hours later, so that they are counted by site and day beside the book and never
become a site's `doses_given`; that is the site's to tell.

Traps: histories of other clinics come in the same message (RXA-9 `01`), refused doses too (RXA-20 `RE`, RXA-6 `0` or
`999`), and corrections that delete (RXA-21 `D`); none of these is a dose given here.
"""

from __future__ import annotations

from collections.abc import Iterator

from doseflow.domain.appointment import DosesNotice, Place, SourceMessage
from doseflow.errors import MessageRefused
from doseflow.intake.hl7_appointment import message_id_of, place_of, source_of
from doseflow.intake.hl7_message import Hl7Message, Segment
from doseflow.intake.hl7_time import day_of

NEW_RECORD = "00"
"""NIP001: the dose was given by the sender, not taken from a record of somebody else."""
GIVEN = frozenset({"", "CP", "PA"})
"""HL7 table 0322, completion status: complete and partially administered; left out is complete."""
NOT_ADDED = frozenset({"D", "X"})
"""HL7 table 0206, action code: deleted, not there."""


def doses_message(message: Hl7Message) -> SourceMessage:
    """
    The doses that a VXU message says were given.

    Raises
    ------
    MessageRefused
        It tells of no administration at all.
    """
    given = message.named("RXA")
    if not given:
        raise MessageRefused("RXA", "must be given in a vaccination update")
    notices = tuple(_notice(message, one) for one in given if _is_dose_given_here(one))
    return SourceMessage(source_of(message), message_id_of(message), doses=notices)


def _is_dose_given_here(given: Segment) -> bool:
    amount = given.text(6)
    return (
        given.text(9) == NEW_RECORD
        and given.text(20) in GIVEN
        and given.text(21) not in NOT_ADDED
        and amount not in {"0", "999"}
    )


def _notice(message: Hl7Message, given: Segment) -> DosesNotice:
    given_on = day_of(given.text(3))
    if given_on is None:
        raise MessageRefused("RXA-3", "must begin with the day on which the dose was given")
    own = dict.fromkeys((*_site_keys(given), *place_of(message).keys))
    return DosesNotice(given_on, 1, Place(tuple(own)))


def _site_keys(given: Segment) -> Iterator[str]:
    for field, component in ((11, 4), (11, 1), (27, 4), (27, 1)):
        name = given.text(field, component)
        if name:
            yield f"RXA-{field}.{component}|{name}"
