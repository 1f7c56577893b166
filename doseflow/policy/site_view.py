"""
What a site's future looks like from now to the end of the shift, and the row of numbers that a net is shown of it.

The view is that of the look-ahead: who waits, who comes, who serves. Axes: G steps of the look-ahead, R roles, N sites.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.roles import NUM_ROLES, OBSERVATION_IDX
from doseflow.policy.fluid_line import reflected
from doseflow.policy.look_ahead import EXPECTED_CASE, LookAhead
from doseflow.policy.situation import Situation
from doseflow.policy.time_ahead import GRID_ENDS_MINUTES, GRID_MINUTES
from doseflow.units import PERIOD_MINUTES

NUM_STEPS = len(GRID_MINUTES)
SITE_VIEW_VERSION = 202
"""Raised whenever the features, the values that are asked for, or the order or scale of either change."""
SITE_VIEW_AXES = "S F"
"""Axes of the features."""
NUM_VIEW_FEATURES = NUM_STEPS * (1 + NUM_ROLES + OBSERVATION_IDX) + 15
_LOG_SCALE = 3.0
_MOST_MINUTES = 240.0


@dataclass(frozen=True)
class SiteView:
    """
    The future of some sites, as it is expected.

    Parameters
    ----------
    queue_people
        Waiting now for each stage before observation, (R - 1, N).
    seated_people, seats_possible
        (N,).
    arriving_people
        Expected in each step, (G, N).
    spread_share
        A decile of arrivals lies so much of the expected number off it, (N,).
    people
        At work by role over time, (G, R, N); not always whole, since breaks are spread.
    most_people
        Places for people to work at, (R, N).
    per_minute
        People that one person serves in a minute; an observer, by the seats that they watch, (R,).
    open_minutes
        Until closing, (N,).
    counted_minutes, last_minutes
        What a person who waits counts; see `LookAhead`, (G, N).
    """

    queue_people: FloatArray
    seated_people: FloatArray
    seats_possible: FloatArray
    arriving_people: FloatArray
    spread_share: FloatArray
    people: FloatArray
    most_people: FloatArray
    per_minute: FloatArray
    open_minutes: FloatArray
    counted_minutes: FloatArray
    last_minutes: FloatArray

    def of(self, site_idx: IntArray) -> SiteView:
        """The view of some of the sites."""
        chosen = {name: getattr(self, name)[..., site_idx] for name in SITE_FIELDS}
        return SiteView(**chosen, per_minute=self.per_minute)


SITE_FIELDS = (
    "queue_people",
    "seated_people",
    "seats_possible",
    "arriving_people",
    "spread_share",
    "people",
    "most_people",
    "open_minutes",
    "counted_minutes",
    "last_minutes",
)


def site_view(situation: Situation, ahead: LookAhead) -> SiteView:
    """The view of every site of a city."""
    state = situation.state
    come = ahead.come_people
    expected = come[:, EXPECTED_CASE]
    arriving = np.diff(expected, axis=0, prepend=np.zeros((1, expected.shape[1])))
    open_minutes = np.where(situation.standing.operating, state.open_minutes_left, 0.0)
    return SiteView(
        queue_people=ahead.queue_people,
        seated_people=np.nan_to_num(state.waiting_people[:, OBSERVATION_IDX]),
        seats_possible=np.nan_to_num(np.fmax(state.seats_possible, 1.0), nan=1.0),
        arriving_people=arriving,
        spread_share=np.where(expected[-1] > 0, come[-1, -1] / np.maximum(expected[-1], 1e-9) - 1.0, 0.0),
        people=ahead.people,
        most_people=np.minimum(ahead.most_people, 99.0),
        per_minute=ahead.per_minute,
        open_minutes=np.minimum(open_minutes, GRID_ENDS_MINUTES[-1]),
        counted_minutes=ahead.counted_minutes,
        last_minutes=ahead.last_minutes,
    )


def view_features(view: SiteView) -> NDArray[np.float32]:
    """
    What a net is shown of each site, (N, F), float32, of the order of 1.

    Beside who comes and who serves it has the queues of the fluid line, which are what a net would need longest to
    find by itself.
    """
    per_period = PERIOD_MINUTES / GRID_MINUTES[:, None]
    posts = np.clip(view.people, 0.0, view.most_people)
    in_step = posts * view.per_minute[:, None] * GRID_MINUTES[:, None, None]
    queues, sinks = _fluid_queues(view, in_step)
    over_time = [
        np.log1p(view.arriving_people * per_period) / _LOG_SCALE,
        *(np.log1p(in_step[:, role_idx] * per_period) / _LOG_SCALE for role_idx in range(NUM_ROLES)),
        *(np.log1p(queue) / _LOG_SCALE for queue in queues),
    ]
    minutes = view.queue_people / np.maximum(posts[0, :OBSERVATION_IDX] * view.per_minute[:OBSERVATION_IDX, None], 0.05)
    single = [
        *(np.log1p(view.queue_people) / _LOG_SCALE),
        *(np.minimum(minutes, _MOST_MINUTES) / _MOST_MINUTES),
        *(np.round(posts[0], 3) % 1.0),
        np.minimum(view.seated_people / view.seats_possible, 2.0),
        view.spread_share,
        view.open_minutes / GRID_ENDS_MINUTES[-1],
        view.counted_minutes.sum(axis=0) / 100.0,
        np.log1p(sinks) / _LOG_SCALE,
    ]
    features: NDArray[np.float32] = np.concatenate([*over_time, np.stack(single)]).T.astype(np.float32)
    return features


def value_scale_minutes(view: SiteView) -> FloatArray:
    """Person-minutes in units of which a net says values, (N,): about what a person is worth at a site of that size."""
    scale: FloatArray = 20.0 + 10.0 * np.sqrt(view.arriving_people.sum(axis=0) + view.queue_people.sum(axis=0))
    return scale


def _fluid_queues(view: SiteView, in_step: FloatArray) -> tuple[list[FloatArray], FloatArray]:
    """Queue of each stage at the end of each step, (G, N) each, and everybody whom the line has served, (N,)."""
    come = np.cumsum(view.arriving_people, axis=0)
    queues = []
    for stage_idx in range(OBSERVATION_IDX):
        can_serve = in_step[:, stage_idx]
        if stage_idx == OBSERVATION_IDX - 1:
            can_serve = np.minimum(can_serve, in_step[:, OBSERVATION_IDX])
        come = come + view.queue_people[stage_idx]
        queue = reflected(come - np.cumsum(can_serve, axis=0))
        queues.append(queue)
        come = come - queue
    return queues, come[-1]
