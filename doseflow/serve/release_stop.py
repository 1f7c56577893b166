"""ReleaseStop: a challenger that must not answer any more, whatever the disk says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from doseflow.errors import ReleaseRefused
from doseflow.serve.aliases import Aliases, roll_back


@dataclass(frozen=True)
class ReleaseStop:
    """The release that is meant, by its challenger and its salt, and what the history is told of it."""

    challenger: str
    salt: str
    why: str
    by: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def is_about(self, aliases: Aliases) -> bool:
        """Whether the release still goes on in these aliases; the same model let in again is another release."""
        return (aliases.challenger, aliases.salt) == (self.challenger, self.salt)

    def in_force(self, aliases: Aliases) -> Aliases:
        """The aliases without the challenger."""
        return roll_back(aliases) if self.is_about(aliases) else aliases

    def step(self, aliases: Aliases) -> Aliases:
        """
        Take the challenger out.

        Raises
        ------
        ReleaseRefused
            Somebody has ended the release meanwhile.
        """
        if not self.is_about(aliases):
            raise ReleaseRefused(f"challenger: the release of {self.challenger[:12]} is over already")
        return roll_back(aliases)
