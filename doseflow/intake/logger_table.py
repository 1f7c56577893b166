"""
Which logger hangs in which fridge: a CSV table that the city keeps, with the columns `logger_id`, `site_id`,
`fridge_id` and, where one logger watches a freezer compartment too, `freezer_id`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from doseflow.domain.city import City
from doseflow.errors import SettingsWrong

COLUMNS = ("logger_id", "site_id", "fridge_id", "freezer_id")


@dataclass(frozen=True, slots=True)
class FridgePlace:
    """The fridges that a logger watches; `freezer_id` is None where there is no such compartment."""

    site_id: str
    fridge_id: str
    freezer_id: str | None = None


@dataclass(frozen=True, slots=True)
class LoggerTable:
    """The table, by any name that a logger may go by."""

    places: Mapping[str, FridgePlace] = field(default_factory=dict)

    def place_of(self, logger_ids: Sequence[str]) -> FridgePlace | None:
        """Where a logger hangs, by the first of its names that the table has."""
        return next((self.places[one] for one in logger_ids if one in self.places), None)


def read_logger_table(data: bytes, city: City) -> LoggerTable:
    """
    Read the table.

    Raises
    ------
    SettingsWrong
        It is no such table, or names a site or a fridge that the city does not have; the text names the row.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsWrong(f"sources.loggers: must be UTF-8, broken at byte {error.start}") from error
    reader = csv.DictReader(io.StringIO(text, newline=""))
    missing = [name for name in COLUMNS[:3] if name not in (reader.fieldnames or ())]
    if missing:
        raise SettingsWrong(f"sources.loggers: must have the columns {', '.join(COLUMNS[:3])}; {missing[0]} is missing")
    places: dict[str, FridgePlace] = {}
    for row in reader:
        values = {name: (row.get(name) or "").strip() for name in COLUMNS}
        if not any(values.values()):
            continue
        where = f"sources.loggers: row {reader.line_num}"
        _check(where, values, city)
        if values["logger_id"] in places:
            raise SettingsWrong(f"{where}: logger_id must be given once, got {values['logger_id']!r} again")
        places[values["logger_id"]] = FridgePlace(values["site_id"], values["fridge_id"], values["freezer_id"] or None)
    return LoggerTable(places)


def _check(where: str, values: Mapping[str, str], city: City) -> None:
    for name in COLUMNS[:3]:
        if not values[name]:
            raise SettingsWrong(f"{where}: {name} must be given")
    site_idx = city.site_to_idx.get(values["site_id"])
    if site_idx is None:
        raise SettingsWrong(f"{where}: site_id must be a site of {city.name}, got {values['site_id']!r}")
    known = city.fridges_by_id[site_idx]
    # A site whose fridges the city file does not list may have any.
    for name in ("fridge_id", "freezer_id"):
        if known and values[name] and values[name] not in known:
            listed = ", ".join(known)
            raise SettingsWrong(f"{where}: {name} must be a fridge of this site ({listed}), got {values[name]!r}")
