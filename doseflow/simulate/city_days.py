"""What is known of one day of a city before it begins: capacity, bookings, deliveries; and the doses it used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Protocol

from doseflow.domain.city import IntArray


@dataclass(frozen=True)
class CityDay:
    """
    One day of a city.

    Parameters
    ----------
    capacity_people, booked_people
        Appointments offered and taken, (S,).
    delivered_doses
        Doses that came to stay, by product, (S, K).
    used_doses
        Doses used, by product, (S, K).
    """

    day_on: date
    capacity_people: IntArray
    booked_people: IntArray
    delivered_doses: IntArray
    used_doses: IntArray


class Days(Protocol):
    """Days of a city, real (`CzechDays`) or made (`SyntheticDays`)."""

    def on(self, day_on: date) -> CityDay:
        """
        The day.

        Raises
        ------
        CityWrong
            The city has no such day.
        """
