"""
The packaged days of the Czech programme, 200 sites, 2020-12-27 to 2021-05-31. Origin, terms, traps:
docs/reference/cities.md.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from importlib.resources import files

import numpy as np

from doseflow.domain.city import IntArray
from doseflow.errors import CityWrong
from doseflow.simulate.city_days import CityDay

PACKAGED = files("doseflow.simulate") / "packaged"
PRODUCT_IDS = ("comirnaty", "moderna", "vaxzevria")
FIRST_ON, LAST_ON = date(2020, 12, 27), date(2021, 5, 31)
FIRST_BOOKED_ON = date(2021, 1, 15)


@dataclass(frozen=True)
class CzechTable:
    """
    Every packaged day; D days from `FIRST_ON`, S sites, K products, 3 calendars (first dose, second dose, either).
    """

    capacity_people: IntArray
    booked_people: IntArray
    used_doses: IntArray
    used_vials: IntArray
    spoiled_doses: IntArray
    spoiled_vials: IntArray
    received_doses: IntArray
    passed_on_doses: IntArray


@lru_cache(maxsize=1)
def czech_site_rows() -> tuple[dict[str, str], ...]:
    """The 200 sites in the order of axis S, busiest first, as the file has them."""
    text = (PACKAGED / "czech_200_sites.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


@lru_cache(maxsize=1)
def czech_table() -> CzechTable:
    """The packaged days as arrays; what the file does not list is 0, since the originals list what happened."""
    with (PACKAGED / "czech_200_days.csv.gz").open("rb") as packed, gzip.open(packed, "rt", encoding="utf-8") as stream:
        columns = stream.readline().strip().split(",")
        epoch = FIRST_ON.toordinal()
        rows = np.loadtxt(
            stream,
            delimiter=",",
            dtype=np.int64,
            converters={0: lambda day: date.fromisoformat(day).toordinal() - epoch},
        )
    dense = np.zeros(((LAST_ON - FIRST_ON).days + 1, len(czech_site_rows()), len(columns)), dtype=np.int64)
    dense[rows[:, 0], rows[:, 1]] = rows
    position = {name: k for k, name in enumerate(columns)}

    def by_product(measure: str, unit: str) -> IntArray:
        return dense[..., [position[f"{measure}_{product}_{unit}"] for product in PRODUCT_IDS]]

    return CzechTable(
        capacity_people=dense[..., [position[f"capacity_{name}_people"] for name in ("first", "second", "either")]],
        booked_people=dense[..., [position[f"booked_{name}_people"] for name in ("first", "second", "either")]],
        used_doses=by_product("used", "doses"),
        used_vials=by_product("used", "vials"),
        spoiled_doses=by_product("spoiled", "doses"),
        spoiled_vials=by_product("spoiled", "vials"),
        received_doses=by_product("received", "doses"),
        passed_on_doses=by_product("passed_on", "doses"),
    )


class CzechDays:
    """The real days. After the last one, the last week repeats, so that a long demonstration does not end."""

    def on(self, day_on: date) -> CityDay:
        """
        The day; the three calendars of a place add up.

        Raises
        ------
        CityWrong
            The day is before the first published booking.
        """
        if day_on < FIRST_BOOKED_ON:
            raise CityWrong(f"day: the packaged bookings begin on {FIRST_BOOKED_ON}, got {day_on}")
        source_on = day_on
        if day_on > LAST_ON:
            source_on = LAST_ON - timedelta(days=(LAST_ON - day_on).days % 7)
        table, row = czech_table(), (source_on - FIRST_ON).days
        return CityDay(
            day_on=day_on,
            capacity_people=table.capacity_people[row].sum(axis=-1),
            booked_people=table.booked_people[row].sum(axis=-1),
            delivered_doses=np.maximum(table.received_doses[row] - table.passed_on_doses[row], 0),
            used_doses=table.used_doses[row],
        )
