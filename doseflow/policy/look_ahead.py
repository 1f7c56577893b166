"""
The city as the fluid queue sees it until the shift ends: who is there, who comes, who serves.

The look-ahead is as long as a shift, since a move is for the rest of it; the first two hours are the forecast's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.decisions import StaffMove
from doseflow.domain.forecast import MEDIAN_IDX
from doseflow.domain.roles import OBSERVATION_IDX, ROLE_TO_IDX
from doseflow.policy.headcount import long_staying_people
from doseflow.policy.situation import MIN_REMAINING_MINUTES, Situation
from doseflow.policy.time_ahead import FORECAST_MINUTES, GRID_ENDS_MINUTES, GRID_MINUTES, on_grid, share_after
from doseflow.units import MINUTES_PER_HOUR, epoch_minutes_from_datetime

CASE_WEIGHTS: FloatArray = np.array([0.3, 0.4, 0.3])
"""Few, the expected number of and many arrivals, axis C: deciles and median (Keefer and Bodily 1983)."""
EXPECTED_CASE = 1
_DECILE = 1.2816


@dataclass(frozen=True, slots=True)
class LookAheadParams:
    """What the look-ahead supposes of people."""

    departure_minutes: float = 10.0
    """From an order to the way: it is read, answered, and the person at the station is finished with."""
    break_minutes: float = 30.0
    """Length of the break of a shift."""
    break_after_hours: float = 3.0
    """Hours worked from which on a break falls due."""
    break_window_hours: float = 2.0
    """Hours over which the breaks of a shift are spread."""
    level_error_share: float = 0.1
    """Standard deviation of a site's arrivals round the forecast, as a share of it, chance aside."""
    tail_minutes: float = 30.0
    """Waiting still to come for who waits when the look-ahead ends."""
    fade_minutes: float = 90.0
    """Time ahead at which waiting counts half, since later cycles can still do something about it."""

    def __post_init__(self) -> None:
        bounds = {
            "departure_minutes": (0, 60),
            "break_minutes": (0, 60),
            "break_after_hours": (0, 12),
            "break_window_hours": (0.5, 12),
            "level_error_share": (0, 0.5),
            "tail_minutes": (0, 240),
            "fade_minutes": (10, 100_000),
        }
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {getattr(self, name)}")


@dataclass(frozen=True)
class LookAhead:
    """
    Arrays have time first, so that a step in time is one whole-array operation; C cases, G steps.

    Parameters
    ----------
    queue_people
        Waiting now for each stage before observation, (R - 1, S); 0 where unknown.
    come_people
        Come since now, by the end of each step, (G, C, S); nobody where unknown.
    people
        People by role over time, with those on their way here, (G, R, S).
    most_people
        Places for people to work at, (R, S).
    per_minute
        People that one person serves in a minute; an observer, by the seats that they watch, (R,).
    counted_minutes
        What a person who waits through a step counts, (G, S): its length before the look-ahead ends, faded.
    last_minutes
        What a person who waits at the end of a step counts beside, (G, S): not 0 in the last step that counts alone.
    """

    queue_people: FloatArray
    come_people: FloatArray
    people: FloatArray
    most_people: FloatArray
    per_minute: FloatArray
    counted_minutes: FloatArray
    last_minutes: FloatArray


def look_ahead(situation: Situation, params: LookAheadParams) -> LookAhead:
    """The city as it is, with everybody counted from when they can be at work."""
    state, city = situation.state, situation.state.city
    per_minute = 1.0 / np.array(city.service_minutes)
    per_minute[OBSERVATION_IDX] *= city.seats_per_observer
    open_minutes = np.where(situation.standing.operating, state.open_minutes_left, 0.0)
    ends_minutes = np.minimum(np.minimum(open_minutes, shift_minutes(situation)), GRID_ENDS_MINUTES[-1])
    most = np.fmax(state.stations_possible, state.stations_open)
    fade = 0.5 ** ((GRID_ENDS_MINUTES - GRID_MINUTES / 2) / params.fade_minutes)[:, None]
    starts_minutes = GRID_ENDS_MINUTES - GRID_MINUTES
    is_last = (ends_minutes <= GRID_ENDS_MINUTES[:, None]) & (ends_minutes > starts_minutes[:, None])
    return LookAhead(
        queue_people=np.nan_to_num(state.waiting_people[:, :OBSERVATION_IDX]).T.copy(),
        come_people=_come_people(situation, open_minutes, params),
        people=_people_over_time(situation, params),
        most_people=np.where(np.isnan(most), np.inf, np.maximum(most, city.minimum_team_people)).T.copy(),
        per_minute=per_minute,
        counted_minutes=(1.0 - share_after(ends_minutes)) * GRID_MINUTES[:, None] * fade,
        last_minutes=is_last * fade * params.tail_minutes,
    )


def _come_people(situation: Situation, open_minutes: FloatArray, params: LookAheadParams) -> FloatArray:
    """(G, C, S); a site is off the forecast by its level's error, and by chance the more the fewer people come."""
    arrivals = np.nan_to_num(situation.arrivals_people)
    come = np.cumsum(on_grid(arrivals, late_per_minute(situation, open_minutes), open_minutes), axis=0)
    chance = 1.0 / np.maximum(arrivals.sum(axis=1), 1.0)
    spread = np.minimum(_DECILE * np.sqrt(params.level_error_share**2 + chance), 0.9)
    cases: FloatArray = come[:, None] * (1.0 + np.array([-1.0, 0.0, 1.0])[:, None] * spread)
    return cases


def shift_minutes(situation: Situation) -> FloatArray:
    """Shift left to whoever of a site stays longest, (S,); the whole look-ahead where nobody is known."""
    state = situation.state
    left = state.staff.shift_ends_epoch_minutes - epoch_minutes_from_datetime(state.as_of)
    longest = np.zeros(state.city.num_sites)
    np.fmax.at(longest, state.staff.site_idx, left)
    return np.where(longest > 0, longest, GRID_ENDS_MINUTES[-1])


def late_per_minute(situation: Situation, open_minutes: FloatArray) -> FloatArray:
    """Arrivals a minute after the forecast's two hours, (S,): the doses of the day that are not accounted for yet."""
    arrivals, waiting = situation.arrivals_people, situation.state.waiting_people[:, :OBSERVATION_IDX]
    soon = np.nan_to_num(arrivals).sum(axis=1) + np.nan_to_num(waiting).sum(axis=1)
    late = np.maximum(np.nan_to_num(situation.forecast.doses_rest_of_day[:, MEDIAN_IDX]) - soon, 0.0)
    minutes = np.maximum(open_minutes - FORECAST_MINUTES, MINUTES_PER_HOUR)
    per_minute: FloatArray = late / minutes
    return per_minute


def _people_over_time(situation: Situation, params: LookAheadParams) -> FloatArray:
    """
    (G, R, S): on duty now, fewer by those on their break, and who is on the way from when they arrive.

    A shift that ends is taken to be followed by another like it, since rosters are not reported.
    """
    state, city = situation.state, situation.state.city
    staying = long_staying_people(state, MIN_REMAINING_MINUTES).T
    people: FloatArray = staying * (1.0 - _later_break_share(situation, params))
    away = np.nan_to_num(state.breaks_due_people).T * params.break_minutes / MINUTES_PER_HOUR
    people[GRID_ENDS_MINUTES <= MINUTES_PER_HOUR] = np.maximum(staying - away, 0.0)
    begun_keys = {one.key for one in state.commitments.under_way}
    for move in situation.orders.bound_of(StaffMove):
        # Nobody reports how far those under way have come: half of it, in the mean.
        has_begun = move.key in begun_keys
        arrives = move.travel_minutes / 2 if has_begun else params.departure_minutes + move.travel_minutes
        to_idx, role_idx = city.site_to_idx[move.to_site_id], ROLE_TO_IDX[move.works_as]
        people[:, role_idx, to_idx] += move.people * share_after(np.array([arrives]))[:, 0]
    return people


def _later_break_share(situation: Situation, params: LookAheadParams) -> FloatArray:
    """Share of people on their break after the coming hour, for which alone breaks are reported, (G, R, S)."""
    middle_hours = (GRID_ENDS_MINUTES - GRID_MINUTES / 2) / MINUTES_PER_HOUR
    worked = middle_hours[:, None, None] + situation.state.worked_hours.T
    falls_due = (worked >= params.break_after_hours) & (worked <= params.break_after_hours + params.break_window_hours)
    return np.where(falls_due, params.break_minutes / (params.break_window_hours * MINUTES_PER_HOUR), 0.0)
