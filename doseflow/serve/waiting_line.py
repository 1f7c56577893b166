"""
The questions that wait for a run, city by city: bounded, fair, and without those that would be late.

It has no clock and no threads: the moment is given.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from doseflow.errors import EngineOverloaded
from doseflow.serve.engine_params import BatchParams

MILLISECONDS = 1000.0


class Waiting(Protocol):
    """What waits: whose it is, since when, until when, and how large."""

    @property
    def city(self) -> Hashable:
        """Whose question it is."""

    @property
    def asked_at(self) -> float:
        """Since when it waits, monotonic seconds."""

    @property
    def deadline(self) -> float:
        """By when it must be answered, monotonic seconds."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """Lengths of its free axes."""


class Cost(Protocol):
    """Sites of the run that some sizes would make."""

    def __call__(self, questions: list[Mapping[str, int]]) -> int:
        """The sites, padding counted."""


_Asked = TypeVar("_Asked", bound=Waiting)


@dataclass(frozen=True, slots=True)
class Taken(Generic[_Asked]):
    """What goes into the next run, and what can only be told that it is too late."""

    together: list[_Asked]
    late: list[_Asked]


class WaitingLine(Generic[_Asked]):
    """
    Round robin between cities, first in first out within one.

    A question at the head of its city's line waits for at most one run for each `most_together` cities before it, as
    long as sites are no limit.
    """

    def __init__(self, params: BatchParams, cost: Cost) -> None:
        self._params, self._cost = params, cost
        self._lines: OrderedDict[Hashable, deque[_Asked]] = OrderedDict()
        self._num_waiting = 0

    def __len__(self) -> int:
        return self._num_waiting

    def join(self, asked: _Asked) -> None:
        """
        Wait.

        Raises
        ------
        EngineOverloaded
            Too many wait already, of all cities or of this one.
        """
        line = self._lines.get(asked.city)
        if self._num_waiting >= self._params.most_waiting:
            raise EngineOverloaded(
                f"{self._num_waiting} questions wait already; at most {self._params.most_waiting} may"
            )
        if line is not None and len(line) >= self._params.most_waiting_of_city:
            raise EngineOverloaded(
                f"{len(line)} questions of this city wait already; at most {self._params.most_waiting_of_city} may"
            )
        self._lines.setdefault(asked.city, deque()).append(asked)
        self._num_waiting += 1

    def due_at(self, run_seconds: float) -> float | None:
        """
        The moment from which the next run should begin; None where nobody waits.

        Parameters
        ----------
        run_seconds
            How long a run is expected to take.
        """
        if not self._num_waiting:
            return None
        if self._num_waiting >= self._params.most_together:
            return float("-inf")
        gather_seconds = self._params.gather_milliseconds / MILLISECONDS
        return min(_waits_until(one, gather_seconds, run_seconds) for one in self._all())

    def take(self, now: float, run_seconds: float) -> Taken[_Asked]:
        """Take the next run's questions off the line, and all whose answer would come after their deadline."""
        late = self._take_late(now, run_seconds)
        together: list[_Asked] = []
        while self._lines and len(together) < self._params.most_together:
            city, line = next(iter(self._lines.items()))
            sizes = [one.sizes for one in (*together, line[0])]
            if together and self._cost(sizes) > self._params.most_sites:
                break
            together.append(line.popleft())
            self._num_waiting -= 1
            # Behind all others, whether or not it has more.
            del self._lines[city]
            if line:
                self._lines[city] = line
        return Taken(together, late)

    def _take_late(self, now: float, run_seconds: float) -> list[_Asked]:
        late = [one for one in self._all() if one.deadline < now + run_seconds]
        if late:
            gone = set(map(id, late))
            kept = {city: deque(one for one in line if id(one) not in gone) for city, line in self._lines.items()}
            self._lines = OrderedDict((city, line) for city, line in kept.items() if line)
            self._num_waiting -= len(late)
        return late

    def _all(self) -> Iterator[_Asked]:
        for line in self._lines.values():
            yield from line


def _waits_until(asked: Waiting, gather_seconds: float, run_seconds: float) -> float:
    """Not longer than others are gathered for, than half of its time, or than leaves twice what a run takes."""
    left_seconds = asked.deadline - asked.asked_at
    return min(asked.asked_at + gather_seconds, asked.deadline - max(2 * run_seconds, left_seconds / 2))
