"""`doseflow demo`: open the doors, then let the simulated sites report, take orders and answer over HTTP."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from doseflow.bootstrap import OpenCity, open_city
from doseflow.demo.playing import import_past_weeks
from doseflow.dispatch.relay import relay_once
from doseflow.domain.cycle import Cycle
from doseflow.gateways.city_client import CityClient
from doseflow.live.clocks import SimulatedClock
from doseflow.live.machine_needs import require_free_port, require_writable_folder
from doseflow.settings import Settings, StoreSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.units import PERIOD_MINUTES
from doseflow.web.server import serving


@dataclass(frozen=True)
class DemoChoice:
    """What to show: the city, how fast its day goes, and how many cycles (None: until stopped or the day ends)."""

    city_name: str
    seed: int = 1
    seconds_per_cycle: float = 5.0
    num_cycles: int | None = None
    folder: Path = Path("var")


def run_demo(choice: DemoChoice, settings: Settings, console: Console) -> int:
    """
    Run the whole system until stopped; returns the number of cycles completed.

    Raises
    ------
    EnvironmentUnfit
        The port is taken or the folder cannot be written.
    """
    require_free_port(settings.http.host, settings.http.port)
    require_writable_folder(choice.folder)
    with console.status(f"Making the city {choice.city_name} ..."):
        city = SimulatedCity.from_name(choice.city_name, seed=choice.seed)
        clock = SimulatedClock(city.now)
        # The simulated sites have no keys.
        sign_in = replace(settings.sign_in, is_on=False)
        store = StoreSettings(url=_fresh_store(choice.folder, settings.http.port))
        settings = settings.model_copy(update={"store": store, "sign_in": sign_in})
        opened = open_city(settings, clock=clock, city=city.city)
    try:
        with console.status("Loading the four weeks before ..."):
            import_past_weeks(opened, city)
        with serving(opened.live, settings) as url:
            console.print(
                f"[bold]doseflow[/bold] shows {city.city.name}, {city.city.num_sites} sites, at [link]{url}[/link]"
            )
            console.print("Every line is one cycle of five simulated minutes. Ctrl-C stops.")
            return _play(opened, city, clock, url, choice, console)
    finally:
        opened.close()


def _fresh_store(folder: Path, port: int) -> str:
    """
    The demo's own database, made anew each time: its day always begins in the same morning.

    It carries the port, which is known to be free: no running demo can lose its database to another.
    """
    path = folder / f"demo-{port}.sqlite"
    for leftover in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        leftover.unlink(missing_ok=True)
    return f"sqlite:///{path}"


def _play(
    opened: OpenCity, city: SimulatedCity, clock: SimulatedClock, url: str, choice: DemoChoice, console: Console
) -> int:
    done = 0
    with CityClient(url) as client:
        while not city.is_over and (choice.num_cycles is None or done < choice.num_cycles):
            began_seconds = time.monotonic()
            cycle = _one_cycle(opened, city, clock, client)
            done += 1
            console.print(_line(cycle, city))
            if choice.num_cycles is None or done < choice.num_cycles:
                time.sleep(max(0.0, choice.seconds_per_cycle - (time.monotonic() - began_seconds)))
        if choice.num_cycles is None:
            console.print("The day is over. The dashboard stays up; Ctrl-C stops.")
            while True:
                time.sleep(1)
    return done


def _one_cycle(opened: OpenCity, city: SimulatedCity, clock: SimulatedClock, client: CityClient) -> Cycle:
    city.advance(PERIOD_MINUTES)
    clock.set(city.now)
    for order_id, receipt in city.receipts():
        client.send_receipt(order_id, receipt)
    client.send_reports(city.reports())
    cycle = opened.live.run_cycle()
    asyncio.run(relay_once(opened.live.outbox, opened.gateways, clock, opened.settings.relay))
    city.take_orders(client.orders(states=("sent",)))
    return cycle


def _line(cycle: Cycle, city: SimulatedCity) -> str:
    summary = city.summary()
    total = sum(cycle.stage_milliseconds.values())
    return (
        f"{city.now_local:%Y-%m-%d %H:%M}  cycle {total:5.1f} ms  "
        f"planner {cycle.plan.planner} ({cycle.plan.repair_path})  "
        f"new orders {len(cycle.new_orders):3d}  people waiting {summary['waiting_people']:6.0f}  "
        f"vaccinated today {summary['served_people']:6.0f}"
    )
