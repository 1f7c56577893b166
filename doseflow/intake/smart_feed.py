"""
SMART Scheduling Links (smart-on-fhir/smart-scheduling-links, specification of 2021; HL7 implementation guide STU1): a
`$bulk-publish` manifest, and files of FHIR R4 Location, Schedule and Slot, one resource a line (ndjson).

What it tells: the capacity that a publisher offers, and how much of it is left. What it cannot tell: who comes. A slot
that is busy may be booked, blocked or never opened, and one that lasts a day tells nothing of its hours. Hence slots
are shown beside the book, and never become `booked_people`.

Traps: publishers repeat ids of slots, so that a slot is known by schedule and start; slots that last a day with a
capacity extension; manifests that name other hosts; a line cut off in the middle. Of a line only what is used here is
checked and kept: publishers are careless with addresses and telephones.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any
from urllib.parse import urljoin

import orjson

from doseflow.domain.appointment import MAX_PEOPLE, Place, SlotNotice, SlotStatus
from doseflow.errors import MessageRefused, ResourceRefused
from doseflow.intake.fhir_appointment import moment_of
from doseflow.intake.fhir_check import check_resource
from doseflow.intake.fhir_place import place_of_location, place_of_reference

KINDS = ("Location", "Schedule", "Slot")
"""Types of files, in the order in which they must be read."""
MAX_OUTPUTS = 10_000
MAX_PLACES = 200_000
"""Locations, and schedules, remembered of one feed: whoever sends new ones for ever must not fill the memory."""
CAPACITY_EXTENSION = "/slot-capacity"
_USED = {
    "Location": ("id", "identifier", "position"),
    "Schedule": ("id", "actor"),
    "Slot": ("id", "schedule", "status", "start", "end"),
}


@dataclass(frozen=True, slots=True)
class FeedFile:
    """A file that a manifest names."""

    kind: str
    url: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a publisher offers; `transaction_time` is what to ask for changes since, empty where it does not say."""

    transaction_time: str
    files: tuple[FeedFile, ...]


def read_manifest(body: bytes, url: str) -> Manifest:
    """
    Read a manifest.

    Raises
    ------
    MessageRefused
    """
    try:
        document = orjson.loads(body.removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError as error:
        raise MessageRefused("manifest", "must be JSON") from error
    outputs = document.get("output") if isinstance(document, dict) else None
    if not isinstance(outputs, list) or len(outputs) > MAX_OUTPUTS:
        raise MessageRefused("manifest.output", f"must be a list of at most {MAX_OUTPUTS} files")
    files = [FeedFile(kind, urljoin(url, where)) for one in outputs for kind, where in _output(one)]
    files.sort(key=lambda one: KINDS.index(one.kind))
    asked = document.get("transactionTime")
    return Manifest(asked if moment_of(asked) is not None else "", tuple(dict.fromkeys(files)))


def _output(one: Any) -> list[tuple[str, str]]:
    if not isinstance(one, dict) or one.get("type") not in KINDS or not isinstance(one.get("url"), str):
        return []
    return [(one["type"], one["url"])]


@dataclass
class FeedCatalogue:
    """What is known of a feed's places: Locations by id, and the place of each Schedule. Filled line by line."""

    locations: dict[str, Place] = field(default_factory=dict)
    schedules: dict[str, str] = field(default_factory=dict)

    def read_line(self, kind: str, line: bytes) -> SlotNotice | None:
        """
        Take one line: a Slot gives a notice, the others are remembered; an empty line gives nothing.

        Raises
        ------
        MessageRefused
            The line is not a resource of this kind that can be used.
        EnvironmentUnfit
            The library that checks is not installed.
        """
        line = line.removeprefix(codecs.BOM_UTF8).strip()
        if not line:
            return None
        resource = _resource(kind, line)
        if max(len(self.locations), len(self.schedules)) >= MAX_PLACES and kind != "Slot":
            raise MessageRefused(kind, f"must be one of at most {MAX_PLACES} of a feed")
        if kind == "Location":
            self.locations[_own_name(resource)] = place_of_location(resource)
            return None
        if kind == "Schedule":
            self._remember_schedule(resource)
            return None
        return self._slot(resource)

    def _remember_schedule(self, schedule: Mapping[str, Any]) -> None:
        for actor in schedule.get("actor") or ():
            place = place_of_reference(actor, {})
            if place is not None and place.keys:
                self.schedules[_own_name(schedule)] = place.keys[0]
                return
        raise MessageRefused("Schedule.actor", "must refer to a Location")

    def _slot(self, slot: Mapping[str, Any]) -> SlotNotice:
        starts_at, ends_at = moment_of(slot.get("start")), moment_of(slot.get("end"))
        if starts_at is None or ends_at is None or ends_at < starts_at:
            raise MessageRefused("Slot.end", "must be given with Slot.start and not before it")
        status = slot.get("status")
        if status not in set(SlotStatus):
            raise MessageRefused("Slot.status", f"must be one of {', '.join(SlotStatus)}")
        schedule = _relative(str((slot.get("schedule") or {}).get("reference", "")), "Schedule")
        return SlotNotice(
            slot_key=f"{schedule}@{starts_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
            status=SlotStatus(status),
            starts_at=starts_at,
            ends_at=ends_at,
            capacity_left=_capacity_left(slot),
            place=self._place(schedule),
        )

    def _place(self, schedule: str) -> Place:
        location = self.schedules.get(schedule)
        if location is None:
            return Place((schedule,))
        return self.locations.get(location, Place((location,)))


def _resource(kind: str, line: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise MessageRefused(kind, "must be one JSON object a line") from error
    if not isinstance(document, dict) or document.get("resourceType") != kind:
        raise MessageRefused("resourceType", f"must be {kind} in this file")
    used = {name: document[name] for name in _USED[kind] if document.get(name) is not None}
    if kind == "Location":
        used = _plain_location(used)
    extensions = document.get("extension")
    if kind == "Slot" and isinstance(extensions, list):
        used["extension"] = [one for one in extensions if _is_capacity(one)]
    resource = {"resourceType": kind, **{name: value for name, value in used.items() if value != []}}
    try:
        check_resource(resource)
    except ResourceRefused as error:
        first = error.issues[0]
        raise MessageRefused(first.expression, first.text) from error
    return resource


def _plain_location(location: dict[str, Any]) -> dict[str, Any]:
    """Without identifiers that say nothing and positions that are none: a place without them is still a place."""
    plain = dict(location)
    identifiers = plain.pop("identifier", [])
    named = [one for one in identifiers if isinstance(one, dict)] if isinstance(identifiers, list) else []
    plain["identifier"] = [
        {name: one[name] for name in ("system", "value") if isinstance(one.get(name), str) and one[name].strip()}
        for one in named
        if isinstance(one.get("value"), str) and one["value"].strip()
    ]
    place = place_of_location(location)
    plain.pop("position", None)
    if place.latitude is not None and place.longitude is not None:
        plain["position"] = {"latitude": place.latitude, "longitude": place.longitude}
    return plain


def _own_name(resource: Mapping[str, Any]) -> str:
    if not resource.get("id"):
        raise MessageRefused(f"{resource['resourceType']}.id", "must be given")
    return f"{resource['resourceType']}/{resource['id']}"


def _relative(reference: str, kind: str) -> str:
    at = reference.rfind(f"{kind}/")
    if at < 0:
        raise MessageRefused(f"Slot.{kind.lower()}", f"must refer to a {kind}")
    return reference[at:].split("/_history")[0][:120]


def _is_capacity(extension: Any) -> bool:
    return isinstance(extension, dict) and str(extension.get("url", "")).endswith(CAPACITY_EXTENSION)


def _capacity_left(slot: Mapping[str, Any]) -> int | None:
    for extension in slot.get("extension") or ():
        value = extension.get("valueInteger")
        if isinstance(value, int) and 0 <= value <= MAX_PEOPLE:
            return value
    return None
