"""The reports of one fold, put in order, and what each of them tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from doseflow.domain.city import BoolArray, City, FloatArray, IntArray
from doseflow.domain.feature_classes import NUM_FEATURE_CLASSES
from doseflow.domain.report import ByStage, FridgeReading, LotOnHand, ReceivedReport, SiteReport
from doseflow.state.epoch_minutes import epoch_minutes_of


@dataclass(frozen=True)
class ReportBatch:
    """
    Reports in the order they are to be applied: by `valid_at`, then by receipt, then by id.

    `site_idx`, `valid_epoch_minutes` and `received_epoch_minutes` are (reports,); `given` says which classes each
    report tells, (reports, 17).
    """

    reports: list[SiteReport]
    site_idx: IntArray
    valid_epoch_minutes: FloatArray
    received_epoch_minutes: FloatArray
    given: BoolArray


def batch_of(reports: Sequence[ReceivedReport], city: City) -> ReportBatch:
    """Put reports in order; one of a site that this city does not have any more is left out."""
    known = [one for one in reports if one.report.site_id in city.site_to_idx]
    valid = epoch_minutes_of([one.report.valid_at for one in known])
    received = epoch_minutes_of([one.received_at for one in known])
    times = zip(valid.tolist(), received.tolist(), strict=True)
    keys = [(*pair, one.report.report_id or "", one.report.site_id) for pair, one in zip(times, known, strict=True)]
    order = sorted(range(len(known)), key=keys.__getitem__)
    ordered = [known[position].report for position in order]
    return ReportBatch(
        reports=ordered,
        site_idx=np.array([city.site_to_idx[report.site_id] for report in ordered], dtype=np.int64),
        valid_epoch_minutes=valid[order],
        received_epoch_minutes=received[order],
        given=np.array([_classes_given(report) for report in ordered], dtype=np.bool_).reshape(-1, NUM_FEATURE_CLASSES),
    )


def _classes_given(report: SiteReport) -> tuple[bool, ...]:
    """Whether a report tells anything of each class, in the order of `FeatureClass`; an empty object tells nothing."""
    no_show, stations, seats, lots, fridges = report.no_show, report.stations, report.seats, report.lots, report.fridges
    past_weeks = report.doses_given_past_weeks
    return (
        report.arrivals_people is not None,
        _tells(report.waiting_people),
        report.observed_wait_minutes is not None,
        report.booked_people is not None,
        no_show is not None and (no_show.no_show_share is not None or no_show.mean_early_minutes is not None),
        report.walk_in_share is not None,
        report.doses_given is not None,
        past_weeks is not None and any(doses is not None for doses in past_weeks),
        report.staff is not None,
        bool(report.fatigue),
        stations is not None and (_tells(stations.open) or _tells(stations.possible)),
        seats is not None and (seats.taken is not None or seats.possible is not None),
        lots is not None,
        lots is not None and _any_tells(_tells_expiry, lots),
        fridges is not None and _any_tells(_tells_temperature, fridges),
        fridges is not None and _any_tells(_tells_volume, fridges),
        report.surroundings is not None,
    )


def _tells(by_stage: ByStage | None) -> bool:
    return by_stage is not None and (
        by_stage.registration is not None
        or by_stage.screening is not None
        or by_stage.vaccination is not None
        or by_stage.observation is not None
    )


def _any_tells(tells: Callable[[Any], bool], things: Sequence[Any]) -> bool:
    """Whether one of the things tells something; that there is none tells something too."""
    return not things or tells(things[0]) or any(tells(one) for one in things)


def _tells_expiry(lot: LotOnHand) -> bool:
    return lot.expires_at is not None


def _tells_temperature(fridge: FridgeReading) -> bool:
    return (
        fridge.temperature_celsius is not None
        or fridge.excursion_minutes is not None
        or fridge.power is not None
        or fridge.set_point_celsius is not None
        or fridge.alarms is not None
        or fridge.ambient_celsius is not None
        or fridge.door_open is not None
        or fridge.door_open_minutes is not None
        or fridge.holdover_hours is not None
    )


def _tells_volume(fridge: FridgeReading) -> bool:
    return fridge.volume_used_litres is not None or fridge.volume_possible_litres is not None
