"""Who asks: a person or a machine, what it may do, and for which sites."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CallerRole(StrEnum):
    """What somebody is in the city's service."""

    DUTY_OFFICER = "duty_officer"
    SITE_HEAD = "site_head"
    LOGISTICS = "logistics"
    AUDITOR = "auditor"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True)
class Caller:
    """
    Somebody at the door.

    Parameters
    ----------
    name
        How the audit log calls them: a user name or the name of a key, never a person's particulars.
    site_ids
        Sites that they may see and answer for; None is all.
    is_machine
        Whether a key or a certificate speaks, not a person.
    """

    name: str
    roles: frozenset[CallerRole]
    site_ids: frozenset[str] | None = None
    is_machine: bool = False

    def may_touch(self, site_id: str) -> bool:
        """Whether the site is among theirs."""
        return self.site_ids is None or site_id in self.site_ids


LOCAL_CALLER = Caller("local", frozenset(CallerRole))
"""Whoever asks where nobody has to sign in: on loopback, as long as no sign-in is set up."""
