"""FhirDoor: a body of FHIR R4 appointments in, what became of each entry out, everything stored in between."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from doseflow.domain.appointment import SourceMessage
from doseflow.domain.caller import LOCAL_CALLER, Caller
from doseflow.errors import FhirIssue, ResourceRefused
from doseflow.intake.fhir_bundle import FhirBody, FhirEntry, read_fhir_body
from doseflow.live.appointment_desk import AppointmentDesk
from doseflow.ports import TakenMessage

ALL_OR_NOTHING = "transaction"


@dataclass(frozen=True, slots=True)
class FhirResult:
    """What became of one entry: taken, refused, or (neither) passed over; `is_foreign` is refused for its site."""

    entry: FhirEntry
    taken: TakenMessage | None = None
    refused: ResourceRefused | None = None
    is_foreign: bool = False


class FhirDoor:
    """Takes single Appointments and Bundles."""

    def __init__(self, desk: AppointmentDesk) -> None:
        self._desk = desk

    def take(self, body: bytes, caller: Caller) -> tuple[FhirBody, list[FhirResult]]:
        """
        Take a body; what is said to be taken is stored when this returns, what is refused is in quarantine.

        Raises
        ------
        ResourceRefused
            The body as a whole cannot be read, or an entry of a transaction cannot be used: nothing was taken.
        StoreUnavailable, EnvironmentUnfit
        """
        try:
            read = read_fhir_body(body)
        except ResourceRefused as error:
            # Of a body that cannot be read nothing is kept but its size: nobody knows what is in it.
            self._keep_refused(error, b"", len(body))
            raise
        source = "fhir" if caller == LOCAL_CALLER else f"fhir:{caller.name}"[:100]
        judged = [self._judged(entry, caller) for entry in read.entries]
        refused = [one for one in judged if one.refused is not None]
        for one in refused:
            if one.refused is not None:
                self._keep_refused(one.refused, one.entry.scrubbed, len(body))
        if read.bundle_type == ALL_OR_NOTHING:
            if refused:
                raise ResourceRefused(*_issues_of(refused))
            return read, self._taken_whole(source, judged)
        return read, [self._taken(source, one) for one in judged]

    def _judged(self, entry: FhirEntry, caller: Caller) -> FhirResult:
        if entry.refused is not None or entry.notice is None:
            return FhirResult(entry, refused=entry.refused)
        site_id = self._desk.places.site_of(entry.notice.place)
        if caller.site_ids is not None and (site_id is None or not caller.may_touch(site_id)):
            issue = FhirIssue("Appointment.participant", "must be at a site that this caller may speak for")
            return FhirResult(entry, refused=ResourceRefused(issue), is_foreign=True)
        return FhirResult(entry)

    def _taken(self, source: str, judged: FhirResult) -> FhirResult:
        if judged.refused is not None or judged.entry.notice is None:
            return judged
        return replace(judged, taken=self._desk.take(judged.entry.as_message(source)))

    def _taken_whole(self, source: str, judged: list[FhirResult]) -> list[FhirResult]:
        messages = [one.entry.as_message(source) for one in judged]
        content = "\n".join(message.message_id or "" for message in messages)
        whole = SourceMessage(
            source,
            content if any(message.message_id for message in messages) else None,
            tuple(notice for message in messages for notice in message.appointments),
            unknown_codes=tuple(code for message in messages for code in message.unknown_codes),
        )
        taken = self._desk.take(whole)
        return [replace(one, taken=taken) if one.entry.notice is not None else one for one in judged]

    def _keep_refused(self, error: ResourceRefused, scrubbed: bytes, num_bytes: int) -> None:
        first = error.issues[0]
        self._desk.refuse(first.expression, first.text, scrubbed, num_bytes)


def _issues_of(refused: Iterable[FhirResult]) -> list[FhirIssue]:
    return [
        FhirIssue(f"Bundle.entry[{one.entry.position}].resource / {issue.expression}"[:300], issue.text)
        for one in refused
        if one.refused is not None
        for issue in one.refused.issues
    ]
