"""
What a person more or fewer is worth at a site, by living its coming hours again and again: the stochastic queue itself.

Every site is lived K times with the same people coming: as it is, and with each of the changes that are valued. Nobody
decides anything else meanwhile; that later cycles can still do something is in the weights of the view, which fade.
Axes: K changes, N sites, R roles, G steps of the look-ahead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import array_api_compat.torch as xp
import numpy as np
import torch
from torch import Tensor

from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.roles import NUM_ROLES, OBSERVATION_IDX
from doseflow.policy.time_ahead import GRID_ENDS_MINUTES, GRID_MINUTES
from doseflow.simulate.draws import NamespaceDraws
from doseflow.simulate.flow import FlowRules, empty_flow, flow_step
from doseflow.simulate.lanes import Lanes

TRAVELS_MINUTES = (0.0, 15.0, 30.0, 60.0)
DEPARTURE_MINUTES = 10.0
BIN_MINUTES = 15
ADDED_PEOPLE = 2
OVERTIME_MINUTES = 30.0
MINUTES = int(GRID_ENDS_MINUTES[-1])


@dataclass(frozen=True)
class Change:
    """One change of a site: people of roles more or fewer from a moment on, or people more who come in a quarter hour."""

    name: str
    roles: tuple[tuple[int, int], ...] = ()
    from_minutes: float = DEPARTURE_MINUTES
    bin_idx: int | None = None


def all_changes() -> list[Change]:
    """The changes that are valued, in the order of the net's output; the first is none."""
    roles = range(NUM_ROLES)
    gains = [
        Change(f"gain_{r}_{travel:g}", ((r, 1),), DEPARTURE_MINUTES + travel) for travel in TRAVELS_MINUTES for r in roles
    ]
    losses = [Change(f"loss_{r}", ((r, -1),)) for r in roles]
    posts = [Change(f"post_{a}_{b}", ((a, -1), (b, 1))) for a in roles for b in roles if a != b]
    arrivals = [Change(f"arrival_{b}", bin_idx=b) for b in range(BOOKING_BINS)]
    return [Change("as_it_is"), *gains, *losses, *posts, *arrivals]


@dataclass(frozen=True)
class Views:
    """Site views on a device, sites first: shapes (N, ...) of the fields of `SiteView`."""

    queue_people: Tensor
    seated_people: Tensor
    seats_possible: Tensor
    arriving_people: Tensor
    spread_share: Tensor
    people: Tensor
    most_people: Tensor
    open_minutes: Tensor
    counted_minutes: Tensor
    last_minutes: Tensor

    def at(self, rows: Tensor) -> Views:
        """Some of the sites."""
        return Views(**{name: getattr(self, name)[rows].float() for name in self.__dataclass_fields__})


@dataclass(frozen=True)
class World:
    """What is the same at every site: how people are served and give up."""

    rules: FlowRules
    seats_per_observer: float
    level_error_share: float
    balk_from_minutes: float
    balk_full_minutes: float
    standing_share: float
    lost_person_minutes: float


def costs(views: Views, world: World, changes: Sequence[Change], generator: torch.Generator) -> Tensor:
    """Person-minutes of waiting and of people lost, as the view weighs them, under each change, (K, N)."""
    life = _Life(views, world, changes, generator)
    for minute in range(MINUTES):
        life.live(minute)
    return life.cost


class _Life:
    def __init__(self, views: Views, world: World, changes: Sequence[Change], generator: torch.Generator) -> None:
        self._views, self._world, self._device = views, world, views.queue_people.device
        self._k, self._n = len(changes), len(views.queue_people)
        self._generator = generator
        self._draws = NamespaceDraws(lambda shape: torch.rand(shape, generator=generator, device=self._device))
        self._arrivals = self._who_comes(changes)
        self._posts_of_step = self._who_serves(changes)
        self._grid = torch.as_tensor(np.repeat(np.arange(len(GRID_MINUTES)), GRID_MINUTES.astype(int)))
        lanes = _lanes(torch.clamp(views.most_people[:, :OBSERVATION_IDX], 1, 40).long())
        flow = empty_flow(xp, world.rules, lanes, (self._k,), world.rules.leave_after_steps + 1)
        queued = torch.round(views.queue_people).to(torch.int32).expand(self._k, -1, -1).clone()
        self._flow = _with_people(flow, queued, views.seated_people)
        self._served_minutes = torch.tensor(world.rules.mean_minutes, device=self._device)
        self.cost = torch.zeros(self._k, self._n, device=self._device)

    def live(self, minute: int) -> None:
        """One minute of every life."""
        views, world, step = self._views, self._world, int(self._grid[minute])
        posts = self._posts_of_step[step]
        is_open = minute < views.open_minutes
        serving = posts[..., :OBSERVATION_IDX] * (minute < views.open_minutes + OVERTIME_MINUTES)[:, None]
        seats = torch.minimum(views.seats_possible, posts[..., OBSERVATION_IDX] * world.seats_per_observer)
        room = torch.ceil(seats * (1 + world.standing_share)) - self._flow.seated + self._flow.rising
        room = room - self._flow.in_service[..., -1]
        coming = torch.round(self._arrivals[minute] * is_open).to(torch.int32)
        staying = self._staying(coming, serving)
        flow, counts = flow_step(
            self._flow, staying, serving.to(torch.int32), room.to(torch.int32), self._draws, world.rules
        )
        lost = counts.left.sum(-1) + (coming - staying)
        waiting = flow.queued.sum(-1).float()
        weight = views.counted_minutes[:, step] / GRID_MINUTES[step]
        self.cost += waiting * weight + lost * world.lost_person_minutes * weight
        if minute + 1 == GRID_ENDS_MINUTES[step]:
            self.cost += waiting * views.last_minutes[:, step]
        self._flow = flow

    def _staying(self, coming: Tensor, serving: Tensor) -> Tensor:
        """Of those who come, the others turn at the door, where the wait that they must expect is long."""
        world = self._world
        per_person = self._served_minutes / torch.clamp(serving, min=1.0)
        expected = self._flow.queued.sum(-1) * per_person.amax(-1)
        span = world.balk_full_minutes - world.balk_from_minutes
        share = torch.clamp((expected - world.balk_from_minutes) / span, 0, 1)
        uniform = torch.rand(coming.shape, generator=self._generator, device=self._device)
        return coming - torch.floor(coming * share + uniform).clamp(max=coming).to(torch.int32)

    def _who_comes(self, changes: Sequence[Change]) -> Tensor:
        """People in each minute, (M, K or 1, N): the same under every change but for those added."""
        views, on = self._views, {"generator": self._generator, "device": self._device}
        minutes = torch.as_tensor(GRID_MINUTES, dtype=torch.float32, device=self._device)
        rate = (views.arriving_people / minutes).repeat_interleave(minutes.long(), dim=1)
        level = torch.exp(torch.randn(self._n, **on) * self._world.level_error_share)
        people = torch.poisson((rate * level[:, None]).clamp(min=0), generator=self._generator).T[:, None]
        if all(change.bin_idx is None for change in changes):
            return people
        people = people.expand(-1, self._k, -1).clone()
        rows = torch.arange(self._n, device=self._device)
        for k, change in enumerate(changes):
            for _ in range(ADDED_PEOPLE if change.bin_idx is not None else 0):
                at = torch.randint(BIN_MINUTES, (self._n,), **on) + BIN_MINUTES * (change.bin_idx or 0)
                people[at, k, rows] += 1
        return people

    def _who_serves(self, changes: Sequence[Change]) -> Tensor:
        """Whole posts in each step, (G, K, N, R): a part of a person is one whole person in that part of all lives."""
        views = self._views
        ends = torch.as_tensor(GRID_ENDS_MINUTES, dtype=torch.float32, device=self._device)
        length = torch.as_tensor(GRID_MINUTES, dtype=torch.float32, device=self._device)
        people = views.people.permute(1, 0, 2)[:, None].repeat(1, self._k, 1, 1)
        for k, change in enumerate(changes):
            share = torch.clamp((ends - change.from_minutes) / length, 0, 1)
            for role_idx, more in change.roles:
                people[:, k, :, role_idx] += more * share[:, None]
        uniform = torch.rand(self._n, NUM_ROLES, generator=self._generator, device=self._device)
        whole = torch.floor(people.clamp(min=0) + uniform)
        return torch.minimum(whole, views.most_people.clamp(max=40))


def _lanes(num_servers: Tensor) -> Lanes:
    """As `lanes_of`, for many sites at once."""
    flat = num_servers.reshape(-1)
    cells = torch.arange(len(flat), device=flat.device)
    starts = torch.cumsum(flat, 0) - flat
    return Lanes(
        cell_of_lane=torch.repeat_interleave(cells, flat),
        start_of_lane=torch.repeat_interleave(starts, flat),
        shape=(num_servers.shape[0], num_servers.shape[1]),
    )


def _with_people(flow: Any, queued: Tensor, seated: Tensor) -> Any:
    """The flow with people in its queues, who have just joined, and on its seats, from which they rise one by one."""
    from dataclasses import replace

    steps = len(flow.short_before)
    people = torch.round(seated).to(torch.int32).expand(queued.shape[:-1])
    each, extra = people // steps, people % steps
    short = tuple((each + (extra > step).to(torch.int32)) for step in range(steps))
    # They joined some time ago: a third of the patience that people have.
    ago = len(flow.joined_before) // 3
    joined = tuple(queued if step < ago else torch.zeros_like(queued) for step in range(len(flow.joined_before)))
    return replace(flow, queued=queued, joined=queued, joined_before=joined, seated=people.clone(), short_before=short)
