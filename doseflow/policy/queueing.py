"""Queues in formulae: Erlang's exact ones, the square-root rule that stands in for them, and the fluid queue."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfcx

from doseflow.domain.city import FloatArray
from doseflow.units import PERIOD_MINUTES

WAIT_CEILING_MINUTES = 240.0
"""Longest wait that is told apart: where nobody serves, people would wait for ever."""


def erlang_b(num_servers: int, load_erlangs: float) -> float:
    """
    Share of arrivals lost at `num_servers` servers without a queue.

    References
    ----------
    A. K. Erlang, Solution of some problems in the theory of probabilities of significance in automatic telephone
    exchanges, 1917.
    """
    blocked_share = 1.0
    for servers in range(1, num_servers + 1):
        blocked_share = load_erlangs * blocked_share / (servers + load_erlangs * blocked_share)
    return blocked_share


def erlang_c(num_servers: int, load_erlangs: float) -> float:
    """Share of arrivals that must wait at `num_servers` servers with a queue; 1 where they cannot carry the load."""
    if load_erlangs >= num_servers:
        return 1.0
    blocked_share = erlang_b(num_servers, load_erlangs)
    return blocked_share / (1 - load_erlangs / num_servers * (1 - blocked_share))


def mean_wait_minutes(num_servers: int, load_erlangs: float, service_minutes: float) -> float:
    """Mean wait of all who come, in the long run; infinite where the load cannot be carried."""
    if load_erlangs >= num_servers:
        return math.inf
    return erlang_c(num_servers, load_erlangs) * service_minutes / (num_servers - load_erlangs)


def halfin_whitt_wait_share(beta: float) -> float:
    """
    Share of arrivals that must wait when a large team is staffed at load + beta * sqrt(load), beta above 0.

    References
    ----------
    S. Halfin and W. Whitt, Heavy-traffic limits for queues with many exponential servers, Operations Research 29(3),
    1981, doi:10.1287/opre.29.3.567.
    """
    # Mills' ratio (1 - Phi) / phi by the scaled complementary error function, which does not underflow.
    mills = math.sqrt(math.pi / 2) * erfcx(beta / math.sqrt(2))
    density = math.exp(-(beta**2) / 2) / math.sqrt(2 * math.pi)
    return float(1 / (1 + beta * (1 - mills * density) / density))


def square_root_team(load_erlangs: FloatArray, beta: float) -> FloatArray:
    """People for a load: load + beta * sqrt(load), not yet rounded, any shape; NaN stays NaN."""
    return load_erlangs + beta * np.sqrt(load_erlangs)


def fluid_queue_people(
    queue_people: FloatArray, arrivals_people: FloatArray, served_per_period: FloatArray
) -> FloatArray:
    """
    People waiting after each period when people flow like water, (..., T).

    Parameters
    ----------
    queue_people
        Waiting now, (...).
    arrivals_people
        Coming in each period, (..., T).
    served_per_period
        People that the servers can serve in a period, (...).
    """
    netput = queue_people[..., None] + np.cumsum(arrivals_people - served_per_period[..., None], axis=-1)
    # The queue is the netput reflected at zero.
    lowest = np.minimum(np.minimum.accumulate(netput, axis=-1), 0.0)
    waiting: FloatArray = netput - lowest
    return waiting


def fluid_wait_minutes(
    queue_people: FloatArray, arrivals_people: FloatArray, servers: FloatArray, service_minutes: FloatArray
) -> FloatArray:
    """
    Wait of who comes at the end of each period, (..., T), at most `WAIT_CEILING_MINUTES`; 0 where nobody waits.

    `queue_people`, `servers` and `service_minutes` have the shape (...); NaN in any gives NaN.
    """
    served_per_minute = servers / service_minutes
    waiting = fluid_queue_people(queue_people, arrivals_people, served_per_minute * PERIOD_MINUTES)
    return wait_of_queue_minutes(waiting, served_per_minute[..., None])


def wait_of_queue_minutes(queue_people: FloatArray, served_per_minute: FloatArray) -> FloatArray:
    """Wait of who joins such a queue, any shape, at most `WAIT_CEILING_MINUTES`; 0 where nobody waits, NaN unknown."""
    with np.errstate(divide="ignore", invalid="ignore"):
        wait = queue_people / served_per_minute
    # 0 / 0, nobody waits and nobody serves, is a wait of nothing; unknown people stay unknown.
    wait = np.where(queue_people == 0, 0.0, wait)
    return np.minimum(wait, WAIT_CEILING_MINUTES)
