"""Breaks and hours: who of a shift's people sits down to rest, and how long everybody has been at work."""

from __future__ import annotations

from array_api_compat import device

from doseflow.simulate.arrays import at_least_zero, namespace, where
from doseflow.simulate.draws import Array
from doseflow.simulate.parameters import SimulationParams
from doseflow.units import MINUTES_PER_HOUR


def breaks_started(
    people: Array, epoch_minutes: float, shift_starts: Array, shift_ends: Array, params: SimulationParams
) -> Array:
    """
    How many of each group, (S, R, H), have begun their break by a moment; breaks start evenly over the break window.
    """
    xp = namespace(people)
    into_window = (epoch_minutes - shift_starts - params.break_after_minutes) / params.break_window_minutes
    # Sites differ in when a break falls, else the city's small sites would all pause together.
    phase = (0.5 + 0.618 * xp.arange(people.shape[-3], dtype=xp.float64, device=device(people))[:, None, None]) % 1
    begun = xp.astype(xp.floor(people * into_window - phase) + 1, people.dtype)
    has_break = shift_ends - shift_starts > params.break_shift_minutes
    return where(has_break, xp.minimum(at_least_zero(begun), people))


def worked_hours(epoch_minutes: float, shift_starts: Array) -> Array:
    """Hours since each shift began, (H,), at least 0."""
    return at_least_zero(epoch_minutes - shift_starts) / MINUTES_PER_HOUR
