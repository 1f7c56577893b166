"""Makes `examples/morning.json`, the state file of the tutorial: 16 synthetic sites in the middle of a bad morning."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import numpy as np

from doseflow.domain.orders import Commitments
from doseflow.domain.recent_periods import RecentPeriods
from doseflow.domain.report import ReceivedReport
from doseflow.intake.body import AcceptedItem, read_body
from doseflow.intake.params import IntakeParams
from doseflow.intake.snapshot_file import Snapshot, write_snapshot
from doseflow.live.clocks import SimulatedClock
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.state.arrival_history import ArrivalHistory

NUM_SITES = 16
SEED = 7
MINUTES = 150


def main(path: Path) -> None:
    city = SimulatedCity.from_name(f"synthetic:{NUM_SITES}", seed=SEED)
    city.advance(MINUTES)
    clock = SimulatedClock(city.now)
    body = b"[" + b",".join(city.reports()) + b"]"
    items = read_body(body, city.city, clock.now(), IntakeParams(), lambda _refused: None)
    reports = [ReceivedReport(item.received.report, clock.now()) for item in items if isinstance(item, AcceptedItem)]
    recent = RecentPeriods.unknown(city.city.num_sites)
    snapshot = Snapshot(city.city, clock.now(), reports, Commitments(), _past_weeks(city, clock), recent)
    path.write_bytes(write_snapshot(snapshot) + b"\n")


def _past_weeks(city: SimulatedCity, clock: SimulatedClock) -> np.ndarray:
    past = list(city.past_weeks_arrivals())
    start = clock.now().replace(hour=0, minute=0, second=0) - timedelta(days=len(past))
    history = ArrivalHistory(city.city, start)
    for day_on, _, people in past:
        midnight = start.replace(year=day_on.year, month=day_on.month, day=day_on.day)
        history.load(people, midnight)
    return history.coming_periods(clock.now())


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "examples/morning.json"))
