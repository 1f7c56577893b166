"""What somebody did that others must be able to look up: an entry of the audit log, and its place in the chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """
    One deed.

    Parameters
    ----------
    by
        Name of the caller, or `doseflow` where nobody asked for it.
    action
        What was done, as `noun.verb`: `order.approve`, `site.freeze`, `key.make`.
    subject
        Id of what it was done to.
    reason
        Why, in the words of whoever did it; empty where none is asked for.
    details
        Plain JSON values. No personal data of vaccinees, ever.
    """

    at: datetime
    by: str
    action: str
    subject: str
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


FIRST_DIGEST = "0" * 64
"""What stands before the first entry."""


@dataclass(frozen=True, slots=True)
class AuditHead:
    """Number and digest of the last entry at some moment: who keeps it elsewhere sees when entries are missing."""

    entry_no: int
    digest: str

    def __str__(self) -> str:
        return f"{self.entry_no}:{self.digest}"


NO_HEAD = AuditHead(0, FIRST_DIGEST)


@dataclass(frozen=True, slots=True)
class ChainedEntry:
    """An entry as kept; `entry_no` counts up from 1 without a gap, the digests chain it to the one before."""

    entry_no: int
    entry: AuditEntry
    previous_digest: str
    digest: str


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are wanted; None is any. `action` may be the noun alone, such as `order`."""

    by: str | None = None
    action: str | None = None
    subject: str | None = None
    since: datetime | None = None
    before: datetime | None = None

    def takes(self, entry: AuditEntry) -> bool:
        """Whether an entry is wanted."""
        return (
            self.by in {None, entry.by}
            and self.subject in {None, entry.subject}
            and (self.action is None or entry.action == self.action or entry.action.startswith(f"{self.action}."))
            and (self.since is None or entry.at >= self.since)
            and (self.before is None or entry.at < self.before)
        )


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries found, oldest first, and the number after which to go on, None at the end of the log."""

    entries: tuple[ChainedEntry, ...]
    next_after_no: int | None
