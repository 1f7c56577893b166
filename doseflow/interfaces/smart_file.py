"""Files of SMART Scheduling Links: a manifest, or ndjson of Location, Schedule and Slot."""

from __future__ import annotations

import codecs
import re
from collections import Counter

import orjson

from doseflow.domain.appointment import SlotNotice, SlotStatus
from doseflow.errors import MessageRefused
from doseflow.intake.smart_feed import KINDS, FeedCatalogue, read_manifest
from doseflow.interfaces.file_reading import FileReading
from doseflow.interfaces.reading_context import ReadingContext

FORMAT = "SMART Scheduling Links"
MAX_PROBLEMS = 20
_KIND = re.compile(rb'"resourceType"\s*:\s*"(Location|Schedule|Slot)"')


def is_smart(content: bytes) -> bool:
    """Whether a file is a manifest, or one resource a line."""
    if b'"transactionTime"' in content and b'"output"' in content:
        return True
    first = next((line for line in content.splitlines() if line.strip().removeprefix(codecs.BOM_UTF8)), b"")
    try:
        document = orjson.loads(first.removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError:
        return False
    return isinstance(document, dict) and document.get("resourceType") in KINDS and content.strip().count(b"\n") > 0


def read_smart_file(content: bytes, context: ReadingContext) -> FileReading:
    """Read a manifest or a file of lines; places of a Slot file alone are not known, since others tell them."""
    if b'"transactionTime"' in content and b'"output"' in content:
        return _manifest(content)
    catalogue = FeedCatalogue()
    kinds: Counter[str] = Counter()
    slots: dict[str, SlotNotice] = {}
    problems: list[str] = []
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        found = _KIND.search(line)
        kind = found[1].decode() if found else KINDS[0]
        try:
            slot = catalogue.read_line(kind, line)
        except MessageRefused as error:
            problems.append(f"line {number}: {error}")
            continue
        kinds[kind] += 1
        if slot is not None:
            slots[slot.slot_key] = slot
    kept = _slots_kept(list(slots.values())) + _places_kept(catalogue, context)
    left_out = [f"and {len(problems) - MAX_PROBLEMS} more lines"] if len(problems) > MAX_PROBLEMS else []
    said = [f"{number} x {kind}" for kind, number in sorted(kinds.items())]
    return FileReading(FORMAT, said, kept, problems=problems[:MAX_PROBLEMS] + left_out)


def _manifest(content: bytes) -> FileReading:
    try:
        manifest = read_manifest(content, "")
    except MessageRefused as error:
        return FileReading(FORMAT, problems=[str(error)])
    kinds = Counter(file.kind for file in manifest.files)
    said = [f"manifest of {manifest.transaction_time or 'a moment not said'}"]
    return FileReading(FORMAT, said + [f"{number} x {kind} file" for kind, number in sorted(kinds.items())])


def _slots_kept(slots: list[SlotNotice]) -> list[str]:
    if not slots:
        return []
    free = [slot for slot in slots if slot.status == SlotStatus.FREE]
    left = sum(slot.capacity_left or 0 for slot in free)
    first, last = min(slot.starts_at for slot in slots), max(slot.ends_at for slot in slots)
    when = f"{first.isoformat()} to {last.isoformat()}"
    return [f"slots: {len(slots)} by schedule and start, {len(free)} free with {left} left, {when}"]


def _places_kept(catalogue: FeedCatalogue, context: ReadingContext) -> list[str]:
    if not catalogue.locations:
        return []
    placed = sum(context.places.site_of(place) is not None for place in catalogue.locations.values())
    return [f"locations: {len(catalogue.locations)}, {placed} of them a site, the others listed as no site yet"]
