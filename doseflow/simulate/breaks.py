"""Breaks and hours: who of a shift's people sits down to rest, and how long everybody has been at work."""

from __future__ import annotations

from typing import Any

from doseflow.simulate.arrays import at_least_zero, device_of, namespace
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
    moment = xp.asarray([epoch_minutes], dtype=xp.float64, device=device_of(people))
    return _started(xp, people, moment, shift_starts, shift_ends, params)[0, ...]


def people_resting(
    people: Array, epoch_minutes: float, shift_starts: Array, shift_ends: Array, params: SimulationParams
) -> Array:
    """How many of each group, (S, R, H), are on their break."""
    xp = namespace(people)
    now_and_then = [epoch_minutes, epoch_minutes - params.break_minutes]
    moments = xp.asarray(now_and_then, dtype=xp.float64, device=device_of(people))
    started = _started(xp, people, moments, shift_starts, shift_ends, params)
    return started[0, ...] - started[1, ...]


def _started(
    xp: Any, people: Array, moments: Array, shift_starts: Array, shift_ends: Array, params: SimulationParams
) -> Array:
    """Breaks begun by each moment, (moments, S, R, H)."""
    into_window = (moments[:, None] - shift_starts - params.break_after_minutes) / params.break_window_minutes
    # Nobody has a break in a short shift: its window never comes.
    has_break = shift_ends - shift_starts > params.break_shift_minutes
    into_window = xp.where(has_break, into_window, xp.full_like(into_window, -1.0))
    # Sites differ in when a break falls, else the city's small sites would all pause together.
    phase = (0.5 + 0.618 * xp.arange(people.shape[-3], dtype=xp.float64, device=device_of(people))) % 1
    shape = (-1, *(1,) * (people.ndim - 1), into_window.shape[-1])
    begun = xp.floor(people * xp.reshape(into_window, shape) + (1 - phase)[:, None, None])
    return xp.minimum(xp.astype(at_least_zero(begun), people.dtype), people)


def worked_hours(epoch_minutes: float, shift_starts: Array) -> Array:
    """Hours since each shift began, (H,), at least 0."""
    return at_least_zero(epoch_minutes - shift_starts) / MINUTES_PER_HOUR
