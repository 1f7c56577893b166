"""watch(): what was learned so far and a new state become what is learned now, and the anomalies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from doseflow.domain.anomaly import Anomaly
from doseflow.domain.state import CityState
from doseflow.state.watch.alarms import next_anomalies
from doseflow.state.watch.counters import counter_findings, go_on_counters
from doseflow.state.watch.findings import Finding
from doseflow.state.watch.fridge_readings import FridgeReadings, fridge_readings
from doseflow.state.watch.loggers import go_on_loggers, logger_findings
from doseflow.state.watch.neighbours import go_on_quiet, quiet_findings
from doseflow.state.watch.params import WatchParams
from doseflow.state.watch.people import PeopleStep, begun_again, go_on_people, people_findings
from doseflow.state.watch.stock import go_on_stock, stock_begun_again, stock_bound, stock_findings
from doseflow.state.watch.stuck import go_on_counts, stuck_findings
from doseflow.state.watch.temperatures import go_on_temperatures, jump_findings
from doseflow.state.watch.told import Told, told_since
from doseflow.state.watch.watch_state import WatchState
from doseflow.units import epoch_minutes_from_datetime

DEFAULT = WatchParams()


def watch(
    previous: WatchState, state: CityState, params: WatchParams = DEFAULT
) -> tuple[WatchState, tuple[Anomaly, ...]]:
    """
    Look at a state after the fold; neither it nor what was learned before is changed.

    Of reports that came together only the newest of each class is looked at, as in the state; one that came too late
    for its cycle leaves a gap, over which nothing is summed up.

    Returns
    -------
    learned
        To be handed in with the next state.
    anomalies
        The open ones, and those that ended with this cycle (`ended_at`).
    """
    told = told_since(previous.counts, state)
    readings = fridge_readings(previous.axis, state, told)
    people = go_on_people(previous.people, told, state.is_open, params)
    learned = replace(
        previous,
        counts=told.now,
        stuck=go_on_counts(previous.stuck, told, params),
        stock=go_on_stock(previous.stock, told, state, params),
        quiet=go_on_quiet(previous.quiet, told, state, params),
        temperatures=go_on_temperatures(previous.temperatures, readings, previous.loggers.last_valid, params),
        loggers=go_on_loggers(previous.loggers, readings, params),
        counters=go_on_counters(previous.counters, readings, state),
    )
    findings = list(_findings(previous, learned, people, told, readings, stock_bound(state), params))
    anomalies = next_anomalies(
        previous.anomalies,
        findings,
        state.city,
        previous.axis,
        epoch_minutes_from_datetime(state.as_of),
        params,
    )
    learned = replace(
        learned,
        people=begun_again(people),
        stock=stock_begun_again(learned.stock, stock_bound(state)),
        anomalies=anomalies,
    )
    return learned, anomalies


def _findings(
    previous: WatchState,
    learned: WatchState,
    people: PeopleStep,
    told: Told,
    readings: FridgeReadings,
    bound: float,
    params: WatchParams,
) -> Iterator[Finding]:
    """All findings, the most telling first: what is stuck or jumped explains why a balance is off."""
    yield from stuck_findings(learned.stuck, told, params)
    yield from people_findings(people, told)
    yield from stock_findings(learned.stock, told, bound)
    yield from quiet_findings(learned.quiet, told, params)
    yield from logger_findings(learned.loggers, previous.axis, readings, params)
    yield from jump_findings(learned.temperatures, previous.axis, readings, previous.loggers.last_valid)
    yield from counter_findings(learned.counters, previous.axis, readings)
