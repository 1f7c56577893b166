"""Recorder: looks at a simulated world after every minute and keeps what the measures need. It changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.simulate.cold_store import used_litres
from doseflow.simulate.duty import people_on_break
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import NUM_SERVED, Lots, World
from doseflow.units import PERIOD_MINUTES

SUMS = (
    "arrived",
    "balked",
    "left",
    "turned_away",
    "overtime_minutes",
    "doses_given",
    "doses_wasted",
    "doses_expired",
    "doses_discarded",
)
"""Totals that are kept as what was added while the planner was in charge."""


@dataclass(frozen=True)
class DayRecord:
    """
    One day as it was, from the moment the planner took over (index 0 of M) until the last site was empty.

    Axes: M minutes, S sites, 3 stages with a queue: registration, screening, vaccination.

    Parameters
    ----------
    joined_people, gone_people, started_people
        Who has joined each queue, left it, and been taken from it, all since the world began, (M, S, 3).
    queued_people, in_service_people
        At minute 0, (S, 3).
    busy_minutes, staffed_minutes
        Of people with a post, since the world began, (M, S, 3).
    added
        What was added to each of `SUMS` since minute 0.
    waited_minutes
        Waiting since minute 0, (S, 3).
    used_litres_share
        Cold volume in use over what is possible in the whole city, once a period.
    excursion_lot_minutes
        Minutes that lots with doses in them lay outside their band, over all lots.
    rostered_people
        In the whole city.
    missed_breaks
        Breaks due less the breaks' worth of time that people sat, over the whole city, at least 0.
    """

    joined_people: IntArray
    gone_people: IntArray
    started_people: IntArray
    queued_people: IntArray
    in_service_people: IntArray
    busy_minutes: FloatArray
    staffed_minutes: FloatArray
    added: dict[str, FloatArray]
    waited_minutes: FloatArray
    used_litres_share: FloatArray
    excursion_lot_minutes: float
    rostered_people: int
    missed_breaks: float


class Recorder:
    """Fed with the world at takeover and after every minute from then on; see `DayRecord`."""

    def __init__(self, world: World, params: StepParams) -> None:
        self._params = params
        self._first = self._last = world
        self._curves: list[tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray]] = []
        self._litres_shares: list[float] = []
        self._excursion_lot_minutes = 0.0
        self._break_minutes = 0.0
        self._first_sums = {name: np.array(getattr(world.totals, name)) for name in SUMS}
        self._first_waited = np.array(world.totals.waited_minutes[..., :NUM_SERVED])
        self._first_queued = np.array(world.queued_people[..., :NUM_SERVED])
        self._first_in_service = np.array(world.in_service_people)
        self._keep_curves(world)

    def on_step(self, world: World) -> None:
        """Keep what this minute adds."""
        self._last = world
        self._keep_curves(world)
        if (len(self._curves) - 1) % PERIOD_MINUTES == 0:
            self._keep_readings(world)

    def record(self) -> DayRecord:
        """The day so far."""
        first, last = self._first, self._last
        joined, gone, started, busy, staffed = (np.array(one) for one in zip(*self._curves, strict=True))
        added = {name: np.asarray(getattr(last.totals, name)) - was for name, was in self._first_sums.items()}
        return DayRecord(
            joined_people=joined,
            gone_people=gone,
            started_people=started,
            queued_people=self._first_queued,
            in_service_people=self._first_in_service,
            busy_minutes=busy,
            staffed_minutes=staffed,
            added=added,
            waited_minutes=np.asarray(last.totals.waited_minutes[..., :NUM_SERVED]) - self._first_waited,
            used_litres_share=np.array(self._litres_shares),
            excursion_lot_minutes=self._excursion_lot_minutes,
            rostered_people=int(np.asarray(first.day.rostered_people).sum()),
            missed_breaks=self._missed_breaks(),
        )

    def _keep_readings(self, world: World) -> None:
        """What changes slowly is read once a period and counts for all of it."""
        params, fridges = self._params, world.fridges
        used = float(used_litres(world.lots, fridges, params).sum())
        self._litres_shares.append(used / float(fridges.volume_litres.sum()))
        self._excursion_lot_minutes += _lots_outside_band(world, params) * PERIOD_MINUTES
        self._break_minutes += float(people_on_break(world, params).sum()) * PERIOD_MINUTES

    def _missed_breaks(self) -> float:
        day, assumed = self._first.day, self._params.assumed
        has_break = np.asarray(day.shift_ends - day.shift_starts) > assumed.break_shift_minutes
        due = float(np.asarray(day.rostered_people)[..., has_break].sum())
        taken = self._break_minutes / assumed.break_minutes if assumed.break_minutes else due
        return max(due - taken, 0.0)

    def _keep_curves(self, world: World) -> None:
        totals = world.totals
        curves = (
            totals.joined,
            totals.gone,
            totals.started[..., :NUM_SERVED],
            totals.busy_minutes,
            totals.staffed_minutes,
        )
        # Copies, since a simulator may write its next minute into the same arrays.
        self._curves.append(tuple(np.array(one) for one in curves))  # type: ignore[arg-type]


def _lots_outside_band(world: World, params: StepParams) -> int:
    """Lots that hold doses and lie outside their storage band now."""
    lots: Lots = world.lots
    at_lot = np.take_along_axis(world.fridges.temperature_celsius, lots.fridge_slot, axis=-1)
    low, high = params.storage_low_celsius[lots.product_idx], params.storage_high_celsius[lots.product_idx]
    outside = ((at_lot < low) | (at_lot > high)) & ~lots.is_free
    return int(outside.sum())
