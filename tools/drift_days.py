"""
Plays simulated days through the living city, and prints after each what the drift watch says:
`python tools/drift_days.py --days 40` for days that all are alike, and
`python tools/drift_days.py --days 15 --from-day 11 --slower 1.4` for services that take longer from the eleventh on.

Every day is a fresh one of the same city: its bookings are those of its date, its luck that of a seed of its own.
"""

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from doseflow.bootstrap import OpenCity, open_city
from doseflow.demo.playing import bring_receipts, hand_over_orders, import_past_weeks, join_reports
from doseflow.live.clocks import SimulatedClock
from doseflow.live.drift.evidence import DriftView
from doseflow.settings import Settings, StoreSettings
from doseflow.simulate.city_choice import city_from_name, days_of
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.replayed_city import DEMO_DAY_ON, SimulatedCity
from doseflow.units import PERIOD_MINUTES


def play_days(opened: OpenCity, cities: Iterator[SimulatedCity], clock: SimulatedClock) -> Iterator[DriftView]:
    """The watch's view after each day, which is compared with the reference when the next one begins."""
    for city in cities:
        while not city.is_over:
            city.advance(PERIOD_MINUTES)
            clock.set(city.now)
            bring_receipts(opened, city)
            opened.live.submit(join_reports(city.reports()))
            opened.live.run_cycle()
            hand_over_orders(opened, city)
        yield opened.live.models.drift()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--days", type=int, default=20)
    options.add_argument("--sites", type=int, default=12)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--forecaster", default="bookings_first")
    options.add_argument("--from-day", type=int, default=0, help="Day from which --param and --slower hold.")
    options.add_argument("--slower", type=float, default=1.0, help="Service times over those that the city file says.")
    options.add_argument("--param", action="append", default=[], help="NAME=NUMBER of the simulator.")
    chosen = options.parse_args()
    shifted = replace(
        SimulationParams(), **{name: float(value) for name, value in (each.split("=") for each in chosen.param)}
    )
    city, usual = city_from_name(f"synthetic:{chosen.sites}"), SimulationParams()
    slower = replace(city, service_minutes=tuple(chosen.slower * minutes for minutes in city.service_minutes))
    days = days_of(city, chosen.seed)

    def simulated(number: int) -> SimulatedCity:
        is_shifted = bool(chosen.from_day) and number + 1 >= chosen.from_day
        day_on, seed = DEMO_DAY_ON + timedelta(days=number), 1000 * chosen.seed + number
        return SimulatedCity(
            slower if is_shifted else city, days, day_on, seed, params=shifted if is_shifted else usual
        )

    first = simulated(0)
    clock = SimulatedClock(first.now)
    with tempfile.TemporaryDirectory() as folder:
        store = StoreSettings(url=f"sqlite:///{Path(folder) / 'days.sqlite'}")
        settings = Settings(store=store, forecaster=chosen.forecaster)
        with contextlib.closing(open_city(settings, clock=clock, city=city)) as opened:
            import_past_weeks(opened, first)
            for number, view in enumerate(play_days(opened, map(simulated, range(chosen.days)), clock), start=1):
                shares = "  ".join(f"{each.kind} {each.share:5.2f}" for each in view.evidence)
                speaking = [each.feature_class.name.lower() for each in view.classes if each.speaks]
                print(f"day {number:3d}  {shares}  {' '.join(speaking)}", flush=True)
    sys.exit(int(view.is_training_recommended))


if __name__ == "__main__":
    main()
