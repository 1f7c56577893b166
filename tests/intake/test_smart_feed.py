from __future__ import annotations

import contextlib
import json
from collections import Counter

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interface_files import NDJSON_FILES, PACKAGED

from doseflow.domain.appointment import SlotStatus
from doseflow.errors import MessageRefused
from doseflow.intake.smart_feed import FeedCatalogue, read_manifest

SLOT = {
    "resourceType": "Slot",
    "id": "116",
    "schedule": {"reference": "Schedule/116"},
    "status": "free",
    "start": "2026-05-04T09:00:00-05:00",
    "end": "2026-05-04T18:00:00-05:00",
    "extension": [
        {"url": "http://fhir-registry.smarthealthit.org/StructureDefinition/slot-capacity", "valueInteger": 33},
        {"url": "x", "valueUrl": 7},
    ],
}


def taken(*kinds_and_resources) -> list:
    catalogue = FeedCatalogue()
    return [catalogue.read_line(kind, orjson.dumps(resource)) for kind, resource in kinds_and_resources]


@pytest.mark.parametrize("path", NDJSON_FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_every_line_of_the_examples_is_understood(path) -> None:
    kind = {"l": "Location", "s": "Schedule"}[path.name[0]] if not path.name.startswith("slots") else "Slot"
    catalogue, lines = FeedCatalogue(), path.read_bytes().splitlines()
    slots = [catalogue.read_line(kind, line) for line in lines]
    if kind == "Slot":
        rows = [json.loads(line) for line in lines]
        assert len({slot.slot_key for slot in slots}) == len(
            {(row["schedule"]["reference"], row["start"]) for row in rows}
        )
        assert Counter(slot.status for slot in slots) == Counter(row["status"] for row in rows)
    else:
        assert len(catalogue.locations if kind == "Location" else catalogue.schedules) == len(lines)


def test_a_day_long_slot_keeps_its_capacity_and_repeated_ids_are_different_slots() -> None:
    catalogue = FeedCatalogue()
    folder = PACKAGED / "rite_aid_nj"
    for name, kind in (("locations-NJ", "Location"), ("schedules-NJ", "Schedule")):
        for line in (folder / f"{name}.ndjson").read_bytes().splitlines():
            catalogue.read_line(kind, line)
    slots = [catalogue.read_line("Slot", line) for line in (folder / "slots-NJ.ndjson").read_bytes().splitlines()]
    assert len({slot.slot_key for slot in slots}) == 112
    first, second = slots[0], slots[1]
    assert (first.status, first.capacity_left) == (SlotStatus.BUSY, 0)
    assert (second.status, second.capacity_left, second.ends_at - second.starts_at) == (
        SlotStatus.FREE, 33, second.ends_at.replace(hour=23) - second.starts_at.replace(hour=14),
    )  # fmt: skip
    assert first.place.keys[0] == "https://cdc.gov/vaccines/programs/vtrcks|RA1000116"
    assert first.place.latitude == 39.4056


def test_unused_parts_may_be_as_careless_as_they_are() -> None:
    place = {
        "resourceType": "Location",
        "id": "1",
        "telecom": [],
        "name": 5,
        "position": {"latitude": "x"},
        "identifier": [{}],
    }
    slot = SLOT | {"comment": 7, "specialty": []}
    [_, notice] = taken(("Location", place), ("Slot", slot))
    assert notice.capacity_left == 33


@pytest.mark.parametrize(
    ("resource", "field"),
    [
        (SLOT | {"status": "open"}, "Slot.status"),
        (SLOT | {"start": "2026-05-04T09:00:00"}, "Slot.start"),
        (SLOT | {"end": "2026-05-04T08:00:00-05:00"}, "Slot.end"),
        ({name: SLOT[name] for name in SLOT if name != "schedule"}, "Slot.schedule"),
        (SLOT | {"resourceType": "Patient"}, "resourceType"),
        ([], "resourceType"),
    ],
)
def test_a_line_that_cannot_be_used_is_refused_by_its_field(resource, field: str) -> None:
    with pytest.raises(MessageRefused) as refused:
        taken(("Slot", resource))
    assert refused.value.field == field


def test_files_come_in_the_order_in_which_they_must_be_read_and_addresses_are_made_whole() -> None:
    body = orjson.dumps(
        {
            "transactionTime": "2026-05-04T09:00:00Z",
            "output": [
                {"type": "Slot", "url": "slots.ndjson"},
                {"type": "Location", "url": "https://other.example.org/l.ndjson"},
                {"type": "Patient", "url": "p"},
                {"type": "Schedule"},
                7,
            ],
        }
    )
    manifest = read_manifest(b"\xef\xbb\xbf" + body, "https://a.example.org/x/$bulk-publish")
    assert [(file.kind, file.url) for file in manifest.files] == [
        ("Location", "https://other.example.org/l.ndjson"),
        ("Slot", "https://a.example.org/x/slots.ndjson"),
    ]


@settings(max_examples=200)
@given(st.sampled_from(["Location", "Schedule", "Slot"]), st.binary(max_size=300), st.integers(0, 400))
def test_a_line_with_any_bytes_is_understood_or_refused(kind: str, put: bytes, at: int) -> None:
    line = orjson.dumps(SLOT | {"resourceType": kind})
    for raw in (put, line[:at] + put + line[at + len(put) :], line[:at]):
        # None is an empty line, or a line that was remembered; anything else but a slot would be an error of ours.
        with contextlib.suppress(MessageRefused):
            slot = FeedCatalogue().read_line(kind, raw)
            assert slot is None or slot.ends_at >= slot.starts_at
