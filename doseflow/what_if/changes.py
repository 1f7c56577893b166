"""Change: one thing that a person supposes, and whether this city can have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from doseflow.domain.city import City
from doseflow.errors import InputWrong

MAX_FACTOR = 5.0
MAX_VACCINATORS = 200


class ChangeKind(StrEnum):
    """What may be supposed."""

    CLOSE_SITE = "close_site"
    """The site serves nobody any more today; who waits there is sent home or on."""
    SUSPEND_SITE = "suspend_site"
    """The site gives no doses for some time; who waits there goes on waiting."""
    LOSE_FRIDGE = "lose_fridge"
    """A fridge stops cooling now."""
    WALK_INS = "walk_ins"
    """Walk-ins are multiplied, at a site or in the whole city."""
    ADD_VACCINATORS = "add_vaccinators"
    """People come from outside, to a site or to where most people wait for a needle."""


_AT_A_SITE = frozenset({ChangeKind.CLOSE_SITE, ChangeKind.SUSPEND_SITE, ChangeKind.LOSE_FRIDGE})


@dataclass(frozen=True, slots=True)
class Change:
    """
    One change, from now on.

    Parameters
    ----------
    site_id
        None is the whole city, for walk-ins and vaccinators only.
    fridge_id
        Of a lost fridge; None is the site's first.
    factor
        Walk-ins are multiplied by it, 0..5.
    people
        Vaccinators added, 1..200.
    minutes
        How long a suspension lasts.
    """

    kind: ChangeKind
    site_id: str | None = None
    fridge_id: str | None = None
    factor: float = 1.0
    people: int = 0
    minutes: int = 60


def check_changes(changes: Sequence[Change], city: City) -> None:
    """
    Refuse what this city cannot have.

    Raises
    ------
    InputWrong
    """
    for position, change in enumerate(changes):
        objection = _objection(change, city)
        if objection:
            raise InputWrong(f"changes.{position}.{objection}")


def _objection(change: Change, city: City) -> str:
    if change.site_id is None and change.kind in _AT_A_SITE:
        return f"site_id: must be given for {change.kind}"
    if change.site_id is not None and change.site_id not in city.site_to_idx:
        return f"site_id: must be a site of {city.city_id}, got {change.site_id!r}"
    if change.fridge_id is not None and change.fridge_id not in _fridges(change, city):
        return f"fridge_id: must be a fridge of {change.site_id}, got {change.fridge_id!r}"
    if not 0 <= change.factor <= MAX_FACTOR:
        return f"factor: must lie in 0..{MAX_FACTOR:g}, got {change.factor:g}"
    if change.kind is ChangeKind.ADD_VACCINATORS and not 1 <= change.people <= MAX_VACCINATORS:
        return f"people: must lie in 1..{MAX_VACCINATORS}, got {change.people}"
    return ""


def _fridges(change: Change, city: City) -> frozenset[str]:
    if change.site_id is None:
        return frozenset()
    return frozenset(city.fridges_by_id[city.site_to_idx[change.site_id]])


def site_indices(changes: Sequence[Change], city: City) -> list[int]:
    """Positions of the sites that the changes name, each once."""
    return list(dict.fromkeys(city.site_to_idx[one.site_id] for one in changes if one.site_id is not None))
