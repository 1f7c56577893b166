"""All readings of a city after a batch of reports: what they say, and where they are silent what was said before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, City, FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.report import Incident, Weather
from doseflow.domain.state import CityState, FridgeTable, StaffTable
from doseflow.state.array_readings import read_arrays
from doseflow.state.fridge_rows import read_fridges
from doseflow.state.lot_rows import LotRows, known_lots, read_lots
from doseflow.state.newest_readings import NewestReadings
from doseflow.state.report_batch import ReportBatch
from doseflow.state.staff_rows import read_staff

_WEATHER_TO_IDX = {weather: idx for idx, weather in enumerate(Weather)}
_INCIDENT_TO_IDX = {incident: idx for idx, incident in enumerate(Incident)}


@dataclass(frozen=True)
class Readings:
    """The classes as they stand; `arrays` holds those of `array_readings` by their name in the state."""

    arrays: dict[str, FloatArray]
    staff: StaffTable
    lots: LotRows
    fridges: FridgeTable
    weather_idx: IntArray
    incidents: BoolArray


def read_all(previous: CityState, batch: ReportBatch, newest: NewestReadings) -> Readings:
    """Read every class; what the city file knows of stations, seats and fridges fills what no report tells."""
    city = previous.city
    lots = read_lots(known_lots(previous), batch, newest, city)
    fridges_at = previous.valid_epoch_minutes[:, FeatureClass.FRIDGES]
    weather_idx, incidents = _surroundings(previous, batch, newest)
    return Readings(
        arrays=_with_nominals(read_arrays(previous, batch, newest), city),
        staff=read_staff(previous.staff, batch, newest),
        lots=lots,
        fridges=read_fridges(previous.fridges, batch, newest, lots.places, city, fridges_at),
        weather_idx=weather_idx,
        incidents=incidents,
    )


def _with_nominals(arrays: dict[str, FloatArray], city: City) -> dict[str, FloatArray]:
    stations, seats = arrays["stations_possible"], arrays["seats_possible"]
    return arrays | {
        "stations_possible": np.where(np.isnan(stations), city.nominal_stations, stations),
        "seats_possible": np.where(np.isnan(seats), city.nominal_seats, seats),
    }


def _surroundings(previous: CityState, batch: ReportBatch, newest: NewestReadings) -> tuple[IntArray, BoolArray]:
    weather_idx, incidents = previous.weather_idx.copy(), previous.incidents.copy()
    sites, rows = newest.sites_of(FeatureClass.PLACE_AND_CALENDAR)
    incidents[sites] = False
    told_weather = []
    for site_idx, row in zip(sites.tolist(), rows.tolist(), strict=True):
        surroundings = batch.reports[row].surroundings
        weather = surroundings.weather if surroundings else None
        told_weather.append(-1 if weather is None else _WEATHER_TO_IDX[weather])
        for incident in surroundings.incidents if surroundings else ():
            incidents[site_idx, _INCIDENT_TO_IDX[incident]] = True
    weather_idx[sites] = told_weather
    return weather_idx, incidents
