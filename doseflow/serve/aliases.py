"""
Aliases: which models of a net are champion, challenger and previous, and how far the release of the challenger is.

All of it is one value, so that it can be switched at once; the steps from one to the next are here, without any file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from doseflow.errors import ReleaseRefused

PACKAGED = "packaged"
"""In place of a digest: the bundle of the settings, which comes with doseflow unless they say otherwise."""
WHOLE_PERMILLE = 1000


class Phase(StrEnum):
    """How far a release is."""

    SHADOW = "shadow"
    """The challenger answers beside the flow, and nobody gets its answers."""
    CANARY = "canary"
    """It answers a share."""
    READY = "ready"
    """It answers a share, has passed every gate, and waits for a person."""


@dataclass(frozen=True, slots=True)
class Aliases:
    """
    Digests by alias; `champion` and `previous` may be `PACKAGED`.

    `share_permille` is what the challenger answers, in thousandths; `salt` decides whom.
    """

    champion: str = PACKAGED
    challenger: str | None = None
    previous: str | None = None
    phase: Phase | None = None
    share_permille: int = 0
    salt: str = ""
    revision: int = 0


def begin(aliases: Aliases, digest: str, share_permille: int) -> Aliases:
    """
    Let a challenger in, in shadow where its share is 0.

    Raises
    ------
    ReleaseRefused
        Another release is going on, or the model is the champion already.
    """
    if aliases.challenger is not None:
        raise ReleaseRefused(f"challenger: {aliases.challenger[:12]} is being released; promote it or roll it back")
    if digest == aliases.champion:
        raise ReleaseRefused(f"challenger: {digest[:12]} is the champion already")
    phase = Phase.CANARY if share_permille else Phase.SHADOW
    # Another salt each time: no district is always the first to try what is new.
    salt = f"{digest[:12]}-{aliases.revision}"
    return _next(aliases, challenger=digest, phase=phase, share_permille=share_permille, salt=salt)


def go_to_canary(aliases: Aliases, share_permille: int) -> Aliases:
    """
    Let the challenger answer a share.

    Raises
    ------
    ReleaseRefused
    """
    _require_challenger(aliases)
    return _next(aliases, phase=Phase.CANARY, share_permille=share_permille)


def make_ready(aliases: Aliases) -> Aliases:
    """
    Mark that the challenger has passed every gate.

    Raises
    ------
    ReleaseRefused
    """
    _require_challenger(aliases)
    return _next(aliases, phase=Phase.READY)


def promote(aliases: Aliases) -> Aliases:
    """
    Make the challenger champion; the champion becomes the previous one.

    Raises
    ------
    ReleaseRefused
    """
    digest = _require_challenger(aliases)
    return _next(
        aliases, champion=digest, previous=aliases.champion, challenger=None, phase=None, share_permille=0, salt=""
    )


def roll_back(aliases: Aliases) -> Aliases:
    """
    Drop the challenger; where there is none, make the previous model champion again.

    Raises
    ------
    ReleaseRefused
        There is neither.
    """
    if aliases.challenger is not None:
        return _next(aliases, challenger=None, phase=None, share_permille=0, salt="")
    if aliases.previous is None:
        raise ReleaseRefused("previous: there is neither a challenger nor a previous model to go back to")
    return _next(aliases, champion=aliases.previous, previous=None)


def _require_challenger(aliases: Aliases) -> str:
    if aliases.challenger is None:
        raise ReleaseRefused("challenger: there is none; `doseflow models canary` lets one in")
    return aliases.challenger


def _next(aliases: Aliases, **changes: object) -> Aliases:
    return replace(aliases, revision=aliases.revision + 1, **changes)  # type: ignore[arg-type]
