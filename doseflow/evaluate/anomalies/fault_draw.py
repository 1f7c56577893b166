"""Which sites break, how and when: drawn for one day at one rate."""

from __future__ import annotations

from datetime import timedelta

import numpy as np

from doseflow.domain.city import IntArray
from doseflow.evaluate.anomalies.faults import OF_FRIDGE, SPIKES, Fault, FaultKind
from doseflow.evaluate.anomalies.recorded_day import RecordedDay
from doseflow.units import PERIOD_MINUTES

LASTS_MINUTES = 120
LEARNING_PERIODS = 12
"""Periods after the takeover, or after the first comer, in which nothing breaks yet."""
KINDS = tuple(FaultKind)


def draw_faults(day: RecordedDay, rate: float, rng: np.random.Generator) -> list[Fault]:
    """
    Faults for a share of the sites that work that day, at least one, each in the middle of its work.

    Kinds come in turn from a random one on, so that each is tried about as often.
    """
    came = np.array([[one["arrivals_people"] for one in period.payloads] for period in day.periods])
    working = [(site, np.flatnonzero(came[:, site])) for site in range(came.shape[1])]
    working = [(site, periods) for site, periods in working if len(periods) > 2 * LEARNING_PERIODS]
    num_faults = min(max(1, round(rate * came.shape[1])), len(working))
    chosen = rng.choice(len(working), size=num_faults, replace=False)
    first_kind = int(rng.integers(len(KINDS)))
    return [
        _fault(KINDS[(first_kind + number) % len(KINDS)], working[at], day, rng)
        for number, at in enumerate(chosen.tolist())
    ]


def _fault(kind: FaultKind, place: tuple[int, IntArray], day: RecordedDay, rng: np.random.Generator) -> Fault:
    site_idx, busy_periods = place
    lasts = PERIOD_MINUTES if kind in SPIKES else LASTS_MINUTES
    first, last = int(busy_periods[0]) + LEARNING_PERIODS, int(busy_periods[-1]) - lasts // PERIOD_MINUTES
    may_start = busy_periods[(busy_periods >= first) & (busy_periods <= max(last, first))]
    # Only a count of somebody can be stuck, so that every fault begins in a period in which someone came.
    start = int(rng.choice(may_start if len(may_start) else busy_periods[len(busy_periods) // 2 :]))
    starts_at = day.periods[start].now
    fridges = day.city.sites[site_idx].fridges
    fridge_id = str(rng.choice([one.fridge_id for one in fridges])) if kind in OF_FRIDGE else None
    return Fault(kind, site_idx, fridge_id, starts_at, starts_at + timedelta(minutes=lasts))
