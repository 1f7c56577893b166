"""A city of two sites as a file, and reports of it as they come over the wire."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

import orjson

from doseflow.domain.city import City
from doseflow.intake.city_file import city_from_json

NOW = datetime(2026, 5, 4, 8, 0, 20, tzinfo=UTC)

_SITE = {
    "site_id": "prague-001",
    "name": "Prague fair ground",
    "district": "Praha 7",
    "latitude": 50.1,
    "longitude": 14.43,
    "opens_at": "08:00",
    "closes_at": "18:00",
    "stations_possible": [4, 4, 8, 3],
    "seats_possible": 40,
    "minimum_team": [1, 1, 1, 1],
    "daily_capacity_people": 900,
    "fridges": [{"fridge_id": "a", "volume_litres": 80.0}, {"fridge_id": "b", "volume_litres": 40.0}],
    "products": ["red", "blue"],
}
_CITY = {
    "city_id": "prague",
    "name": "Prague",
    "timezone": "Europe/Prague",
    "country": "CZ",
    "service_minutes": [2.0, 3.0, 4.0, 15.0],
    "products": [
        {
            "product_id": name,
            "name": name,
            "doses_per_vial": 6,
            "litres_per_vial": 0.01,
            "in_use_hours": 6.0,
            "storage_low_celsius": 2.0,
            "storage_high_celsius": 8.0,
            "excursion_budget_minutes": 240.0,
        }
        for name in ("red", "blue")
    ],
    "vans": [{"van_id": "van-1", "home_site_id": "prague-001", "capacity_litres": 50.0}],
    "sites": [_SITE, _SITE | {"site_id": "prague-002", "name": "Prague arena", "latitude": 50.2, "fridges": []}],
}
_REPORT = {
    "site_id": "prague-001",
    "valid_at": "2026-05-04T08:00:00Z",
    "report_id": "first",
    "arrivals_people": 14,
    "waiting_people": {"registration": 6, "screening": 3, "vaccination": 11, "observation": 19},
    "observed_wait_minutes": 17.5,
    "booked_people": [38, 40, 36, 40, 31, 28, 28, 25],
    "no_show": {"no_show_share": 0.06, "mean_early_minutes": -8.0},
    "walk_in_share": 0.12,
    "doses_given": 12,
    "doses_given_past_weeks": [13, None, 12],
    "staff": [
        {"role": "registrar", "people": 3, "shift_ends_at": "2026-05-04T12:00:00Z", "also_qualified": ["observer"]}
    ],
    "fatigue": [{"role": "registrar", "worked_hours": 2.0, "breaks_due_people": 1}],
    "stations": {"open": {"registration": 3}, "possible": {"registration": 5}},
    "seats": {"taken": 19, "possible": 40},
    "lots": [
        {
            "lot_number": "L1",
            "product_id": "red",
            "fridge_id": "a",
            "unopened_doses": 60,
            "expires_at": "2026-06-01T00:00:00Z",
        }
    ],
    "fridges": [{"fridge_id": "a", "temperature_celsius": 5.0, "power": "on", "volume_used_litres": 20.0}],
    "surroundings": {"vans": [{"van_id": "van-1"}], "weather": "dry", "incidents": ["surge"]},
}


def city_document(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy(_CITY) | changes


def make_city() -> City:
    return city_from_json(orjson.dumps(_CITY))


def report_document(**changes: Any) -> dict[str, Any]:
    """A full report; a change of `...` leaves the field out."""
    document = copy.deepcopy(_REPORT) | changes
    return {name: value for name, value in document.items() if value is not ...}


def changed(document: Any, path: str, value: Any) -> Any:
    """A copy of a document with the value at a dotted path replaced; `...` takes the field away."""
    document = copy.deepcopy(document)
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = document
    for step in steps:
        place = place[step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return document
