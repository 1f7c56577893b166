"""Which site another system means: by a table of its names for them, by the site's own id, or the nearest."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from doseflow.domain.appointment import Place
from doseflow.domain.city import City
from doseflow.domain.neighbours import great_circle_km
from doseflow.errors import SettingsWrong

VTRCKS_SYSTEM = "https://cdc.gov/vaccines/programs/vtrcks"
"""System of the identifiers that SMART Scheduling Links asks of vaccine providers."""
_SHORT_SYSTEMS = {VTRCKS_SYSTEM: "vtrcks"}


class SitePlaces:
    """
    Finds the site of a place.

    Parameters
    ----------
    table
        Site by name: `system|value` (`vtrcks|...` for short), `Location/id`, or the value alone.
    nearest_within_metres
        How far the nearest site may be from a place of no known name; 0 is never.

    Raises
    ------
    SettingsWrong
        The table names a site that the city does not have.
    """

    def __init__(self, city: City, table: Mapping[str, str], nearest_within_metres: float = 0.0) -> None:
        for key, site_id in table.items():
            if site_id not in city.site_to_idx:
                raise SettingsWrong(f"appointments.locations: {key!r} is said to be {site_id!r}, which is no site")
        self._city = city
        self._table = dict(table)
        self._nearest_within_metres = nearest_within_metres

    def site_of(self, place: Place) -> str | None:
        """The site that a place is, None where nobody has said and none is near."""
        for key in place.keys:
            for name in _names_of(key):
                if name in self._table:
                    return self._table[name]
        for key in place.keys:
            own = _names_of(key)[-1]
            if own in self._city.site_to_idx:
                return own
        return self._nearest(place)

    def _nearest(self, place: Place) -> str | None:
        if not self._nearest_within_metres or place.latitude is None or place.longitude is None:
            return None
        latitudes = np.array([site.latitude for site in self._city.sites])
        longitudes = np.array([site.longitude for site in self._city.sites])
        metres = 1000 * great_circle_km(np.array(place.latitude), np.array(place.longitude), latitudes, longitudes)
        nearest = int(np.argmin(metres))
        return self._city.sites[nearest].site_id if metres[nearest] <= self._nearest_within_metres else None


def _names_of(key: str) -> list[str]:
    """The names under which a key may stand in the table, the value alone last."""
    system, bar, value = key.rpartition("|")
    if not bar:
        return [key, key.rpartition("/")[2]]
    short = _SHORT_SYSTEMS.get(system)
    return [key, *([f"{short}|{value}"] if short else []), value]
