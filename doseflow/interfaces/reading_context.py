"""What a reader of files needs to know of the city."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from doseflow.domain.appointment import Place
from doseflow.intake.site_places import SitePlaces


@dataclass(frozen=True)
class ReadingContext:
    """The city's zone, and its sites' names elsewhere as the settings say."""

    zone: ZoneInfo
    places: SitePlaces

    def where(self, place: Place) -> str:
        """The site of a place, or what it is called and that it is no site yet."""
        site_id = self.places.site_of(place)
        if site_id is not None:
            return site_id
        return f"no site yet ({', '.join(place.keys[:4])})" if place.keys else "no place said"
