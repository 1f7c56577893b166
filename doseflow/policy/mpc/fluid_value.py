"""What a site's coming blocks cost in person-minutes, so that whole moves can be weighed without a solver."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.roles import NUM_ROLES
from doseflow.policy.mpc.fluid_city import FluidCity
from doseflow.policy.mpc.fluid_queue import cumulative_queue
from doseflow.policy.mpc.margins import Margins


def site_minutes(
    city: FluidCity, waiting_minutes: FloatArray, margins: Margins, site_idx: IntArray, present_people: FloatArray
) -> FloatArray:
    """
    Person-minutes that queues and thin margins cost at some sites, (...), the futures' mean; 0 where nothing is known.

    Parameters
    ----------
    waiting_minutes
        Minutes for which each person waiting at the end of a block counts, (S, B).
    site_idx
        (...).
    present_people
        People there, (..., R, B).
    """
    capacity = city.served_per_person[site_idx] * np.minimum(present_people, city.most_people[site_idx][..., None])
    queue = cumulative_queue(city.queue_people[site_idx], city.arrivals_people[:, site_idx], capacity)
    waiting = (queue[..., -1, :] * waiting_minutes[site_idx]).sum(axis=-1).mean(axis=0)
    missing = np.maximum(margins.target_people[:, site_idx] - present_people[..., -1], 0.0)
    shape = (-1, *[1] * site_idx.ndim, NUM_ROLES)
    thin = (missing * margins.missing_minutes.reshape(shape)).sum(axis=(0, -1))
    minutes: FloatArray = np.where(city.known[site_idx], waiting + thin, 0.0)
    return minutes
