"""Whether a day is a public holiday: the published calendar of the country, and what a city knows better."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import lru_cache

import holidays

DECREED_EACH_YEAR = frozenset({"CN"})
"""Countries whose calendar is complete only once the year's decree, with its make-up workdays, is out."""


def is_holiday(country: str, day_on: date, overrides: Mapping[date, bool] | None = None) -> bool | None:
    """
    Whether a day is a public holiday; None where nobody has published it.

    In a year whose decree is not out, a day fixed by law is a holiday and every other day is unknown.
    """
    if overrides is not None and day_on in overrides:
        return overrides[day_on]
    calendar = _calendar(country.upper(), day_on.year)
    if calendar is None:
        return None
    days, is_complete = calendar
    return True if day_on in days else (False if is_complete else None)


@lru_cache(maxsize=64)
def _calendar(country: str, year: int) -> tuple[frozenset[date], bool] | None:
    """Holidays of a year, and whether the calendar is complete; None where there is none."""
    try:
        known = holidays.country_holidays(country, years=year)
    except NotImplementedError:
        return None
    if not known.start_year <= year <= known.end_year:
        return None
    is_complete = country not in DECREED_EACH_YEAR or any(day.year == year for day in known.weekend_workdays)
    return frozenset(known), is_complete
