"""What an order should bring beside doing nothing, and what the best alternative would have brought."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Saving(StrEnum):
    """What is saved."""

    PERSON_MINUTES = "person_minutes"
    DOSES = "doses"


class Instead(StrEnum):
    """What could be ordered instead; `value` of an `Alternative` says which."""

    NOTHING = "nothing"
    SITE = "site"
    """`value` is a position in the city's sites."""
    STATIONS = "stations"
    QUARTER = "quarter"
    """`value` is a booking bin."""
    DELAY = "delay"
    """`value` is in minutes."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Alternative:
    """The best of what else was compared."""

    instead: Instead = Instead.NOTHING
    value: int = 0
    saved: float = 0.0


class NotReckoned(StrEnum):
    """Why there is no figure."""

    FULL_FRIDGE = "full_fridge"
    DELIVERY = "delivery"
    UNKNOWN_SITE = "unknown_site"


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """`saved` is less than 0 where the order costs, and without meaning where `not_reckoned` says why."""

    saved: float = 0.0
    saving: Saving = Saving.PERSON_MINUTES
    alternative: Alternative = Alternative()
    not_reckoned: NotReckoned | None = None
