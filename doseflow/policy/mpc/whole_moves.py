"""Whole people out of fractions: of what the programme would send, those whose going is worth it as a whole person."""

from __future__ import annotations

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.policy.mpc.arcs import Arcs
from doseflow.policy.mpc.fluid_city import FluidCity
from doseflow.policy.mpc.fluid_value import site_minutes
from doseflow.policy.mpc.givers import Givers
from doseflow.policy.mpc.programme import Stakes

LEAST_SENT_PEOPLE = 0.05
"""Smaller fractions are nobody's plan."""


def whole_people(sent: FloatArray, city: FluidCity, arcs: Arcs, givers: Givers, stakes: Stakes) -> IntArray:
    """
    People to send now over each arc, (J,), whole numbers.

    First the fractions rounded; then, one at a time, whoever costs more person-minutes in the fluid model with its
    margins than going saves stays, and whoever saves some by going goes. No arc sends more than the programme would,
    rounded up.
    """
    whole = np.zeros(len(arcs), dtype=np.int64)
    candidates = np.flatnonzero(sent > LEAST_SENT_PEOPLE)
    if not len(candidates):
        return whole
    trial = _Trial(candidates, city, arcs, givers, stakes)
    most = np.ceil(sent[candidates] - LEAST_SENT_PEOPLE).astype(np.int64)
    for candidate in np.argsort(-sent[candidates], kind="stable").tolist():
        for _ in range(int(sent[candidates][candidate] + 0.5)):
            if trial.possible()[candidate]:
                trial.send(candidate, 1)
    trial.improve(-1, np.zeros_like(most))
    trial.improve(1, most)
    whole[candidates] = trial.people
    return whole


class _Trial:
    """Where people would be after what has been sent so far, and what one more or fewer over each arc would save."""

    def __init__(self, candidates: IntArray, city: FluidCity, arcs: Arcs, givers: Givers, stakes: Stakes) -> None:
        self._city, self._stakes, self._present = city, stakes, city.present_people.copy()
        self._ends = np.stack([arcs.from_idx[candidates], arcs.to_idx[candidates]], axis=1)
        self._roles = np.stack([arcs.role_idx[candidates], arcs.as_idx[candidates]], axis=1)
        there = city.grid.there_share(arcs.travel_minutes[candidates])[:, 0]
        gone = np.broadcast_to(city.grid.gone_share()[0], there.shape)
        self._change = np.stack([-gone, there], axis=1)
        self._cost = stakes.move_minutes[candidates]
        self._givable, self._room = givers.now_people.copy(), np.maximum(city.room_people(), 0.0)
        self._city_left = stakes.city_people
        self.people: IntArray = np.zeros(len(candidates), dtype=np.int64)

    def possible(self) -> BoolArray:
        """Over which arcs one more may go."""
        giver, taker = (self._ends[:, 0], self._roles[:, 0]), (self._ends[:, 1], self._roles[:, 1])
        may_go: BoolArray = (self._givable[giver] >= 1) & (self._room[taker] > 0) & (self._city_left >= 1)
        return may_go

    def send(self, candidate: int, step: int) -> None:
        """Send one person more, or one fewer."""
        (giver, taker), (role, works_as) = self._ends[candidate], self._roles[candidate]
        self._present[giver, role] += step * self._change[candidate, 0]
        self._present[taker, works_as] += step * self._change[candidate, 1]
        self._givable[giver, role] -= step
        self._room[taker, works_as] -= step
        self._city_left -= step
        self.people[candidate] += step

    def improve(self, step: int, until: IntArray) -> None:
        """Change by one person at a time, the one that saves most first, while any saves something."""
        saving = self._saving(np.arange(len(self.people)), step)
        while True:
            open_to = (self.people != until) & (self.possible() if step > 0 else True)
            best = int(np.where(open_to, saving, -np.inf).argmax())
            if not open_to[best] or saving[best] <= 0:
                return
            self.send(best, step)
            touched = np.flatnonzero(np.isin(self._ends, self._ends[best]).any(axis=1))
            saving[touched] = self._saving(touched, step)

    def _saving(self, rows: IntArray, step: int) -> FloatArray:
        ends = self._ends[rows]
        before = self._present[ends]
        after = before.copy()
        which = np.arange(len(rows))[:, None], np.arange(2)[None, :], self._roles[rows]
        after[which] += step * self._change[rows]
        saved = self._minutes(ends, before) - self._minutes(ends, np.maximum(after, 0.0))
        saving: FloatArray = saved.sum(axis=1) - step * self._cost[rows]
        return saving

    def _minutes(self, site_idx: IntArray, present: FloatArray) -> FloatArray:
        stakes = self._stakes
        return site_minutes(self._city, stakes.waiting_minutes, stakes.margins, site_idx, present)
