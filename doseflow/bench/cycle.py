"""
How long from reports in to orders stored.

Each measured cycle takes the body of reports of all sites as it came over the wire, checks and keeps every report,
folds, forecasts, proposes, makes feasible, and stores plan and orders. Making the reports, carrying orders out and
handing them over happen between the measurements, since sites do that.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from doseflow.bench.figures import Figure, percentile_figure
from doseflow.bootstrap import OpenCity, open_city
from doseflow.demo.playing import bring_receipts, hand_over_orders, import_past_weeks, join_reports
from doseflow.live.clocks import SimulatedClock
from doseflow.settings import Settings, StoreSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.units import PERIOD_MINUTES

WARM_UP_CYCLES = 10
DAY_ENDS_AT_HOUR = 17
"""Local hour after which the measured day goes on the next morning."""
TARGET_P99_MILLISECONDS = 100.0
DECISION_STAGES = ("policy", "feasible")
DECISION_TARGETS_MILLISECONDS = {200: 20.0, 2000: 80.0}
"""Of the learned planner, by sites: proposal and repair, the median."""


class ProcessorClock(SimulatedClock):
    """Durations are those that the processor worked for this process: on a machine that does other things too."""

    def monotonic_seconds(self) -> float:
        """Seconds of work that only ever grow."""
        return time.process_time()


@dataclass(frozen=True)
class CycleTimes:
    """Latencies of one run, each list (cycles,)."""

    num_sites: int
    total_milliseconds: list[float]
    stage_milliseconds: list[dict[str, float]]
    orders_per_cycle: list[int]

    @property
    def decision_milliseconds(self) -> list[float]:
        """Of the proposal and its repair, (cycles,)."""
        return [sum(stages[name] for name in DECISION_STAGES) for stages in self.stage_milliseconds]

    def stage_percentiles(self, percentile: float) -> dict[str, float]:
        """A percentile of every stage, in the order of the flow."""
        names = dict.fromkeys(name for stages in self.stage_milliseconds for name in stages)
        return {
            name: float(np.percentile([stages.get(name, 0.0) for stages in self.stage_milliseconds], percentile))
            for name in names
        }


def measure_cycles(
    city_name: str,
    num_cycles: int,
    *,
    seed: int,
    settings: Settings,
    advance: Callable[[], None] = lambda: None,
    by_processor: bool = False,
) -> CycleTimes:
    """
    Measure `num_cycles` cycles of a city after a warm-up, on a store of its own.

    Parameters
    ----------
    advance
        Called after every cycle, for a progress bar.
    by_processor
        Time worked, in place of time passed.
    """
    with tempfile.TemporaryDirectory(prefix="doseflow-bench-") as folder:
        store = StoreSettings(url=f"sqlite:///{Path(folder) / 'bench.sqlite'}")
        city = SimulatedCity.from_name(city_name, seed=seed)
        clock = (ProcessorClock if by_processor else SimulatedClock)(city.now)
        opened = open_city(settings.model_copy(update={"store": store}), clock=clock, city=city.city)
        try:
            import_past_weeks(opened, city)
            for _ in range(WARM_UP_CYCLES):
                _one_cycle(opened, city, clock)
            gc.collect()
            gc.freeze()
            return _measure(opened, city, clock, num_cycles, advance)
        finally:
            gc.unfreeze()
            opened.close()


def figures_of(times: CycleTimes, *, planner: str, seed: int) -> list[Figure]:
    """p50, p95 and p99 of the whole cycle, and of every stage."""
    params = {"sites": times.num_sites, "planner": planner}
    figures = [
        percentile_figure(
            f"cycle_p{percentile}_milliseconds",
            times.total_milliseconds,
            percentile,
            params,
            seed=seed,
            target=TARGET_P99_MILLISECONDS if percentile == 99 else None,
        )
        for percentile in (50, 95, 99)
    ]
    target = DECISION_TARGETS_MILLISECONDS.get(times.num_sites) if planner == "learned" else None
    figures += [
        percentile_figure(
            f"decision_p{percentile}_milliseconds",
            times.decision_milliseconds,
            percentile,
            params,
            seed=seed,
            target=target if percentile == 50 else None,
        )
        for percentile in (50, 99)
    ]
    for percentile in (50, 99):
        for stage, value in times.stage_percentiles(percentile).items():
            figures.append(
                Figure(
                    f"stage_p{percentile}_milliseconds",
                    value,
                    "milliseconds",
                    params | {"stage": stage},
                    n=len(times.total_milliseconds),
                    seed=seed,
                )
            )
    return figures


def growth_exponents(runs: list[CycleTimes], *, planner: str, seed: int) -> list[Figure]:
    """Slope of log median time over log sites, of the whole cycle and of its decision: 1 is linear."""
    sites = np.log([run.num_sites for run in runs])
    params = {"sites": [run.num_sites for run in runs], "planner": planner}
    figures = []
    for name, times in (
        ("growth_exponent", [run.total_milliseconds for run in runs]),
        ("decision_growth_exponent", [run.decision_milliseconds for run in runs]),
    ):
        slope = float(np.polyfit(sites, np.log([np.median(one) for one in times]), 1)[0])
        figures.append(Figure(name, slope, "1", params, n=len(runs), seed=seed, target=1.1, met=slope <= 1.1))
    return figures


def _measure(
    opened: OpenCity, city: SimulatedCity, clock: SimulatedClock, num_cycles: int, advance: Callable[[], None]
) -> CycleTimes:
    totals, stages, orders = [], [], []
    for _ in range(num_cycles):
        milliseconds, num_orders = _one_cycle(opened, city, clock)
        totals.append(sum(milliseconds.values()))
        stages.append(milliseconds)
        orders.append(num_orders)
        advance()
    return CycleTimes(city.city.num_sites, totals, stages, orders)


def _one_cycle(opened: OpenCity, city: SimulatedCity, clock: SimulatedClock) -> tuple[dict[str, float], int]:
    if city.now_local.hour >= DAY_ENDS_AT_HOUR:
        city.advance_to_morning()  # closed sites are cheap to plan: a night would flatter the figures
    city.advance(PERIOD_MINUTES)
    clock.set(city.now)
    bring_receipts(opened, city)
    body = join_reports(city.reports())
    began_seconds = clock.monotonic_seconds()
    opened.live.submit(body)
    intake_milliseconds = (clock.monotonic_seconds() - began_seconds) * 1000
    cycle = opened.live.run_cycle()
    whole_milliseconds = (clock.monotonic_seconds() - began_seconds) * 1000
    stages = {"intake": intake_milliseconds} | cycle.stage_milliseconds
    # What no stage claims (locks, events) belongs to the total too.
    stages["between"] = whole_milliseconds - sum(stages.values())
    hand_over_orders(opened, city)
    return stages, len(cycle.new_orders)
