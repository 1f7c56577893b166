"""A city from a JSON file, and back."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import orjson
from pydantic import TypeAdapter, ValidationError

from doseflow.domain.city import City, FloatArray, Fridge, IntArray, Site, Van
from doseflow.domain.neighbours import nearest_neighbours
from doseflow.domain.products import VaccineProduct
from doseflow.errors import CityWrong
from doseflow.intake.city_document import (
    CityDocument,
    FridgeDocument,
    NeighboursDocument,
    ProductDocument,
    SiteDocument,
    VanDocument,
)
from doseflow.intake.json_text import parse_json
from doseflow.intake.refusal_sentences import first_problem, got

_CITY = TypeAdapter(CityDocument)


def city_from_json(data: bytes) -> City:
    """
    Read a city.

    Raises
    ------
    CityWrong
        The file is not a city; the text names the field and the bound.
    """
    try:
        parse_json(data)
        document = _CITY.validate_json(data)
    except ValidationError as error:
        field, reason = first_problem(error, "city")
        raise CityWrong(f"{field}: {reason}") from error
    except ValueError as error:
        raise CityWrong(f"city: {error}") from error
    _check_references(document)
    _check_timezone(document.timezone)
    try:
        return _city(document)
    except ValueError as error:
        raise CityWrong(str(error)) from error


def city_to_json(city: City) -> bytes:
    """Write a city, so that reading it gives an equal one, to the last bit of its numbers."""
    travel = [[None if np.isnan(one) else one for one in row] for row in city.neighbour_travel_minutes.tolist()]
    document: dict[str, Any] = {
        "city_id": city.city_id,
        "name": city.name,
        "timezone": city.timezone,
        "country": city.country,
        "service_minutes": city.service_minutes,
        "seats_per_observer": city.seats_per_observer,
        "limits": asdict(city.limits),
        "assumed": city.assumed,
        "holiday_overrides": {day.isoformat(): is_holiday for day, is_holiday in city.holiday_overrides.items()},
        "products": city.products,
        "vans": city.vans,
        "sites": city.sites,
        "neighbours": {"site_idx": city.neighbour_idx.tolist(), "travel_minutes": travel},
    }
    return orjson.dumps(document)


def _city(document: CityDocument) -> City:
    neighbour_idx, travel_minutes = _neighbours(document)
    return City(
        city_id=document.city_id,
        name=document.name,
        timezone=document.timezone,
        country=document.country,
        sites=tuple(_site(one) for one in document.sites),
        products=tuple(_product(one, position) for position, one in enumerate(document.products)),
        vans=tuple(_van(one) for one in document.vans),
        neighbour_idx=neighbour_idx,
        neighbour_travel_minutes=travel_minutes,
        service_minutes=document.service_minutes,
        seats_per_observer=document.seats_per_observer,
        limits=document.limits,
        assumed=document.assumed,
        holiday_overrides=document.holiday_overrides,
    )


def _site(document: SiteDocument) -> Site:
    values = {one.name: getattr(document, one.name) for one in fields(document)}
    return Site(**values | {"fridges": tuple(_fridge(one) for one in document.fridges)})


def _fridge(document: FridgeDocument) -> Fridge:
    return Fridge(document.fridge_id, document.volume_litres, document.set_point_celsius)


def _van(document: VanDocument) -> Van:
    return Van(document.van_id, document.home_site_id, document.capacity_litres)


def _product(document: ProductDocument, position: int) -> VaccineProduct:
    try:
        return VaccineProduct(**asdict(document))
    except ValueError as error:
        raise CityWrong(f"products.{position}.{error}") from error


def _neighbours(document: CityDocument) -> tuple[IntArray, FloatArray]:
    if document.neighbours is None:
        latitudes = np.array([site.latitude for site in document.sites])
        longitudes = np.array([site.longitude for site in document.sites])
        return nearest_neighbours(latitudes, longitudes)
    _check_neighbours(document.neighbours, len(document.sites))
    travel_minutes = np.array(document.neighbours.travel_minutes, dtype=np.float64)
    return np.array(document.neighbours.site_idx, dtype=np.int64), travel_minutes


def _check_neighbours(table: NeighboursDocument, num_sites: int) -> None:
    widths = {len(row) for row in (*table.site_idx, *table.travel_minutes)}
    if len(table.site_idx) != num_sites or len(table.travel_minutes) != num_sites or len(widths) != 1:
        raise CityWrong(f"neighbours: must have a row of one length for each of the {num_sites} sites in both tables")
    for position, (row, minutes) in enumerate(zip(table.site_idx, table.travel_minutes, strict=True)):
        for column, (site_idx, travel) in enumerate(zip(row, minutes, strict=True)):
            if site_idx >= num_sites or site_idx == position:
                bound = f"must be another site's position, at most {num_sites - 1}"
                raise CityWrong(f"neighbours.site_idx.{position}.{column}: {bound}, got {site_idx}")
            if (site_idx == -1) != (travel is None):
                field = f"neighbours.travel_minutes.{position}.{column}"
                raise CityWrong(f"{field}: must be null exactly where site_idx is -1, got {got(travel)}")


def _check_references(document: CityDocument) -> None:
    site_ids = {site.site_id for site in document.sites}
    product_ids = {product.product_id for product in document.products}
    for position, site in enumerate(document.sites):
        for column, product_id in enumerate(site.products):
            if product_id not in product_ids:
                field = f"sites.{position}.products.{column}"
                raise CityWrong(f"{field}: must be one of {', '.join(sorted(product_ids))}, got {product_id!r}")
        fridge_ids = [fridge.fridge_id for fridge in site.fridges]
        for column, fridge_id in enumerate(fridge_ids):
            if fridge_id in fridge_ids[:column]:
                raise CityWrong(
                    f"sites.{position}.fridges.{column}.fridge_id: must be given once, got {fridge_id!r} again"
                )
    for position, van in enumerate(document.vans):
        if van.home_site_id not in site_ids:
            raise CityWrong(f"vans.{position}.home_site_id: must be a site of this city, got {van.home_site_id!r}")


def _check_timezone(timezone: str) -> None:
    try:
        ZoneInfo(timezone)
    except (KeyError, ValueError, OSError) as error:
        raise CityWrong(f"timezone: must be an IANA name such as Europe/Prague, got {timezone!r}") from error
