"""Conversions between units, each saying both units in its name. Moments inside arrays are minutes since 1970 (UTC)."""

from __future__ import annotations

import math
from datetime import UTC, datetime

MINUTES_PER_HOUR = 60
MINUTES_PER_DAY = 24 * MINUTES_PER_HOUR
PERIOD_MINUTES = 5
"""Length of a decision period: sites report, and the city is planned, once in this many minutes."""


def epoch_minutes_from_datetime(moment: datetime) -> float:
    """Minutes since 1970-01-01T00:00Z of an aware moment."""
    return moment.timestamp() / 60


def datetime_from_epoch_minutes(epoch_minutes: float) -> datetime:
    """Aware UTC moment of minutes since 1970-01-01T00:00Z, to the second."""
    return datetime.fromtimestamp(round(epoch_minutes * 60), tz=UTC)


def datetime_or_none_from_epoch_minutes(epoch_minutes: float) -> datetime | None:
    """The same, with NaN (unknown) as None."""
    return None if math.isnan(epoch_minutes) else datetime_from_epoch_minutes(epoch_minutes)


def minutes_from_hours(hours: float) -> float:
    """Minutes in so many hours."""
    return hours * MINUTES_PER_HOUR


def milliseconds_from_seconds(seconds: float) -> float:
    """Milliseconds in so many seconds."""
    return seconds * 1000


def per_minute_from_per_hour(rate_per_hour: float) -> float:
    """Rate a minute of a rate an hour."""
    return rate_per_hour / MINUTES_PER_HOUR
