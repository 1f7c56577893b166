"""What the watch remembers from one cycle to the next."""

from __future__ import annotations

from dataclasses import dataclass, field

from doseflow.domain.anomaly import Anomaly
from doseflow.domain.state import CityState
from doseflow.state.unknown import unknown_state
from doseflow.state.watch.counters import Counters, no_counters
from doseflow.state.watch.fridge_readings import FridgeAxis, fridge_axis
from doseflow.state.watch.loggers import Loggers, no_loggers
from doseflow.state.watch.neighbours import Quiet, no_quiet
from doseflow.state.watch.params import WatchParams
from doseflow.state.watch.people import PeopleBalance, no_balance
from doseflow.state.watch.stock import StockBalance, no_stock_balance
from doseflow.state.watch.stuck import StuckCounts, no_stuck_counts
from doseflow.state.watch.temperatures import Temperatures, no_temperatures
from doseflow.state.watch.told import Counts, counts_of


@dataclass(frozen=True)
class WatchState:
    """
    What was last told and what was learned; arrays over the sites, S, or the fridges of the city file, N.

    `anomalies` are those of the last cycle: the open ones, and those that ended with it.
    """

    counts: Counts
    stuck: StuckCounts
    people: PeopleBalance
    stock: StockBalance
    quiet: Quiet
    axis: FridgeAxis
    temperatures: Temperatures
    loggers: Loggers
    counters: Counters
    anomalies: tuple[Anomaly, ...] = field(default=())


def first_watch(state: CityState, params: WatchParams | None = None) -> WatchState:
    """A watch that has seen nothing, of the city of a state."""
    params, city = params or WatchParams(), state.city
    nothing = unknown_state(city, state.as_of)
    num_sites, axis = city.num_sites, fridge_axis(city)
    return WatchState(
        counts=counts_of(nothing),
        stuck=no_stuck_counts(num_sites),
        people=no_balance(num_sites),
        stock=no_stock_balance(num_sites),
        quiet=no_quiet(num_sites),
        axis=axis,
        temperatures=no_temperatures(len(axis.keys), params),
        loggers=no_loggers(len(axis.keys)),
        counters=no_counters(len(axis.keys), nothing.lots),
    )
