"""Which sites are open at a moment, for how long, and what day it is there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np

from doseflow.domain.city import BoolArray, City, FloatArray
from doseflow.state.holidays_calendar import is_holiday

_DAY_MINUTES = 24 * 60


@dataclass(frozen=True)
class LocalDay:
    """Opening by site, (S,), and the city's local day; Monday is 0."""

    is_open: BoolArray
    open_minutes_left: FloatArray
    weekday: int
    is_holiday: bool | None


def local_day(city: City, as_of: datetime) -> LocalDay:
    """Opening and day of a city at an aware moment; minutes left are those of a clock on the wall, 0 when closed."""
    local = as_of.astimezone(ZoneInfo(city.timezone))
    now_minutes = local.hour * 60 + local.minute + local.second / 60
    opens, closes = city.opening_minutes.T
    is_overnight = closes <= opens
    is_after_opening, is_before_closing = now_minutes >= opens, now_minutes < closes
    is_open = np.where(is_overnight, is_after_opening | is_before_closing, is_after_opening & is_before_closing)
    minutes_left = closes - now_minutes + np.where(is_overnight & is_after_opening, _DAY_MINUTES, 0)
    return LocalDay(
        is_open=is_open,
        open_minutes_left=np.where(is_open, minutes_left, 0.0),
        weekday=local.weekday(),
        is_holiday=is_holiday(city.country, local.date(), city.holiday_overrides),
    )
