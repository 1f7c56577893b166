"""Files of one FHIR R4 resource: Appointments and Bundles as the door takes them, others checked and passed over."""

from __future__ import annotations

import re
from collections import Counter

from doseflow.domain.appointment import UnknownCode
from doseflow.errors import ResourceRefused
from doseflow.intake.fhir_bundle import FhirEntry, read_fhir_body
from doseflow.intake.fhir_check import check_resource
from doseflow.intake.json_text import parse_json
from doseflow.interfaces.file_reading import FileReading
from doseflow.interfaces.reading_context import ReadingContext

FORMAT = "FHIR R4"
_RESOURCE = re.compile(rb'"resourceType"\s*:\s*"[A-Za-z]+"')


def is_fhir(content: bytes) -> bool:
    """Whether a file looks like one JSON resource; several, a line each, are a feed's file."""
    if _RESOURCE.search(content) is None:
        return False
    try:
        document = parse_json(content)
    except ValueError:
        return content.count(b'"resourceType"') == 1
    return isinstance(document, dict) and "resourceType" in document


def read_fhir_file(content: bytes, context: ReadingContext) -> FileReading:
    """Read a resource as the door for FHIR R4 does."""
    try:
        document = parse_json(content)
        if document["resourceType"] not in {"Appointment", "Bundle"}:
            check_resource(document)
            return FileReading(FORMAT, [f"1 x {document['resourceType']}, well formed; the door does not take it"])
        read = read_fhir_body(content)
    except ResourceRefused as error:
        return FileReading(FORMAT, problems=[str(error)])
    except ValueError as error:
        return FileReading(FORMAT, problems=[f"body: {error}"])
    kinds = Counter(entry.resource_type for entry in read.entries)
    unknown: list[UnknownCode] = [code for entry in read.entries for code in entry.unknown_codes]
    return FileReading(
        FORMAT,
        [f"{number} x {kind}" for kind, number in sorted(kinds.items())],
        [_kept(entry, context) for entry in read.entries if entry.notice is not None],
        unknown,
        [f"entry {entry.position}: {entry.refused}" for entry in read.entries if entry.refused is not None],
    )


def _kept(entry: FhirEntry, context: ReadingContext) -> str:
    notice = entry.notice
    if notice is None:
        return ""
    starts_at = notice.starts_at.isoformat() if notice.starts_at else "no start said"
    return f"appointment: {notice.status}, {starts_at}, people {notice.people or 1}, {context.where(notice.place)}"
