"""
What the sites say of themselves: one report a site, all 17 classes, as the JSON bytes of `domain.report.SiteReport`.

A report tells what the site can see. Figures of "the last period" are the differences between two worlds five minutes
apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from doseflow.domain.city import City, FloatArray, IntArray
from doseflow.domain.report import BOOKING_BINS, Weather
from doseflow.domain.roles import STAGES
from doseflow.simulate.effects import SLOTS_PER_BIN
from doseflow.simulate.flow import last_wait_minutes
from doseflow.simulate.report_faults import ReportFaults, untold_classes
from doseflow.simulate.report_rows import fatigue_rows, fridge_rows, incident_rows, lot_rows, staff_rows, van_rows
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import World
from doseflow.units import datetime_from_epoch_minutes

__all__ = ["ReportFaults", "Reporters", "report_payloads", "site_reports"]

_STAGE_NAMES = tuple(str(stage) for stage in STAGES)


@dataclass(frozen=True)
class Reporters:
    """
    What the sites' reports need beside the world.

    Parameters
    ----------
    doses_given_past_weeks
        Doses by period of the local day, on the same weekday of past weeks, the last week first, (S, W, 288); NaN
        unknown.
    weather
        The city's weather today.
    """

    city: City
    params: StepParams
    doses_given_past_weeks: FloatArray
    weather: Weather
    faults: ReportFaults


def site_reports(world: World, five_minutes_ago: World, reporters: Reporters) -> list[bytes]:
    """
    The reports of all sites, in the order of axis S, as they leave the sites; `report_faults` is what happens to them
    then.
    """
    return [orjson.dumps(payload) for payload in report_payloads(world, five_minutes_ago, reporters)]


def report_payloads(world: World, five_minutes_ago: World, reporters: Reporters) -> list[dict[str, Any]]:
    """The reports of all sites as plain JSON values; a class that a site never tells is left out."""
    columns = _columns(world, five_minutes_ago, reporters)
    untold = untold_classes(reporters.city, reporters.faults)
    valid_at = datetime_from_epoch_minutes(world.epoch_minutes).isoformat()
    stamp = round(world.epoch_minutes)
    payloads = []
    for idx, site in enumerate(reporters.city.sites):
        payload: dict[str, Any] = {"site_id": site.site_id, "valid_at": valid_at, "report_id": f"{stamp}-{idx:05d}"}
        for name, values in columns.items():
            payload[name] = values[idx]
        for name in untold.get(idx, ()):
            del payload[name]
        payloads.append(payload)
    return payloads


def _columns(world: World, before: World, reporters: Reporters) -> dict[str, list[Any]]:
    """Every class as a list of length S."""
    totals, habits, params = world.totals, world.day.habits, reporters.params
    shares, early = habits.no_show_share.round(3).tolist(), habits.mean_early_minutes.round(1).tolist()
    taken, possible = world.seated_people.tolist(), params.seats_possible.tolist()
    is_open, may_open = _by_stage(world.stations_open), _by_stage(params.stations_possible)
    vans, incidents = van_rows(world, reporters.city), incident_rows(world)
    return {
        "arrivals_people": (totals.arrived - before.totals.arrived).tolist(),
        "waiting_people": _by_stage(waiting_people(world)),
        "observed_wait_minutes": observed_wait_minutes(world, before, params.assumed.step_minutes).round(1).tolist(),
        "booked_people": booked_ahead(world).tolist(),
        "no_show": _objects(("no_show_share", shares), ("mean_early_minutes", early)),
        "walk_in_share": habits.walk_in_share.round(3).tolist(),
        "doses_given": (totals.doses_given - before.totals.doses_given).tolist(),
        "doses_given_past_weeks": _past_weeks(world, reporters),
        "staff": staff_rows(world),
        "fatigue": fatigue_rows(world, params),
        "stations": _objects(("open", is_open), ("possible", may_open)),
        "seats": _objects(("taken", taken), ("possible", possible)),
        "lots": lot_rows(world, reporters.city),
        "fridges": fridge_rows(world, reporters.city, params),
        "surroundings": _objects(
            ("vans", vans), ("weather", [reporters.weather] * len(vans)), ("incidents", incidents)
        ),
    }


def _objects(*columns: tuple[str, list[Any]]) -> list[dict[str, Any]]:
    names = [name for name, _ in columns]
    return [dict(zip(names, values, strict=True)) for values in zip(*(values for _, values in columns), strict=True)]


def _by_stage(by_stage: IntArray) -> list[dict[str, int]]:
    return [dict(zip(_STAGE_NAMES, row, strict=True)) for row in by_stage.tolist()]


def _past_weeks(world: World, reporters: Reporters) -> list[list[int | None]]:
    period = world.day.period_of(world.epoch_minutes - 1)
    given = reporters.doses_given_past_weeks[..., period].tolist()
    return [[None if np.isnan(doses) else round(doses) for doses in weeks] for weeks in given]


def waiting_people(world: World) -> IntArray:
    """People waiting by stage, (S, R); in the last, those who sit out their observation."""
    waiting: IntArray = np.concatenate([world.queued_people, world.seated_people[..., None]], axis=-1)
    return waiting


def observed_wait_minutes(world: World, before: World, step_minutes: float) -> FloatArray:
    """
    Wait on the way to the needle as the site sees it, (S,): the stages' waits added up.

    At each stage it is the wait of the last person taken since `before`, else the age of who is first in line.
    """
    has_taken = world.totals.started > before.totals.started
    wait_minutes: FloatArray = last_wait_minutes(world.flow, has_taken, step_minutes).sum(axis=-1)
    return wait_minutes


def booked_ahead(world: World) -> IntArray:
    """Appointments in each of the next quarter hours, (S, 8); none past midnight."""
    first, width = world.day.period_of(world.epoch_minutes), BOOKING_BINS * SLOTS_PER_BIN
    ahead = world.booked_people[..., first : first + width]
    missing = np.zeros((*ahead.shape[:-1], width - ahead.shape[-1]), dtype=ahead.dtype)
    padded = np.concatenate([ahead, missing], axis=-1)
    booked: IntArray = padded.reshape(*ahead.shape[:-1], BOOKING_BINS, SLOTS_PER_BIN).sum(axis=-1)
    return booked
