"""
What goes wrong between a site and its reader: reports late, missing, repeated, wrong, out of order, and classes never
told.

A late report is sent after newer ones of the same site: that is how it is out of order.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import orjson

from doseflow.domain.city import City

MAX_LATE_PERIODS = 3
SITE_CLASSES = (
    "observed_wait_minutes",
    "no_show",
    "walk_in_share",
    "doses_given_past_weeks",
    "fatigue",
    "seats",
    "fridges",
    "surroundings",
)
"""Classes that a site may never tell. Staff, stations, lots and queues are always told."""


class Silence(NamedTuple):
    """Sites whose reports do not arrive, from one moment to another; the moments are aware."""

    site_ids: frozenset[str]
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class ReportFaults:
    """
    Rates of faults, each the share of reports it strikes, 0..1; small by default, all assumed.

    `untold_share` is the share of (site, class) pairs that are never told, for the classes in `SITE_CLASSES`. What
    a silent site says is lost; what it said before and was late arrives.
    """

    late_share: float = 0.01
    missing_share: float = 0.01
    repeated_share: float = 0.005
    wrong_share: float = 0.003
    untold_share: float = 0.02
    silences: tuple[Silence, ...] = ()

    def __post_init__(self) -> None:
        for item in fields(self):
            if item.name == "silences":
                continue
            value = getattr(self, item.name)
            if not 0 <= value <= 1:
                raise ValueError(f"{item.name}: must lie in 0..1, got {value}")
        if self.late_share + self.missing_share > 1:
            raise ValueError("missing_share: must not exceed 1 together with late_share")


NO_FAULTS = ReportFaults(0, 0, 0, 0, 0)


class HeldBack(NamedTuple):
    """A late report, and how many more periods it waits."""

    periods: int
    report: bytes


def untold_classes(city: City, faults: ReportFaults) -> dict[int, tuple[str, ...]]:
    """Classes that each site never tells, by site position; they depend on the city alone."""
    if faults.untold_share == 0:
        return {}
    rng = np.random.default_rng(zlib.crc32(city.city_id.encode()) + 1)
    drawn = rng.random((city.num_sites, len(SITE_CLASSES))) < faults.untold_share
    return {int(idx): tuple(np.array(SITE_CLASSES)[drawn[idx]].tolist()) for idx in np.flatnonzero(drawn.any(axis=-1))}


def sent_reports(
    payloads: Sequence[dict[str, Any]], held: Sequence[HeldBack], rng: np.random.Generator, faults: ReportFaults
) -> tuple[list[bytes], tuple[HeldBack, ...]]:
    """
    What of this period's reports is sent now, and what is held back.

    Returns
    -------
    sent
        This period's reports in the order of the sites, then older ones that were late.
    held
        Late reports that still wait.
    """
    sent: list[bytes] = []
    late = [one._replace(periods=one.periods - 1) for one in held]
    # Every report has all its draws, so that the fate of one leaves the others alone.
    fates = rng.random((len(payloads), 5))
    silent = silent_sites(payloads, faults)
    for payload, (way, repeats, wrong, which, waits) in zip(payloads, fates, strict=True):
        report = orjson.dumps(_wrong(payload, which) if wrong < faults.wrong_share else payload)
        if way < faults.missing_share or payload["site_id"] in silent:
            continue
        if way < faults.missing_share + faults.late_share:
            late.append(HeldBack(1 + int(waits * MAX_LATE_PERIODS), report))
            continue
        sent += [report, report] if repeats < faults.repeated_share else [report]
    sent += [one.report for one in late if one.periods <= 0]
    return sent, tuple(one for one in late if one.periods > 0)


def silent_sites(payloads: Sequence[dict[str, Any]], faults: ReportFaults) -> frozenset[str]:
    """Ids of the sites that are silent at the moment of these reports, which is the same for all of them."""
    if not faults.silences or not payloads:
        return frozenset()
    now = datetime.fromisoformat(payloads[0]["valid_at"])
    return frozenset().union(*(one.site_ids for one in faults.silences if one.starts_at <= now < one.ends_at))


def _negative_doses(payload: dict[str, Any]) -> dict[str, Any]:
    return {**payload, "doses_given": -6}


def _impossible_jump(payload: dict[str, Any]) -> dict[str, Any]:
    return {**payload, "waiting_people": {**payload["waiting_people"], "registration": 999_999}}


def _clock_ahead(payload: dict[str, Any]) -> dict[str, Any]:
    ahead = datetime.fromisoformat(payload["valid_at"]) + timedelta(hours=5)
    return {**payload, "valid_at": ahead.isoformat()}


_WRONGS: tuple[Callable[[dict[str, Any]], dict[str, Any]], ...] = (_negative_doses, _impossible_jump, _clock_ahead)


def _wrong(payload: dict[str, Any], which: float) -> dict[str, Any]:
    return _WRONGS[int(which * len(_WRONGS))](payload)
