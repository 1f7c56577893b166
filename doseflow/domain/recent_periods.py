"""RecentPeriods: what the last two hours brought, period by period."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.report import PAST_WEEKS

RECENT_PERIODS = 24
"""Whole periods of five minutes that are kept: the last two hours."""


@dataclass(frozen=True)
class RecentPeriods:
    """
    The last 24 whole periods before the one that holds `as_of`, the oldest first; NaN unknown.

    Parameters
    ----------
    arrivals_people
        Arrivals as reported, (S, 24).
    booked_people
        People who were booked into each period when it began, (S, 24).
    past_weeks_people
        Arrivals in the same periods of past weeks, (S, W, 24), the last week first.
    """

    arrivals_people: FloatArray
    booked_people: FloatArray
    past_weeks_people: FloatArray

    @classmethod
    def unknown(cls, num_sites: int) -> RecentPeriods:
        """Nothing is known of any period."""
        return cls(
            arrivals_people=np.full((num_sites, RECENT_PERIODS), np.nan),
            booked_people=np.full((num_sites, RECENT_PERIODS), np.nan),
            past_weeks_people=np.full((num_sites, PAST_WEEKS, RECENT_PERIODS), np.nan),
        )
