"""Sends bodies of reports at a fixed rate, and notes when each was to be sent and when it was answered."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from typing import Any

import orjson

from doseflow.errors import GatewayFailed
from doseflow.gateways.city_client import CityClient
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.report_faults import ReportFaults

NUM_CONNECTIONS = 8
TELL_SECONDS = 0.5
WARM_UP_SECONDS = 5.0
"""Sent before, at the same rate: a process that has just begun imports and opens what it needs."""


@dataclass(frozen=True, slots=True)
class Load:
    """
    What is sent: `rate_per_second` reports a second in bodies of `batch`, for `seconds`.

    `WARM_UP_SECONDS` of the same go before, whose waits do not count. The reports are those of a simulated city of
    `num_sites`, with all that its sites tell, about 2 kB each.
    """

    rate_per_second: float
    batch: int
    seconds: float
    num_sites: int
    seed: int


@dataclass
class LoadResult:
    """What came of it; `milliseconds` from the moment a body was to be sent until it was answered."""

    seconds: float = 0.0
    num_accepted: int = 0
    num_refused: int = 0
    num_failed: int = 0
    milliseconds: list[float] = field(default_factory=list)


def play_load(address: str, load: Load, tell: Connection) -> None:
    """Send the load; the seconds passed and at last a `LoadResult` go to `tell`."""
    bodies, result = _bodies(load), LoadResult()
    due: queue.SimpleQueue[tuple[float, list[bytes], bool] | None] = queue.SimpleQueue()
    lock = threading.Lock()
    senders = [threading.Thread(target=_send, args=(address, due, result, lock)) for _ in range(NUM_CONNECTIONS)]
    for sender in senders:
        sender.start()
    every_seconds = load.batch / load.rate_per_second
    num_warm = round(WARM_UP_SECONDS / every_seconds)
    num_bodies = num_warm + max(1, round(load.seconds / every_seconds))
    began = time.monotonic() + 0.1
    told = began
    for number in range(num_bodies):
        body, at = next(bodies), began + number * every_seconds
        time.sleep(max(0.0, at - time.monotonic()))
        due.put((at, body, number >= num_warm))
        if at - told >= TELL_SECONDS and number >= num_warm:
            told = at
            tell.send(at - began - WARM_UP_SECONDS)
    for _ in senders:
        due.put(None)
    for sender in senders:
        sender.join()
    result.seconds = time.monotonic() - began
    tell.send(result)


def _send(address: str, due: queue.SimpleQueue[Any], result: LoadResult, lock: threading.Lock) -> None:
    with CityClient(address) as client:
        while (one := due.get()) is not None:
            at, body, counts = one
            try:
                outcome = client.send_reports(body)
            except GatewayFailed:
                with lock:
                    result.num_failed += 1
                continue
            with lock:
                if counts:
                    result.milliseconds.append((time.monotonic() - at) * 1000)
                result.num_accepted += outcome.accepted
                result.num_refused += outcome.refused


def _bodies(load: Load) -> Iterator[list[bytes]]:
    """Bodies without end; every report is new, since its id and its moment are."""
    templates = _templates(load)
    number = 0
    while True:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        body = []
        for _ in range(load.batch):
            head = f'{{"report_id":"{now}/{number}","valid_at":"{now}",'.encode()
            body.append(head + templates[number % len(templates)])
            number += 1
        yield body


def _templates(load: Load) -> list[bytes]:
    """Each site's report without its id and its moment, and without the brace that begins it."""
    whole = ReportFaults(late_share=0, missing_share=0, repeated_share=0, wrong_share=0)
    city = SimulatedCity.from_name(f"synthetic:{load.num_sites}", seed=load.seed, faults=whole)
    city.advance(60)
    shift = datetime.now(UTC) - city.now
    templates = []
    for raw in city.reports():
        report = orjson.loads(raw)
        report.pop("report_id", None)
        report.pop("valid_at")
        templates.append(orjson.dumps(_shifted(report, shift))[1:])
    return templates


def _shifted(value: Any, shift: timedelta) -> Any:
    """The value with every moment in it moved from the simulated day to this one."""
    if isinstance(value, dict):
        return {
            key: _moved(item, shift) if key.endswith("_at") and isinstance(item, str) else _shifted(item, shift)
            for key, item in value.items()
        }
    return [_shifted(item, shift) for item in value] if isinstance(value, list) else value


def _moved(moment: str, shift: timedelta) -> str:
    return (datetime.fromisoformat(moment) + shift).isoformat()
