"""
Prints the figures that the simulator takes from real series: `python tools/fit_profiles.py DATA`.

DATA holds the folders `call_centre`, `ed_arrivals`, `subway_flow` and `czech` with the originals. Only the few printed
figures go into the product: `WALK_IN_TENTHS` and the no-show share.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FROM_MINUTE, UNTIL_MINUTE = 8 * 60, 18 * 60
"""The commonest opening hours of a site; a tenth of them is an hour."""
CZECH_FROM_ON, CZECH_UNTIL_ON = "2021-04-05", "2021-05-31"
LEAST_BOOKED_PEOPLE = 50
AGREEMENT = 0.5, 1.5
"""Doses over bookings of a site-day whose two series speak of the same place; the others are left out."""
SUBWAY_FROM_MINUTE, SUBWAY_STEP_MINUTES = 5 * 60, 10
LEAST_DAYS = 10


def fitted(data: Path) -> dict[str, Any]:
    """Everything that is printed, by name."""
    calls, patients = calls_tenths(data), patients_tenths(data)
    return {
        "calls_tenths": rounded(calls),
        "patients_tenths": rounded(patients),
        "subway_tenths": rounded(subway_tenths(data)),
        "walk_in_tenths": rounded((calls + patients) / 2),
        **czech_shortfall(data),
    }


def calls_tenths(data: Path) -> np.ndarray:
    by_minute: Counter[int] = Counter()
    for row in rows(data / "call_centre" / "calls_5min_until_2003-08.csv.gz"):
        clock = row["DateTime"][11:16]
        by_minute[60 * int(clock[:2]) + int(clock[3:])] += int(row["Calls"])
    return tenths(by_minute)


def patients_tenths(data: Path) -> np.ndarray:
    by_minute: Counter[int] = Counter()
    for row in rows(data / "ed_arrivals" / "ed_arrivals_hourly_2013-2018.csv.gz"):
        if row["Weekday"] not in ("Sat", "Sun"):
            by_minute[60 * int(float(row["Hour"]))] += int(float(row["Arrivals"]))
    return tenths(by_minute)


def subway_tenths(data: Path) -> np.ndarray:
    """Entries of all stations: two rushes of commuters, unlike any visit to a doctor, and so not used."""
    by_minute: Counter[int] = Counter()
    with gzip.open(data / "subway_flow" / "entries_10min_days01-20.csv.gz", "rt") as stream:
        for line in stream:
            for position, people in enumerate(line.split(",")):
                minute = SUBWAY_FROM_MINUTE + SUBWAY_STEP_MINUTES * (position % 108)
                by_minute[minute] += int(float(people))
    return tenths(by_minute)


def tenths(by_minute: Counter[int]) -> np.ndarray:
    """Share of the people of the opening hours who come in each tenth of them."""
    hours = np.zeros(10)
    for minute, people in by_minute.items():
        if FROM_MINUTE <= minute < UNTIL_MINUTE:
            hours[(minute - FROM_MINUTE) // 60] += people
    return hours / hours.sum()


def czech_shortfall(data: Path) -> dict[str, Any]:
    """
    How far doses used fall short of bookings, where they do, over all bookings; and how far they exceed them elsewhere.

    A no-show whose place a standby takes is not seen, so the shortfall is the least that no-shows can be on average.
    """
    booked, used = czech_series(data)
    keys = [key for key, people in booked.items() if people >= LEAST_BOOKED_PEOPLE and used[key] > 0]
    people, doses = (np.array([series[key] for key in keys], dtype=float) for series in (booked, used))
    agrees = (people * AGREEMENT[0] < doses) & (doses < people * AGREEMENT[1])
    people, doses = people[agrees], doses[agrees]
    sites = np.array([key[1] for key, agree in zip(keys, agrees, strict=True) if agree])
    shortfall = np.clip(people - doses, 0, None)
    by_site = [
        shortfall[sites == site].sum() / people[sites == site].sum()
        for site in np.unique(sites)
        if (sites == site).sum() >= LEAST_DAYS
    ]
    return {
        "site_days": len(people),
        "site_days_left_out": int((~agrees).sum()),
        "shortfall_share": round(float(shortfall.sum() / people.sum()), 4),
        "excess_share": round(float(np.clip(doses - people, 0, None).sum() / people.sum()), 4),
        "shortfall_share_sd_over_sites": round(float(np.std(by_site)), 4),
    }


def czech_series(data: Path) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """People booked and doses used by day and site."""
    booked: Counter[tuple[str, str]] = Counter()
    used: Counter[tuple[str, str]] = Counter()
    for row in rows(data / "czech" / "rezervace_site_day.csv.gz"):
        if CZECH_FROM_ON <= row["datum"] <= CZECH_UNTIL_ON:
            taken = int(row["maximalni_kapacita"]) - int(row["volna_kapacita"])
            booked[row["datum"], row["ockovaci_misto_id"]] += taken
    for row in rows(data / "czech" / "spotreba_site_day.csv.gz"):
        used[row["datum"], row["ockovaci_misto_id"]] += int(row["pouzite_davky"])
    return booked, used


def rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream)


def rounded(shares: np.ndarray) -> list[float]:
    return [round(float(share), 3) for share in shares]


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: python tools/fit_profiles.py DATA", file=sys.stderr)
        return 2
    print(json.dumps(fitted(Path(sys.argv[1])), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
