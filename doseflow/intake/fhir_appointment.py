"""
FHIR R4 Appointment (hl7.org/fhir/R4/appointment.html): read, and reduced to what is kept.

What it tells: where one appointment stands, for how many patients, when and where. What it cannot tell: whether it is
the last word. `meta.lastUpdated`, or else `meta.versionId`, orders what comes late; a resource with neither counts from
its receipt, and the same resource again is taken for a repeat.

Traps: a proposed or cancelled appointment may have no start; patients, practitioners and rooms are all participants;
the place may be a reference to a Location in the same Bundle, a contained one, an identifier or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from doseflow.domain.appointment import MAX_PEOPLE, AppointmentNotice, AppointmentStatus, Place, UnknownCode
from doseflow.errors import FhirIssue, ResourceRefused
from doseflow.intake.fhir_check import check_resource
from doseflow.intake.fhir_place import place_of_location, place_of_reference

STATUS_SYSTEM = "http://hl7.org/fhir/appointmentstatus"
STATUSES = {
    "proposed": AppointmentStatus.PENDING,
    "pending": AppointmentStatus.PENDING,
    "waitlist": AppointmentStatus.PENDING,
    "booked": AppointmentStatus.BOOKED,
    "checked-in": AppointmentStatus.ARRIVED,
    "arrived": AppointmentStatus.ARRIVED,
    "fulfilled": AppointmentStatus.FULFILLED,
    "cancelled": AppointmentStatus.CANCELLED,
    "entered-in-error": AppointmentStatus.CANCELLED,
    "noshow": AppointmentStatus.NOSHOW,
}
"""Value set appointmentstatus of R4, section 12.10.3."""
_CODE = re.compile(r"[a-z][a-z\-]{0,39}")


def appointment_notice(
    resource: Mapping[str, Any], known: Mapping[str, Place]
) -> tuple[AppointmentNotice, tuple[UnknownCode, ...]]:
    """
    What an Appointment says, and the codes of it that are not known here.

    Parameters
    ----------
    known
        Places of the Locations that came with it.

    Raises
    ------
    ResourceRefused
        FHIR R4 does not allow it, it has no id, or it is booked without a start.
    EnvironmentUnfit
        The library that checks is not installed.
    """
    check_resource(resource)
    code = str(resource.get("status", ""))
    status = STATUSES.get(code)
    # A code that no version of FHIR has says nothing of who comes: it is kept as not booked yet.
    unknown = () if status else (UnknownCode(STATUS_SYSTEM, code if _CODE.fullmatch(code) else "?"),)
    starts_at = moment_of(resource.get("start"))
    if status == AppointmentStatus.BOOKED and starts_at is None:
        raise ResourceRefused(
            FhirIssue("Appointment.start", "must be given unless proposed, cancelled or waitlist (app-3)")
        )
    meta = resource.get("meta") or {}
    notice = AppointmentNotice(
        outside_id=outside_id(resource),
        status=status or AppointmentStatus.PENDING,
        starts_at=starts_at,
        ends_at=moment_of(resource.get("end")),
        people=_patients(resource),
        place=_place(resource, known),
        changed_at=moment_of(meta.get("lastUpdated")),
        version=_version(meta.get("versionId")),
    )
    return notice, unknown


def outside_id(resource: Mapping[str, Any]) -> str:
    """
    The sender's id of an appointment: its `id`, else its first identifier.

    Raises
    ------
    ResourceRefused
    """
    if resource.get("id"):
        return f"Appointment/{resource['id']}"
    for identifier in resource.get("identifier") or ():
        if identifier.get("value"):
            return f"{identifier.get('system', '')}|{identifier['value']}"
    raise ResourceRefused(FhirIssue("Appointment.id", "must be given (an identifier with a value will do)"))


def moment_of(value: Any) -> datetime | None:
    """The moment of a FHIR instant, None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _version(value: Any) -> int:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9 else 0


def _participants(resource: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for participant in resource.get("participant") or ():
        actor = participant.get("actor")
        if isinstance(actor, Mapping):
            yield actor


def _patients(resource: Mapping[str, Any]) -> int | None:
    number = sum(
        actor.get("type") == "Patient" or "Patient/" in str(actor.get("reference", ""))
        for actor in _participants(resource)
    )
    return min(number, MAX_PEOPLE) or None


def _place(resource: Mapping[str, Any], known: Mapping[str, Place]) -> Place:
    contained = {
        f"#{one.get('id')}": place_of_location(one)
        for one in resource.get("contained") or ()
        if one.get("resourceType") == "Location"
    }
    for actor in _participants(resource):
        place = place_of_reference(actor, {**known, **contained})
        if place is not None:
            return place
    return Place()
