from __future__ import annotations

import copy
import json
import sys
from datetime import UTC, datetime

import orjson
import pytest
from fhir.resources.R4B.operationoutcome import OperationOutcome
from hypothesis import given, settings
from hypothesis import strategies as st
from interface_files import APPOINTMENT_FILES

from doseflow.domain.appointment import AppointmentStatus
from doseflow.errors import EnvironmentUnfit, FhirIssue, ResourceRefused
from doseflow.intake import fhir_check
from doseflow.intake.fhir_bundle import read_fhir_body
from doseflow.intake.fhir_outcome import outcome_of_issues, outcome_of_sentence

BOOKED = {
    "resourceType": "Appointment",
    "id": "a1",
    "meta": {"lastUpdated": "2026-05-04T08:00:00+02:00", "versionId": "3"},
    "status": "booked",
    "start": "2026-05-04T09:30:00+05:45",
    "end": "2026-05-04T10:00:00+05:45",
    "participant": [
        {"actor": {"reference": "Patient/p1", "display": "Peter James Chalmers"}, "status": "accepted"},
        {"actor": {"reference": "Patient/p2"}, "status": "accepted"},
        {"actor": {"reference": "Practitioner/d"}, "status": "accepted"},
        {"actor": {"reference": "https://ehr.example.org/fhir/Location/7"}, "status": "accepted"},
    ],
}


def read(resource) -> list:
    return list(read_fhir_body(orjson.dumps(resource)).entries)


def changed(**parts):
    resource = copy.deepcopy(BOOKED) | parts
    return {name: value for name, value in resource.items() if value is not None}


@pytest.mark.parametrize("path", APPOINTMENT_FILES, ids=lambda path: path.name)
def test_every_example_is_understood(path) -> None:
    [entry] = read(json.loads(path.read_bytes()))
    assert entry.refused is None
    assert entry.notice.place.keys == ("Location/1",)
    is_booked = "examplereq" not in path.name
    assert entry.notice.status == (AppointmentStatus.BOOKED if is_booked else AppointmentStatus.PENDING)
    assert entry.notice.starts_at == (datetime(2013, 12, 10, 9, tzinfo=UTC) if is_booked else None)


def test_patients_are_counted_places_are_named_and_offsets_are_kept_to() -> None:
    [entry] = read(BOOKED)
    notice = entry.notice
    assert notice.people == 2
    assert notice.place.keys == ("Location/7",)
    assert notice.starts_at == datetime(2026, 5, 4, 3, 45, tzinfo=UTC)
    assert notice.changed_at == datetime(2026, 5, 4, 6, 0, tzinfo=UTC)
    assert notice.version == 3


@pytest.mark.parametrize(
    ("resource", "expression"),
    [
        (changed(start=None), "Appointment.start"),
        (changed(start="2026-05-04T09:30:00"), "Appointment.start"),
        (
            changed(participant=[{"status": "accepted", "actor": {"reference": 5}}]),
            "Appointment.participant[0].actor.reference",
        ),
        (changed(id=None), "Appointment.id"),
        (changed(chalmers="Chalmers"), "Appointment"),
    ],
)
def test_a_refusal_names_the_element_and_repeats_nobodys_name(resource, expression: str) -> None:
    [entry] = read(resource)
    assert entry.refused.issues[0].expression == expression
    assert "chalmers" not in (str(entry.refused) + entry.scrubbed.decode()).lower()


@pytest.mark.parametrize(
    ("status", "meant"),
    [
        ("checked-in", "arrived"), ("entered-in-error", "cancelled"), ("waitlist", "pending"), ("noshow", "noshow"),
        ("elsewhere", "pending"),
    ],
)  # fmt: skip
def test_each_status_of_r4_has_its_meaning_and_an_unknown_one_books_nobody(status: str, meant: str) -> None:
    [entry] = read(changed(status=status))
    assert entry.notice.status == meant
    assert [one.code for one in entry.unknown_codes] == (["elsewhere"] if status == "elsewhere" else [])


def test_a_location_of_the_same_bundle_gives_its_identifiers() -> None:
    location = {
        "resourceType": "Location",
        "id": "x",
        "name": "North clinic",
        "identifier": [{"system": "urn:clinics", "value": "77"}],
        "position": {"latitude": 50.1, "longitude": 14.4},
    }
    booked = changed(participant=[{"actor": {"reference": "urn:uuid:1"}, "status": "accepted"}])
    bundle = {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [
            {"resource": booked},
            {"fullUrl": "urn:uuid:1", "resource": location},
            {"resource": {"resourceType": "Patient"}},
        ],
    }
    first, second, third = read(bundle)
    assert first.notice.place.keys == ("urn:clinics|77", "Location/x")
    assert first.notice.place.latitude == 50.1
    assert (second.notice, third.notice, third.refused) == (None, None, None)


def test_a_contained_location_is_its_appointments_place() -> None:
    inside = [{"resourceType": "Location", "id": "l", "identifier": [{"system": "urn:clinics", "value": "77"}]}]
    [entry] = read(changed(contained=inside, participant=[{"actor": {"reference": "#l"}, "status": "accepted"}]))
    assert entry.notice.place.keys[0] == "urn:clinics|77"


def test_a_deletion_in_a_bundle_is_a_cancellation() -> None:
    bundle = {
        "resourceType": "Bundle",
        "type": "batch",
        "entry": [{"request": {"method": "DELETE", "url": "Appointment/a1"}}],
    }
    [entry] = read(bundle)
    [booked] = read(BOOKED)
    assert entry.notice.status == AppointmentStatus.CANCELLED
    assert entry.notice.outside_id == booked.notice.outside_id


@pytest.mark.parametrize("body", [b"", b"[", b"5", b"[]", b'{"resourceType":"Patient"}', b'{"resourceType":"Bundle"}'])
def test_a_body_that_is_neither_is_refused_whole(body: bytes) -> None:
    with pytest.raises(ResourceRefused):
        read_fhir_body(body)


def test_outcomes_are_outcomes_by_the_standards_own_model() -> None:
    OperationOutcome.model_validate(outcome_of_issues([FhirIssue("Appointment.start", "must be given")]))
    OperationOutcome.model_validate(outcome_of_sentence("it was taken"))


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
JSON = st.recursive(
    LEAVES,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=8), inside, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200)
@given(st.sampled_from([*BOOKED, "identifier", "contained", "slot", "extra"]), JSON, st.booleans())
def test_an_appointment_with_any_part_exchanged_is_understood_or_refused(name: str, value, in_bundle: bool) -> None:
    resource = BOOKED | {name: value}
    document = {"resourceType": "Bundle", "type": "batch", "entry": [{"resource": resource}]} if in_bundle else resource
    try:
        body = read_fhir_body(orjson.dumps(document))
    except (ResourceRefused, TypeError):  # integers beyond 64 bits are not written by orjson
        return
    assert len(body.entries) == 1


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_the_refusal(raw: bytes) -> None:
    with pytest.raises(ResourceRefused):
        read_fhir_body(raw)


def test_without_the_library_one_sentence_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "fhir.resources.R4B", None)
    fhir_check._model_of.cache_clear()
    with pytest.raises(EnvironmentUnfit, match=r"pip install 'doseflow\[fhir\]'"):
        fhir_check.require_fhir_library()
