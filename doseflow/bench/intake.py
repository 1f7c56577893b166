"""
How many reports a second one serving process takes, and how long a body of them waits for its answer.

A process of its own sends bodies at a fixed rate, whether or not earlier ones are answered: a wait is counted from the
moment at which a body was to be sent, so that a server that stops is not flattered by a sender that stops with it. An
answer means that every report of the body is checked and stored.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from doseflow.bench.figures import Figure, percentile_figure
from doseflow.bench.intake_load import Load, LoadResult, play_load
from doseflow.errors import EnvironmentUnfit
from doseflow.gateways.city_client import CityClient
from doseflow.live.machine_needs import free_port
from doseflow.store.sizes import table_sizes

START_SECONDS = 60.0
TARGET_P99_MILLISECONDS = 50.0
TARGET_PER_SECOND = 5_000.0
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class IntakeRun:
    """One run against one database."""

    load: Load
    store: str
    result: LoadResult
    server_seconds: float
    """Processor time of the serving process while it was sent to."""
    num_stored: int


def measure_intake(load: Load, store_url: str | None, advance: Callable[[float], None]) -> IntakeRun:
    """
    Serve a synthetic city on a database, send to it, and count what it has kept.

    Parameters
    ----------
    store_url
        An empty database; a SQLite file that is thrown away, if None.
    advance
        Called with the seconds sent so far.

    Raises
    ------
    EnvironmentUnfit
        The server did not start.
    """
    with tempfile.TemporaryDirectory(prefix="doseflow-bench-") as folder:
        url = store_url or f"sqlite:///{Path(folder) / 'bench.sqlite'}"
        with _serving(load.num_sites, url, Path(folder)) as (address, process):
            began = _processor_seconds(process.pid)
            result = _from_another_process(address, load, advance)
            server_seconds = _processor_seconds(process.pid) - began
        kept = next(one.num_rows for one in table_sizes(url) if one.name == "reports")
    return IntakeRun(load, url.partition(":")[0], result, server_seconds, kept)


def figures_of(run: IntakeRun) -> list[Figure]:
    """Reports taken a second, waits, and what a report costs the server."""
    load, result = run.load, run.result
    params = {"store": run.store, "batch": load.batch, "rate": load.rate_per_second, "sites": load.num_sites}
    per_second = result.num_accepted / result.seconds
    target = TARGET_PER_SECOND if load.rate_per_second >= TARGET_PER_SECOND else None
    is_met = per_second >= 0.99 * TARGET_PER_SECOND and run.num_stored == result.num_accepted
    figures = [
        Figure(
            "reports_per_second",
            per_second,
            "reports/second",
            params,
            n=result.num_accepted,
            target=target,
            met=None if target is None else is_met,
            notes=f"{run.num_stored} stored, {result.num_refused} refused, {result.num_failed} bodies unanswered",
        )
    ]
    figures += [
        percentile_figure(
            f"intake_p{percentile}_milliseconds",
            result.milliseconds,
            percentile,
            params,
            seed=load.seed,
            target=TARGET_P99_MILLISECONDS if percentile == 99 else None,
        )
        for percentile in (50, 95, 99)
    ]
    cost = run.server_seconds / max(1, result.num_accepted) * 1e6
    figures.append(
        Figure("server_microseconds_per_report", cost, "microseconds", params, n=result.num_accepted, seed=load.seed)
    )
    return figures


@contextmanager
def _serving(num_sites: int, url: str, folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    port = free_port()
    environment = os.environ | {
        "DOSEFLOW_CITY": f"synthetic:{num_sites}",
        "DOSEFLOW_STORE__URL": url,
        "DOSEFLOW_HTTP__PORT": str(port),
    }
    log_path = folder / "serve.log"
    with log_path.open("wb") as log:
        command = [sys.executable, "-m", "doseflow", "serve"]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)  # noqa: S603 - our own program
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_ready(address, process, log_path)
        yield address, process
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait_until_ready(address: str, process: subprocess.Popen[bytes], log_path: Path) -> None:
    give_up_seconds = time.monotonic() + START_SECONDS
    with CityClient(address, timeout_seconds=2) as client:
        while not client.answers():
            if process.poll() is not None or time.monotonic() > give_up_seconds:
                said = log_path.read_text(errors="replace").strip().splitlines()
                raise EnvironmentUnfit(f"the server did not start: {said[-1] if said else 'it said nothing'}")
            time.sleep(0.1)


def _from_another_process(address: str, load: Load, advance: Callable[[float], None]) -> LoadResult:
    # Not forked: what it sends with must share nothing with the process that measures.
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=play_load, args=(address, load, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        while not isinstance(told := ours.recv(), LoadResult):
            advance(told)
        return told
    except EOFError as error:
        raise EnvironmentUnfit("the process that sends reports ended before it had sent all") from error
    finally:
        process.join(timeout=10)
        process.terminate()


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND
