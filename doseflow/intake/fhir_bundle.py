"""
What comes through the FHIR door: one Appointment, or a Bundle of them (hl7.org/fhir/R4/bundle.html).

Of type batch, transaction, collection, message, searchset or history: entries are judged one by one, but a transaction
is taken whole or not at all. Other resources of a Bundle are read for what they say of places, or passed over.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from doseflow.domain.appointment import AppointmentNotice, AppointmentStatus, Place, SourceMessage, UnknownCode
from doseflow.errors import FhirIssue, ResourceRefused
from doseflow.intake.fhir_appointment import STATUSES, appointment_notice
from doseflow.intake.fhir_place import place_of_location
from doseflow.intake.json_text import parse_json

MAX_ENTRIES = 10_000
_LOCATION = "Location"
_LIKE_A_MOMENT = re.compile(r"[0-9T:.Z+\-]{1,40}", re.ASCII)


@dataclass(frozen=True, slots=True)
class FhirEntry:
    """
    One entry understood: an appointment, a refusal, or neither (a resource that is passed over).

    `content_id` names the entry's content, for senders that do not order what they say; empty where once is as good as
    twice.
    """

    position: int
    resource_type: str
    notice: AppointmentNotice | None = None
    unknown_codes: tuple[UnknownCode, ...] = ()
    refused: ResourceRefused | None = None
    scrubbed: bytes = b""
    content_id: str = ""

    def as_message(self, source: str) -> SourceMessage:
        """The entry as a message of its own, known again by its content where the sender says no moment of change."""
        if self.notice is None:
            return SourceMessage(source)
        message_id = None if self.notice.changed_at or self.notice.version else self.content_id or None
        return SourceMessage(source, message_id, (self.notice,), unknown_codes=self.unknown_codes)


@dataclass(frozen=True, slots=True)
class FhirBody:
    """A body understood; `bundle_type` is empty for a single resource."""

    bundle_type: str
    entries: tuple[FhirEntry, ...]


def read_fhir_body(body: bytes) -> FhirBody:
    """
    Read a body.

    Raises
    ------
    ResourceRefused
        It is not JSON, or neither an Appointment nor a Bundle that can be read at all.
    EnvironmentUnfit
        The library that checks is not installed.
    """
    try:
        document = parse_json(body)
    except ValueError as error:
        raise ResourceRefused(FhirIssue("body", str(error))) from error
    kind = document.get("resourceType") if isinstance(document, Mapping) else None
    if kind == "Appointment":
        return FhirBody("", (_read_resource(0, document, {}),))
    if kind != "Bundle":
        raise ResourceRefused(FhirIssue("resourceType", "must be Appointment or Bundle"))
    return _read_bundle(document)


def _read_bundle(bundle: Mapping[str, Any]) -> FhirBody:
    bundle_type, entries = bundle.get("type"), bundle.get("entry", [])
    if not isinstance(bundle_type, str) or not bundle_type.replace("-", "").isalpha():
        raise ResourceRefused(FhirIssue("Bundle.type", "must be given, such as batch or transaction"))
    if not isinstance(entries, list) or len(entries) > MAX_ENTRIES:
        raise ResourceRefused(FhirIssue("Bundle.entry", f"must be a list of at most {MAX_ENTRIES} entries"))
    known = _known_places(entries)
    return FhirBody(bundle_type, tuple(_read_entry(position, one, known) for position, one in enumerate(entries)))


def _known_places(entries: list[Any]) -> dict[str, Place]:
    known = {}
    for entry in entries:
        resource = entry.get("resource") if isinstance(entry, Mapping) else None
        if isinstance(resource, Mapping) and resource.get("resourceType") == _LOCATION:
            place = place_of_location(resource)
            for name in (entry.get("fullUrl"), f"{_LOCATION}/{resource.get('id')}"):
                if isinstance(name, str):
                    known[name] = place
    return known


def _read_entry(position: int, entry: Any, known: Mapping[str, Place]) -> FhirEntry:
    if not isinstance(entry, Mapping):
        return FhirEntry(
            position, "", refused=ResourceRefused(FhirIssue(f"Bundle.entry[{position}]", "must be an object"))
        )
    request, resource = entry.get("request"), entry.get("resource")
    if isinstance(request, Mapping) and request.get("method") == "DELETE":
        return _read_deletion(position, str(request.get("url", "")))
    if not isinstance(resource, Mapping):
        where = f"Bundle.entry[{position}].resource"
        return FhirEntry(position, "", refused=ResourceRefused(FhirIssue(where, "must be given")))
    if resource.get("resourceType") != "Appointment":
        return FhirEntry(position, str(resource.get("resourceType"))[:60])
    return _read_resource(position, resource, known)


def _read_deletion(position: int, url: str) -> FhirEntry:
    kind, _, own_id = url.rpartition("/")
    if kind.rpartition("/")[2] != "Appointment" or not own_id:
        return FhirEntry(position, kind.rpartition("/")[2][:60])
    notice = AppointmentNotice(f"Appointment/{own_id}", AppointmentStatus.CANCELLED)
    return FhirEntry(position, "Appointment", notice)


def _read_resource(position: int, resource: Mapping[str, Any], known: Mapping[str, Place]) -> FhirEntry:
    scrubbed = scrubbed_appointment(resource)
    try:
        notice, unknown = appointment_notice(resource, known)
    except ResourceRefused as error:
        return FhirEntry(position, "Appointment", refused=error, scrubbed=scrubbed)
    content = hashlib.blake2b(orjson.dumps(resource, option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()
    return FhirEntry(position, "Appointment", notice, unknown, scrubbed=scrubbed, content_id=content)


def scrubbed_appointment(resource: Mapping[str, Any]) -> bytes:
    """What may be kept of an Appointment that was refused: its status and moments, where they are such."""
    kept = {"resourceType": "Appointment"}
    if isinstance(resource.get("status"), str) and resource["status"] in STATUSES:
        kept["status"] = resource["status"]
    for name in ("start", "end"):
        if isinstance(resource.get(name), str) and _LIKE_A_MOMENT.fullmatch(resource[name]):
            kept[name] = resource[name]
    return orjson.dumps(kept)
