"""
What a person more or fewer is worth at a site, by living its coming hours again and again: the stochastic queue itself.

Every site is lived K times with the same people coming: as it is, and with each of the changes that are valued. Nobody
decides anything else meanwhile; that later cycles can still do something is in the weights of the view, which fade.
Axes: K changes, N sites, R roles, G steps of the look-ahead, M minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import array_api_compat.torch as xp
import numpy as np
import torch
from torch import Tensor

from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.roles import NUM_ROLES, OBSERVATION_IDX, ROLES
from doseflow.policy.look_ahead import LookAheadParams
from doseflow.policy.site_values import ADDED_PEOPLE, TRAVELS_MINUTES
from doseflow.policy.time_ahead import GRID_ENDS_MINUTES, GRID_MINUTES
from doseflow.policy.walk_in_worth import BIN_MINUTES
from doseflow.simulate.city_choice import city_from_name
from doseflow.simulate.draws import NamespaceDraws
from doseflow.simulate.flow import Flow, FlowRules, empty_flow, flow_step
from doseflow.simulate.lanes import Lanes
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.step_params import flow_rules

NUM_MINUTES = int(GRID_ENDS_MINUTES[-1])
MOST_POSTS = 40
"""No site has more people of a role at work; each is a lane of the simulator."""
LOST_PERSON_MINUTES = 60.0
"""What a person who turns or leaves counts beside their own waiting: about what they would have waited at worst."""
_PATIENCE_PART = 3


@dataclass(frozen=True)
class Change:
    """One change of a site: a person of a role more or fewer from a moment on, or people more in a quarter hour."""

    name: str
    role_idx: int | None = None
    more_people: int = 0
    from_minutes: float = 0.0
    bin_idx: int | None = None


def all_changes(departure_minutes: float = LookAheadParams().departure_minutes) -> list[Change]:
    """No change, and then those that are valued, in the order of `SiteValues`."""
    roles = list(enumerate(ROLES))
    gains = [
        Change(f"gain_{role}_{travel:g}", role_idx, 1, departure_minutes + travel)
        for travel in TRAVELS_MINUTES
        for role_idx, role in roles
    ]
    losses = [Change(f"loss_{role}", role_idx, -1, departure_minutes) for role_idx, role in roles]
    arrivals = [Change(f"arrival_{bin_idx}", bin_idx=bin_idx) for bin_idx in range(BOOKING_BINS)]
    return [Change("as_it_is"), *gains, *losses, *arrivals]


@dataclass(frozen=True)
class Views:
    """Site views on a device, sites first: shapes (N, ...) of the fields of `SiteView`."""

    queue_people: Tensor
    seated_people: Tensor
    seats_possible: Tensor
    arriving_people: Tensor
    people: Tensor
    most_people: Tensor
    open_minutes: Tensor
    counted_minutes: Tensor
    last_minutes: Tensor

    def at(self, rows: slice) -> Views:
        """Some of the sites."""
        return Views(**{name: getattr(self, name)[rows].float() for name in self.__dataclass_fields__})


@dataclass(frozen=True)
class World:
    """What is the same at every site: how people come, are served and give up."""

    rules: FlowRules
    seats_per_observer: float
    level_error_share: float
    balk_from_minutes: float
    balk_full_minutes: float
    standing_share: float
    overtime_minutes: float
    lost_person_minutes: float = LOST_PERSON_MINUTES


def packaged_world() -> World:
    """The world of the packaged defaults."""
    city, assumed = city_from_name("synthetic:30"), SimulationParams()
    return World(
        rules=flow_rules(city, assumed),
        seats_per_observer=float(city.seats_per_observer),
        level_error_share=LookAheadParams().level_error_share,
        balk_from_minutes=assumed.balk_from_minutes,
        balk_full_minutes=assumed.balk_full_minutes,
        standing_share=assumed.standing_share,
        overtime_minutes=assumed.overtime_minutes,
    )


def costs(views: Views, world: World, changes: Sequence[Change], generator: torch.Generator) -> Tensor:
    """Person-minutes of waiting and of people lost, as the view weighs them, under each change, (K, N)."""
    life = _Life(views, world, changes, generator)
    for minute in range(NUM_MINUTES):
        life.live(minute)
    return life.cost


class _Life:
    """All lives of some sites, side by side, minute by minute."""

    def __init__(self, views: Views, world: World, changes: Sequence[Change], generator: torch.Generator) -> None:
        self._views, self._world, self._device = views, world, views.queue_people.device
        self._k, self._n = len(changes), len(views.queue_people)
        self._generator = generator
        self._draws = NamespaceDraws(self._uniform)
        self._arrivals = self._who_comes(changes)
        self._posts_of_step = self._who_serves(changes)
        self._step_of_minute = np.repeat(np.arange(len(GRID_MINUTES)), GRID_MINUTES.astype(int)).tolist()
        lanes = _lanes(self._most_serving())
        flow = empty_flow(xp, world.rules, lanes, (self._k,), world.rules.leave_after_steps + 1)
        queued = torch.round(views.queue_people).to(torch.int32).expand(self._k, -1, -1).clone()
        self._flow = _with_people(flow, queued, views.seated_people)
        self._served_minutes = torch.tensor(world.rules.mean_minutes, device=self._device)
        self.cost = torch.zeros(self._k, self._n, device=self._device)

    def live(self, minute: int) -> None:
        """One minute of every life."""
        views, world, step = self._views, self._world, self._step_of_minute[minute]
        posts = self._posts_of_step[step]
        serving = posts[..., :OBSERVATION_IDX] * (minute < views.open_minutes + world.overtime_minutes)[:, None]
        coming = torch.round(self._arrivals[minute] * (minute < views.open_minutes)).to(torch.int32)
        staying = self._staying(coming, serving)
        room = self._room(posts[..., OBSERVATION_IDX]).to(torch.int32)
        flow, counts = flow_step(self._flow, staying, serving.to(torch.int32), room, self._draws, world.rules)
        lost = counts.left.sum(-1) + (coming - staying)
        waited_minutes = counts.waited_minutes.sum(-1).float()
        weight = views.counted_minutes[:, step] / GRID_MINUTES[step]
        self.cost += (waited_minutes + lost * world.lost_person_minutes) * weight
        if minute + 1 == GRID_ENDS_MINUTES[step]:
            self.cost += flow.queued.sum(-1) * views.last_minutes[:, step]
        self._flow = flow

    def _most_serving(self) -> Tensor:
        """Servers that a stage may ever have, (N, R - 1), whole: one more than now, and one more by rounding."""
        views = self._views
        servers = torch.minimum(torch.ceil(views.people.amax(dim=1)) + 2, views.most_people)
        return torch.clamp(servers[:, :OBSERVATION_IDX], 1, MOST_POSTS).long()

    def _room(self, observers: Tensor) -> Tensor:
        """People who may be vaccinated and still find a seat, or a place to stand, (K, N)."""
        world, flow = self._world, self._flow
        seats = torch.minimum(self._views.seats_possible, observers * world.seats_per_observer)
        room: Tensor = torch.ceil(seats * (1 + world.standing_share)) - flow.seated + flow.rising
        room -= flow.in_service[..., -1]
        return room

    def _staying(self, coming: Tensor, serving: Tensor) -> Tensor:
        """Of those who come, the others turn at the door, where the wait that they must expect is long, (K, N)."""
        world = self._world
        per_person = self._served_minutes / torch.clamp(serving, min=1.0)
        expected = self._flow.queued.sum(-1) * per_person.amax(-1)
        span = world.balk_full_minutes - world.balk_from_minutes
        share = torch.clamp((expected - world.balk_from_minutes) / span, 0, 1)
        turning = torch.floor(coming * share + self._uniform(tuple(coming.shape))).clamp(max=coming)
        return coming - turning.to(torch.int32)

    def _who_comes(self, changes: Sequence[Change]) -> Tensor:
        """People in each minute, (M, K, N): the same under every change but for those added."""
        views = self._views
        minutes = torch.as_tensor(GRID_MINUTES, dtype=torch.float32, device=self._device)
        rate = (views.arriving_people / minutes).repeat_interleave(minutes.long(), dim=1)
        normal = torch.randn(self._n, generator=self._generator, device=self._device)
        level = torch.exp(normal * self._world.level_error_share)
        people = torch.poisson((rate * level[:, None]).clamp(min=0), generator=self._generator).T[:, None]
        people = people.expand(-1, self._k, -1).clone()
        sites = torch.arange(self._n, device=self._device)
        for k, change in enumerate(changes):
            if change.bin_idx is None:
                continue
            for _ in range(ADDED_PEOPLE):
                at = (self._uniform((self._n,)) * BIN_MINUTES).long() + BIN_MINUTES * change.bin_idx
                people[at, k, sites] += 1
        return people

    def _who_serves(self, changes: Sequence[Change]) -> Tensor:
        """Whole posts in each step, (G, K, N, R): a part of a person is one whole person in that part of all lives."""
        views = self._views
        ends = torch.as_tensor(GRID_ENDS_MINUTES, dtype=torch.float32, device=self._device)
        length = torch.as_tensor(GRID_MINUTES, dtype=torch.float32, device=self._device)
        people = views.people.permute(1, 0, 2)[:, None].repeat(1, self._k, 1, 1)
        for k, change in enumerate(changes):
            if change.role_idx is not None:
                share = torch.clamp((ends - change.from_minutes) / length, 0, 1)
                people[:, k, :, change.role_idx] += change.more_people * share[:, None]
        whole = torch.floor(people.clamp(min=0) + self._uniform((self._n, NUM_ROLES)))
        return torch.minimum(whole, views.most_people.clamp(max=MOST_POSTS))

    def _uniform(self, shape: tuple[int, ...]) -> Tensor:
        return torch.rand(shape, generator=self._generator, device=self._device)


def _lanes(num_servers: Tensor) -> Lanes:
    """As `lanes_of`, for many sites at once."""
    servers = num_servers.reshape(-1)
    cells = torch.arange(len(servers), device=servers.device)
    return Lanes(
        cell_of_lane=torch.repeat_interleave(cells, servers),
        start_of_lane=torch.repeat_interleave(torch.cumsum(servers, 0) - servers, servers),
        shape=(num_servers.shape[0], num_servers.shape[1]),
    )


def _with_people(flow: Flow, queued: Tensor, seated: Tensor) -> Flow:
    """The flow with people in its queues, who have joined lately, and on its seats, from which they rise in turn."""
    steps = len(flow.short_before)
    people = torch.round(seated).to(torch.int32).expand(queued.shape[:-1])
    each, extra = people // steps, people % steps
    short = tuple((each + (extra > step)).to(torch.int32) for step in range(steps))
    # How long they have waited is not known: a part of the patience that people have.
    ago = len(flow.joined_before) // _PATIENCE_PART
    joined = tuple(queued if step < ago else torch.zeros_like(queued) for step in range(len(flow.joined_before)))
    return replace(flow, queued=queued, joined=queued, joined_before=joined, seated=people.clone(), short_before=short)
