"""SimulatedCity: a world, its days, its orders and its reports behind the few calls that a driver needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from doseflow.domain.city import City, FloatArray
from doseflow.domain.report import Weather
from doseflow.simulate.city_choice import city_from_name, days_of
from doseflow.simulate.city_days import Days
from doseflow.simulate.day_plan import DayPlan, local_midnight, plan_day
from doseflow.simulate.day_profile import DAY_MINUTES
from doseflow.simulate.draws import NumpyDraws
from doseflow.simulate.executing import Errand, carry_out, errands_of
from doseflow.simulate.incidents import NONE, Incidents, demo_incidents
from doseflow.simulate.opening import begin_day, initial_world
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.past_weeks import doses_past_weeks, past_weeks_arrivals
from doseflow.simulate.report_faults import HeldBack, ReportFaults, sent_reports
from doseflow.simulate.reporting import Reporters, report_payloads
from doseflow.simulate.scenario_roads import on_slow_roads, slow_roads, without_missing
from doseflow.simulate.step_params import step_params
from doseflow.simulate.transition import step
from doseflow.simulate.world import World
from doseflow.units import PERIOD_MINUTES, datetime_from_epoch_minutes, epoch_minutes_from_datetime

DEMO_DAY_ON = date(2021, 5, 20)
"""
The last Thursday on which the packaged calendars were not filled to the last slot; no holiday, and neither were the
four Thursdays before it, from which the forecast learns.
"""
DEMO_STARTS_AT = time(7, 30)
RAIN_SHARE = 0.3
"""Days with rain; assumed."""


@dataclass(frozen=True)
class _Streams:
    """One stream of chance a concern, so that what is done about one leaves the others' draws alone."""

    day: np.random.Generator
    world: np.random.Generator
    orders: np.random.Generator
    reports: np.random.Generator
    past: np.random.Generator
    steps: np.random.Generator


def _nothing(_world: World) -> None:
    pass


class SimulatedCity:
    """
    A city that lives through its days.

    The same arguments and the same orders at the same moments give the same reports and receipts.

    Parameters
    ----------
    day_on
        The first local day.
    incidents
        What goes wrong on the first day; later days have no incident.
    day
        The first day as it was planned elsewhere; without it, it is planned here, with `incidents`.
    starts_at
        Local time of the first day at which the driver takes over; the hours before it have been lived through.

    Raises
    ------
    CityWrong
        The city has no such day.
    """

    def __init__(
        self,
        city: City,
        days: Days,
        day_on: date,
        seed: int = 1,
        faults: ReportFaults | None = None,
        *,
        incidents: Incidents = NONE,
        params: SimulationParams | None = None,
        starts_at: time = DEMO_STARTS_AT,
        day: DayPlan | None = None,
    ) -> None:
        self.city = city
        self._days, self._seed, self._first_on = days, seed, day_on
        self._assumed = params or SimulationParams()
        self._params = step_params(city, self._assumed)
        self._faults = faults or ReportFaults()
        self._rng = _Streams(*(np.random.default_rng([seed, stream]) for stream in range(6)))
        self._draws = NumpyDraws(self._rng.steps)
        self._errands: tuple[Errand, ...] = ()
        self._taken_ids: set[str] = set()
        self._receipts: list[tuple[str, dict[str, Any]]] = []
        self._held: tuple[HeldBack, ...] = ()
        day = day or self._plan_day(day_on, incidents)
        world = initial_world(city, day, self._params, self._rng.world)
        self._world = replace(world, vans=without_missing(world.vans, day.missing_vans))
        self._roads = slow_roads(city, day.travel_factor)
        self._reporters = self._reporters_of(day_on)
        self._live_until(local_midnight(city, day_on) + starts_at.hour * 60 + starts_at.minute)

    @classmethod
    def from_name(
        cls, name: str, seed: int = 1, day_on: date = DEMO_DAY_ON, faults: ReportFaults | None = None
    ) -> SimulatedCity:
        """
        The city of the demonstration, with its incidents.

        Raises
        ------
        CityWrong
        """
        city = city_from_name(name)
        days = days_of(city, seed)
        return cls(city, days, day_on, seed, faults, incidents=demo_incidents(city, days.on(day_on)))

    @property
    def world(self) -> World:
        """The world as it is; never written to."""
        return self._world

    @property
    def now(self) -> datetime:
        """The simulated moment, aware, in UTC."""
        return datetime_from_epoch_minutes(self._world.epoch_minutes)

    @property
    def now_local(self) -> datetime:
        """The same in the city's time zone."""
        return self.now.astimezone(ZoneInfo(self.city.timezone))

    @property
    def is_over(self) -> bool:
        """Whether the first day is over: every site closed and empty, or midnight passed."""
        world = self._world
        if world.day.today.day_on > self._first_on:
            return True
        last_closing = float(world.day.closes.max()) + self._assumed.overtime_minutes
        return world.epoch_minutes >= last_closing and not world.inside_people.any()

    def advance(self, minutes: float, on_step: Callable[[World], None] = _nothing) -> None:
        """Live so many minutes; `on_step` sees the world after every step. A new local day begins at midnight."""
        self._live_until(self._world.epoch_minutes + minutes, on_step)

    def advance_to_morning(self, starts_at: time = DEMO_STARTS_AT) -> None:
        """Live through the night until a local time of the next day."""
        next_on = self.now_local.date() + timedelta(days=1)
        morning = datetime.combine(next_on, starts_at, ZoneInfo(self.city.timezone))
        self._live_until(epoch_minutes_from_datetime(morning))

    def reports(self) -> list[bytes]:
        """Reports of the sites as they reach the reader: some late, missing, repeated or wrong, as the faults say."""
        payloads = report_payloads(self._world, self._five_minutes_ago, self._reporters)
        sent, self._held = sent_reports(payloads, self._held, self._rng.reports, self._faults)
        return sent

    def take_orders(self, orders: Sequence[dict[str, Any]]) -> None:
        """
        Hand the sites every order that stands `sent`, as the orders API lists them.

        One that was taken before is not taken again; one not answered yet and no longer listed is dropped.

        Raises
        ------
        InputWrong
            A decision cannot be read.
        """
        known = {errand.order_id for errand in self._errands}
        orders = on_slow_roads(orders, self._world.day.travel_factor)
        fresh = [order for order in orders if order["order_id"] not in self._taken_ids or order["order_id"] in known]
        self._errands = errands_of(fresh, self._errands, self._world.epoch_minutes, self._params, self._rng.orders)
        self._taken_ids.update(order["order_id"] for order in orders)

    def receipts(self) -> list[tuple[str, dict[str, Any]]]:
        """Receipts given since the last call, oldest first: the order's id and the receipt as plain JSON values."""
        given, self._receipts = self._receipts, []
        return given

    def past_weeks_arrivals(self) -> Iterator[tuple[date, tuple[str, ...], FloatArray]]:
        """Arrivals of the four weeks before the first day, as `ReportStore.import_arrivals` takes them."""
        rng = np.random.default_rng([self._seed, 100])
        return past_weeks_arrivals(self.city, self._days, rng, self._first_on, self._assumed)

    def summary(self) -> dict[str, float]:
        """
        Where the city stands; people and doses since the first morning.

        `mean_wait_minutes` counts the waiting of all who came, also of those who left, over all who came.
        """
        world, totals = self._world, self._world.totals
        arrived, lost = totals.arrived.sum(), totals.balked.sum() + totals.left.sum() + totals.turned_away.sum()
        waited = totals.waited_minutes.sum()
        return {
            "waiting_people": float(world.queued_people.sum()),
            "seated_people": float(world.seated_people.sum()),
            "arrived_people": float(arrived),
            "served_people": float(totals.doses_given.sum()),
            "lost_people": float(lost),
            "mean_wait_minutes": float(waited / max(arrived, 1)),
            "busy_share": float(totals.busy_minutes.sum() / max(totals.staffed_minutes.sum(), 1)),
            "doses_given": float(totals.doses_given.sum()),
            "doses_wasted": float(totals.doses_wasted.sum() + totals.doses_expired.sum()),
            "doses_discarded": float(totals.doses_discarded.sum()),
            "errands_open": float(len(self._errands)),
        }

    def _plan_day(self, day_on: date, incidents: Incidents) -> DayPlan:
        return plan_day(self.city, self._days, day_on, incidents, self._assumed, self._rng.day)

    def _reporters_of(self, day_on: date) -> Reporters:
        drawn = Weather.RAIN if self._rng.day.random() < RAIN_SHARE else Weather.DRY
        weather = self._world.day.weather or drawn
        doses = doses_past_weeks(self.city, self._days, self._rng.past, day_on, self._assumed)
        return Reporters(self.city, self._params, doses, weather, self._faults)

    def _live_until(self, epoch_minutes: float, on_step: Callable[[World], None] = _nothing) -> None:
        """Live until a moment, and remember the world a period before it, which the next reports look back to."""
        self._five_minutes_ago = self._world
        while self._world.epoch_minutes < epoch_minutes - 1e-6:
            if self._world.epoch_minutes >= self._world.day.midnight + DAY_MINUTES:
                self._begin_next_day()
            if self._world.epoch_minutes <= epoch_minutes - PERIOD_MINUTES + 1e-6:
                self._five_minutes_ago = self._world
            self._world = step(self._world, self._draws, self._params)
            on_step(self._world)
            self._carry_out()

    def _begin_next_day(self) -> None:
        next_on = self._world.day.today.day_on + timedelta(days=1)
        day = self._plan_day(next_on, NONE)
        self._world = begin_day(self._world, self.city, day, self._params, self._rng.world)
        self._roads = self.city
        self._reporters = self._reporters_of(next_on)

    def _carry_out(self) -> None:
        self._world, self._errands, given = carry_out(
            self._world, self._errands, self._roads, self._params, self._rng.orders
        )
        for one in given:
            receipt = asdict(one.receipt)
            self._receipts.append((one.order_id, {**receipt, "at": receipt["at"].isoformat()}))
