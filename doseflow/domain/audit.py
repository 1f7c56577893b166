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


@dataclass(frozen=True, slots=True)
class ChainedEntry:
    """An entry as kept; `entry_no` counts up from 1 without a gap, the digests chain it to the one before."""

    entry_no: int
    entry: AuditEntry
    previous_digest: str
    digest: str
