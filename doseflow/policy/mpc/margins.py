"""
The margin above the load that chance asks for, which people who flow like water do not need.

In a team of R + beta sqrt(R) for a load of R, sqrt(R) a(beta) / beta people wait on average in the long run, a(beta)
being the share that must wait (Halfin and Whitt 1981, doi:10.1287/opre.29.3.567). A convex line through some points of
that curve charges a site for what it gives away, and credits one for what it is sent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.roles import OBSERVATION_IDX
from doseflow.policy.queueing import halfin_whitt_wait_share
from doseflow.policy.situation import Situation

_BETAS = (0.25, 0.5, 1.0, 2.0)
"""Corners of the line; beyond the last a margin is worth nothing more, and the slope between the first two goes on."""
VARIABILITY_SHARE = 0.6
"""Half the sum of squared variations: of arrivals about 1, of services about 0.2 (Allen and Cunneen's rule)."""


@dataclass(frozen=True)
class Margins:
    """
    Hinges, axis H: so many person-minutes for each person missing at a target.

    Parameters
    ----------
    target_people
        (H, S, R).
    missing_minutes
        Person-minutes of waiting that each person missing at a target adds to those of the targets above, (H, R).
    """

    target_people: FloatArray
    missing_minutes: FloatArray


def margins(situation: Situation, counted_minutes: float) -> Margins:
    """Hinges for the load of the coming hour, waiting being counted for so many minutes."""
    city = situation.state.city
    load = np.nan_to_num(situation.rate_per_minute)[:, None] * np.array(city.service_minutes)
    betas = np.array(_BETAS[1:])[:, None, None]
    target = load + betas * np.sqrt(load)
    per_person = np.ones(len(city.service_minutes))
    per_person[OBSERVATION_IDX] = city.seats_per_observer
    slopes = _slope_steps() * VARIABILITY_SHARE * counted_minutes
    return Margins(target / per_person, slopes[:, None] * per_person)


def _slope_steps() -> FloatArray:
    """By how much the line's slope grows at each corner but the first, (H,)."""
    queue = np.array([halfin_whitt_wait_share(beta) / beta for beta in _BETAS])
    slope = -np.diff(queue) / np.diff(_BETAS)
    steps: FloatArray = slope - np.append(slope[1:], 0.0)
    return steps
