"""How old what a site told us is."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.feature_classes import SITE_SPEAKS
from doseflow.domain.state import CityState
from doseflow.units import epoch_minutes_from_datetime


def report_age_minutes(state: CityState, now: datetime) -> FloatArray:
    """Age of the latest report of each site at a moment, (S,), not negative; NaN where none ever came."""
    latest = np.fmax.reduce(state.valid_epoch_minutes[:, SITE_SPEAKS], axis=1)
    return np.asarray(np.maximum(0.0, epoch_minutes_from_datetime(now) - latest))
