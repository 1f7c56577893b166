"""What proves who somebody is: a session that a person has begun, and the key of a machine."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from doseflow.domain.caller import Caller


class SignInWay(StrEnum):
    """Who has checked that a person is who they say."""

    PASSWORD = "password"  # noqa: S105 - the name of a way, no password
    PROVIDER = "provider"


@dataclass(frozen=True, slots=True)
class Session:
    """
    A person who has signed in.

    Parameters
    ----------
    token_digest
        SHA-256 of the cookie's token, in hexadecimal: whoever reads the store cannot use it.
    ends_at
        When it ends however busy it is.
    """

    token_digest: str
    caller: Caller
    way: SignInWay
    began_at: datetime
    seen_at: datetime
    ends_at: datetime

    def is_over(self, now: datetime, idle_minutes: float) -> bool:
        """Whether it has ended, or nothing was heard for too long."""
        return now >= min(self.ends_at, self.seen_at + timedelta(minutes=idle_minutes))


@dataclass(frozen=True, slots=True)
class ApiKey:
    """
    A machine's key as kept; `prefix` is its first part, by which it is found and spoken of.

    Parameters
    ----------
    secret_digest
        SHA-256 of its second part, in hexadecimal. The part is random of 256 bits, so that a slow hash adds nothing.
    """

    prefix: str
    secret_digest: str
    caller: Caller
    made_at: datetime
    ends_at: datetime | None
    revoked_at: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        """Whether it has been revoked or has ended."""
        return self.revoked_at is not None or (self.ends_at is not None and now >= self.ends_at)
