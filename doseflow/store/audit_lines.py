"""The audit log as lines of JSON, and whether such lines are whole: what anybody can check without the database."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC

import orjson

from doseflow.domain.audit import NO_HEAD, AuditEntry, AuditHead
from doseflow.errors import InputWrong
from doseflow.store.columns import AnyRow, storable


def content_bytes(entry: AuditEntry) -> bytes:
    """The entry as JSON with sorted keys: what is hashed and what is kept."""
    value = {
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
        "by": storable(entry.by),
        "action": entry.action,
        "subject": storable(entry.subject),
        "reason": storable(entry.reason),
        "details": dict(entry.details),
    }
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest_after(previous_digest: str, entry_no: int, content: bytes) -> str:
    """SHA-256 over the digest before, the number and the content."""
    return hashlib.sha256(f"{previous_digest}\n{entry_no}\n".encode() + content).hexdigest()


def line_of(row: AnyRow) -> bytes:
    """An entry as kept, as one line: the content to the letter, its number and both digests."""
    value = {
        "entry_no": row.entry_no,
        "content": row.content.decode(),
        "previous_digest": row.previous_digest,
        "digest": row.digest,
    }
    return orjson.dumps(value)


def check_lines(lines: Iterable[bytes], heads: Sequence[AuditHead] = ()) -> tuple[AuditHead, str]:
    """
    The head that the lines end at, and what is wrong with the first broken entry, empty where none is.

    Lines may begin in the middle of the log; then the first is taken to follow what it says it follows.

    Parameters
    ----------
    heads
        Heads kept elsewhere; entries with these numbers must be there with these digests.

    Raises
    ------
    InputWrong
        A line is not one of an export.
    """
    before: AuditHead | None = None
    wanted = {head.entry_no: head for head in heads}
    for number, line in enumerate(lines, start=1):
        entry_no, content, previous, digest = _read(number, line)
        if before is None:
            before = NO_HEAD if entry_no == 1 else AuditHead(entry_no - 1, previous)
        wrong = _wrong_with(before, entry_no, content, previous, digest) or _not_as_kept(wanted, entry_no, digest)
        if wrong:
            return before, f"entry {entry_no}: {wrong}"
        before = AuditHead(entry_no, digest)
    end = before or NO_HEAD
    gone = [head for head in heads if head.entry_no > end.entry_no]
    if gone:
        return (
            end,
            f"entry {end.entry_no + 1}: is missing; a head kept elsewhere says that there were {gone[0].entry_no}",
        )
    return end, ""


def _read(number: int, line: bytes) -> tuple[int, bytes, str, str]:
    try:
        value = orjson.loads(line)
        return value["entry_no"], value["content"].encode(), str(value["previous_digest"]), str(value["digest"])
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise InputWrong(f"line {number}: must be an entry of an audit export, but {error}") from error


def _wrong_with(before: AuditHead, entry_no: int, content: bytes, previous: str, digest: str) -> str:
    if entry_no != before.entry_no + 1:
        return f"must follow entry {before.entry_no}; entries are missing or twice"
    if previous != before.digest:
        return "does not chain to the entry before"
    if digest != digest_after(previous, entry_no, content):
        return "was changed: its digest does not fit its content"
    return ""


def _not_as_kept(wanted: dict[int, AuditHead], entry_no: int, digest: str) -> str:
    head = wanted.get(entry_no)
    return "" if head is None or head.digest == digest else "is not the one whose head was kept elsewhere"
