"""
Fridges of sites at which loggers speak for single fridges, between the lists that the site itself tells.

A list of the site has all its fridges; a report with a `source` has those it names and leaves the others alone. So here
every fridge has times of its own: the newest word of each counts, whatever came last.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.report import FridgeReading, Power, SiteReport
from doseflow.domain.state import FridgeTable, alarm_codes
from doseflow.state.newest_readings import NewestReadings
from doseflow.state.report_batch import ReportBatch
from doseflow.units import MINUTES_PER_HOUR

LOGGER_KEEPS_MINUTES = 24.0 * MINUTES_PER_HOUR
"""A fridge that a logger spoke for this lately stays, though the site's own list leaves it out."""
LOGGER_FIELDS = ("ambient_celsius", "door_open", "door_open_minutes", "holdover_hours", "alarms")
"""What a logger tells anew as a whole: a value that its newest record leaves out is unknown."""


@dataclass(frozen=True, slots=True)
class ToldFridge:
    """A fridge and the moments, in minutes since 1970, of its temperature, its power and its logger; NaN is never."""

    reading: FridgeReading
    temperature_at: float = math.nan
    power_at: float = math.nan
    logger_at: float = math.nan

    @property
    def newest_at(self) -> float:
        """The latest of the three moments, before all others where there is none."""
        return max((at for at in (self.temperature_at, self.power_at, self.logger_at) if at == at), default=-math.inf)


def mixed_sites(previous: FridgeTable, batch: ReportBatch) -> frozenset[int]:
    """Positions of sites whose fridges this batch tells of and for which a source has spoken, now or before."""
    telling = [(row, report) for row, report in enumerate(batch.reports) if report.fridges is not None]
    sourced = {int(batch.site_idx[row]) for row, report in telling if report.source is not None}
    before = set(previous.site_idx[~np.isnan(previous.logger_epoch_minutes)].tolist())
    return frozenset(sourced | before & {int(batch.site_idx[row]) for row, _ in telling})


def merged_fridges(
    site_idx: int, previous: FridgeTable, batch: ReportBatch, newest: NewestReadings, class_at: FloatArray
) -> list[ToldFridge]:
    """
    Fridges of a site after the batch, those known before in their order.

    Parameters
    ----------
    class_at
        Moment of the fridge readings of each site before the batch, (S,); for fridges without moments of their own.
    """
    fridges = {one.reading.fridge_id: one for one in known_fridges(previous, site_idx, float(class_at[site_idx]))}
    for row in np.flatnonzero(batch.site_idx == site_idx).tolist():
        report = batch.reports[row]
        if report.fridges is None:
            continue
        at = float(batch.valid_epoch_minutes[row])
        is_new = bool(newest.is_new[row, [FeatureClass.FRIDGES, FeatureClass.COLD_VOLUME]].any())
        if report.source is None and is_new:
            fridges = _without_unlisted(fridges, report, at)
        for told in report.fridges:
            # An old list of the site must not bring back a fridge that is gone.
            if is_new or report.source is not None or told.fridge_id in fridges:
                known = fridges.get(told.fridge_id, ToldFridge(FridgeReading(told.fridge_id)))
                has_volume = bool(newest.is_new[row, FeatureClass.COLD_VOLUME])
                fridges[told.fridge_id] = _after(known, told, at, report.source is not None, has_volume)
    return list(fridges.values())


def known_fridges(previous: FridgeTable, site_idx: int, class_at: float) -> Iterable[ToldFridge]:
    """What the previous state says of a site's fridges; its NaN stays NaN."""
    for row in np.flatnonzero(previous.site_idx == site_idx).tolist():
        reading, logger_at = reading_of_row(previous, row), float(previous.logger_epoch_minutes[row])
        if math.isnan(logger_at):
            yield ToldFridge(reading, class_at, class_at)
            continue
        temperature_at, power_at = previous.temperature_epoch_minutes[row], previous.power_epoch_minutes[row]
        yield ToldFridge(reading, float(temperature_at), float(power_at), logger_at)


def reading_of_row(fridges: FridgeTable, row: int) -> FridgeReading:
    """A row of the table as the report that would tell it; NaN stays NaN."""
    power_on, door_open = fridges.power_on[row], fridges.door_open[row]
    return FridgeReading(
        fridges.fridge_id[row],
        temperature_celsius=float(fridges.temperature_celsius[row]),
        set_point_celsius=float(fridges.set_point_celsius[row]),
        excursion_minutes=float(fridges.excursion_minutes[row]),
        power=None if np.isnan(power_on) else (Power.ON if power_on else Power.OFF),
        volume_used_litres=float(fridges.volume_used_litres[row]),
        volume_possible_litres=float(fridges.volume_possible_litres[row]),
        ambient_celsius=float(fridges.ambient_celsius[row]),
        door_open=None if np.isnan(door_open) else bool(door_open),
        door_open_minutes=float(fridges.door_open_minutes[row]),
        holdover_hours=float(fridges.holdover_hours[row]),
        alarms=alarm_codes(fridges.alarms[row]),
    )


def _without_unlisted(fridges: dict[str, ToldFridge], report: SiteReport, at: float) -> dict[str, ToldFridge]:
    listed = {one.fridge_id for one in report.fridges or ()}
    return {
        fridge_id: one
        for fridge_id, one in fridges.items()
        if fridge_id in listed or at - one.logger_at < LOGGER_KEEPS_MINUTES
    }


def _after(known: ToldFridge, told: FridgeReading, at: float, is_sourced: bool, has_volume: bool) -> ToldFridge:
    """A fridge after one more reading of it; each field keeps its newest word."""
    changes: dict[str, object] = {}
    moments = {}
    if told.temperature_celsius is not None and not at < known.temperature_at:
        changes["temperature_celsius"], moments["temperature_at"] = told.temperature_celsius, at
    if told.power is not None and not at < known.power_at:
        changes["power"], moments["power_at"] = told.power, at
    kept = [name for name in ("set_point_celsius", "excursion_minutes") if not at < known.newest_at]
    kept += ["volume_used_litres", "volume_possible_litres"] if has_volume else []
    changes |= {name: value for name in kept if (value := getattr(told, name)) is not None}
    if is_sourced and not at < known.logger_at:
        changes |= {name: getattr(told, name) for name in LOGGER_FIELDS}
        moments["logger_at"] = at
    return replace(known, reading=replace(known.reading, **changes), **moments)  # type: ignore[arg-type]
