"""
Faults of readings, put into reports: what breaks at a site, when, for how long.

A fault keeps what it needs of the site's reports from its first period on, and gives each report back changed. Reports
are never written to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

Payload = dict[str, Any]


class FaultKind(StrEnum):
    """What breaks."""

    ARRIVALS_STUCK = "arrivals_stuck"
    WAITING_STUCK = "waiting_stuck"
    DOSES_STUCK = "doses_stuck"
    ARRIVALS_NOUGHT = "arrivals_nought"
    DOSES_NOUGHT = "doses_nought"
    ALL_NOUGHT = "all_nought"
    REPORT_FROZEN = "report_frozen"
    QUEUE_SPIKE = "queue_spike"
    DOSES_SPIKE = "doses_spike"
    STOCK_STUCK = "stock_stuck"
    STOCK_RISE = "stock_rise"
    LOGGER_STUCK = "logger_stuck"
    LOGGER_SILENT = "logger_silent"
    TEMPERATURE_OFFSET = "temperature_offset"
    TEMPERATURE_SPIKE = "temperature_spike"
    COUNTER_WRONG = "counter_wrong"


SPIKES = frozenset({FaultKind.QUEUE_SPIKE, FaultKind.DOSES_SPIKE, FaultKind.TEMPERATURE_SPIKE})
"""Faults of one report; the others last."""
OF_FRIDGE = frozenset(
    {
        FaultKind.LOGGER_STUCK,
        FaultKind.LOGGER_SILENT,
        FaultKind.TEMPERATURE_OFFSET,
        FaultKind.TEMPERATURE_SPIKE,
        FaultKind.COUNTER_WRONG,
    }
)
SPIKE_PEOPLE = 60
SPIKE_DOSES = 60
RISE_DOSES = 60
OFFSET_CELSIUS = 3.0
SPIKE_CELSIUS = 6.0
COUNTER_MINUTES = 90.0


@dataclass
class Fault:
    """One fault; `fridge_id` names the fridge where it is one's."""

    kind: FaultKind
    site_idx: int
    fridge_id: str | None
    starts_at: datetime
    ends_at: datetime
    first: Payload = field(default_factory=dict)

    def strikes(self, now: datetime) -> bool:
        """Whether the report of a moment is wrong."""
        return self.starts_at <= now < self.ends_at

    def broken(self, payload: Payload) -> Payload:
        """The report with the fault in it."""
        self.first = self.first or payload
        return _BREAK[self.kind](payload, self)


def _first(*names: str) -> Callable[[Payload, Fault], Payload]:
    return lambda payload, fault: payload | {name: fault.first[name] for name in names}


def _nought(*names: str) -> Callable[[Payload, Fault], Payload]:
    return lambda payload, _fault: payload | dict.fromkeys(names, 0)


def _all_nought(payload: Payload, _fault: Fault) -> Payload:
    waiting = dict.fromkeys(payload["waiting_people"], 0)
    seats = payload["seats"] | {"taken": 0}
    noughts = {"arrivals_people": 0, "doses_given": 0, "observed_wait_minutes": 0.0}
    return payload | noughts | {"waiting_people": waiting, "seats": seats}


def _frozen(payload: Payload, fault: Fault) -> Payload:
    return fault.first | {name: payload[name] for name in ("valid_at", "report_id")}


def _queue_spike(payload: Payload, _fault: Fault) -> Payload:
    waiting = payload["waiting_people"]
    return payload | {"waiting_people": waiting | {"registration": waiting["registration"] + SPIKE_PEOPLE}}


def _doses_spike(payload: Payload, _fault: Fault) -> Payload:
    return payload | {"doses_given": payload["doses_given"] + SPIKE_DOSES}


def _stock_rise(payload: Payload, _fault: Fault) -> Payload:
    first, *others = payload["lots"] or [None]
    if first is None:
        return payload
    return payload | {"lots": [first | {"unopened_doses": first["unopened_doses"] + RISE_DOSES}, *others]}


def _of_fridge(change: Callable[[Payload, Payload], Payload]) -> Callable[[Payload, Fault], Payload]:
    """Change one fridge; `change` sees it as it is and as it was when the fault began."""

    def broken(payload: Payload, fault: Fault) -> Payload:
        was = {one["fridge_id"]: one for one in fault.first["fridges"]}
        fridges = [
            change(one, was[one["fridge_id"]]) if one["fridge_id"] == fault.fridge_id else one
            for one in payload["fridges"]
        ]
        return payload | {"fridges": fridges}

    return broken


def _warmer(degrees: float) -> Callable[[Payload, Payload], Payload]:
    return lambda now, _was: now | {"temperature_celsius": round(now["temperature_celsius"] + degrees, 1)}


def _stuck(now: Payload, was: Payload) -> Payload:
    return now | {name: was[name] for name in ("temperature_celsius", "excursion_minutes")}


def _silent(now: Payload, _was: Payload) -> Payload:
    return {name: value for name, value in now.items() if name not in {"temperature_celsius", "excursion_minutes"}}


def _counter(now: Payload, _was: Payload) -> Payload:
    return now | {"excursion_minutes": now["excursion_minutes"] + COUNTER_MINUTES}


_BREAK: dict[FaultKind, Callable[[Payload, Fault], Payload]] = {
    FaultKind.ARRIVALS_STUCK: _first("arrivals_people"),
    FaultKind.WAITING_STUCK: _first("waiting_people"),
    FaultKind.DOSES_STUCK: _first("doses_given"),
    FaultKind.ARRIVALS_NOUGHT: _nought("arrivals_people"),
    FaultKind.DOSES_NOUGHT: _nought("doses_given"),
    FaultKind.ALL_NOUGHT: _all_nought,
    FaultKind.REPORT_FROZEN: _frozen,
    FaultKind.QUEUE_SPIKE: _queue_spike,
    FaultKind.DOSES_SPIKE: _doses_spike,
    FaultKind.STOCK_STUCK: _first("lots"),
    FaultKind.STOCK_RISE: _stock_rise,
    FaultKind.LOGGER_STUCK: _of_fridge(_stuck),
    FaultKind.LOGGER_SILENT: _of_fridge(_silent),
    FaultKind.TEMPERATURE_OFFSET: _of_fridge(_warmer(OFFSET_CELSIUS)),
    FaultKind.TEMPERATURE_SPIKE: _of_fridge(_warmer(SPIKE_CELSIUS)),
    FaultKind.COUNTER_WRONG: _of_fridge(_counter),
}
