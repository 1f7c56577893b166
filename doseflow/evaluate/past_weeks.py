"""The arrivals of the weeks before a day, as a serving city would have them from its store."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time

from doseflow.domain.city import City, FloatArray
from doseflow.state.arrival_history import ArrivalHistory

PastDay = tuple[date, tuple[str, ...], FloatArray]
"""A UTC day, the site ids, and people by five-minute period of that day, (S, 288)."""


def history_of(city: City, past_days: Iterable[PastDay], starts_at: datetime) -> ArrivalHistory:
    """The history at the moment a planner takes over, from days in their order."""
    history = ArrivalHistory(city, starts_at)
    for day_on, _, people in past_days:
        history.load(people, datetime.combine(day_on, time(), UTC))
    return history
