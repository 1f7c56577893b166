"""The form of a city file: the fields of `domain.city`, with the bounds in the annotations."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, time
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from pydantic import ConfigDict

from doseflow.domain.limits import OperatingLimits
from doseflow.domain.report import Identifier

_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

Name = Annotated[str, MinLen(1), MaxLen(200)]
Count = Annotated[int, Ge(0), Le(100_000)]
Minutes = Annotated[float, Gt(0), Le(1440)]
Litres = Annotated[float, Gt(0), Le(100_000)]
Celsius = Annotated[float, Ge(-120), Le(80)]
Latitude = Annotated[float, Ge(-90), Le(90)]
Longitude = Annotated[float, Ge(-180), Le(180)]


@dataclass(frozen=True, slots=True)
class FridgeDocument:
    """A fridge of a site."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    fridge_id: Identifier
    volume_litres: Litres
    set_point_celsius: Celsius = 5.0


@dataclass(frozen=True, slots=True)
class SiteDocument:
    """A site; `opens_at` and `closes_at` are local; a closing that is not later than the opening is the next day's."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    site_id: Identifier
    name: Name
    district: Annotated[str, MaxLen(200)]
    latitude: Latitude
    longitude: Longitude
    opens_at: time
    closes_at: time
    stations_possible: tuple[Count, Count, Count, Count]
    seats_possible: Count
    minimum_team: tuple[Count, Count, Count, Count]
    daily_capacity_people: Annotated[int, Ge(0), Le(1_000_000)]
    fridges: Annotated[tuple[FridgeDocument, ...], MaxLen(50)]
    products: Annotated[tuple[Identifier, ...], MaxLen(50)]


@dataclass(frozen=True, slots=True)
class ProductDocument:
    """A vaccine product."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    product_id: Identifier
    name: Name
    doses_per_vial: Annotated[int, Ge(1), Le(1000)]
    litres_per_vial: Annotated[float, Gt(0), Le(100)]
    in_use_hours: Annotated[float, Gt(0), Le(10_000)]
    storage_low_celsius: Celsius
    storage_high_celsius: Celsius
    excursion_budget_minutes: Annotated[float, Ge(0), Le(1_000_000)]
    source: str = "assumed"


@dataclass(frozen=True, slots=True)
class VanDocument:
    """A cold-chain vehicle."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    van_id: Identifier
    home_site_id: Identifier
    capacity_litres: Litres


@dataclass(frozen=True, slots=True)
class NeighboursDocument:
    """The neighbour table, a row a site: positions in `sites` (-1 pads) and one-way minutes (null pads)."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    site_idx: tuple[tuple[Annotated[int, Ge(-1)], ...], ...]
    travel_minutes: tuple[tuple[Annotated[float, Ge(0), Le(100_000)] | None, ...], ...]


@dataclass(frozen=True, slots=True)
class CityDocument:
    """A city; without `neighbours` the ten nearest sites are computed from the coordinates."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    city_id: Identifier
    name: Name
    timezone: Identifier
    country: Annotated[str, MinLen(2), MaxLen(10)]
    sites: Annotated[tuple[SiteDocument, ...], MinLen(1), MaxLen(20_000)]
    products: Annotated[tuple[ProductDocument, ...], MinLen(1), MaxLen(200)]
    vans: Annotated[tuple[VanDocument, ...], MaxLen(20_000)]
    service_minutes: tuple[Minutes, Minutes, Minutes, Minutes]
    seats_per_observer: Annotated[int, Ge(1), Le(1000)] = 15
    limits: OperatingLimits = field(default_factory=OperatingLimits)
    assumed: dict[str, str] = field(default_factory=dict)
    holiday_overrides: dict[date, bool] = field(default_factory=dict)
    neighbours: NeighboursDocument | None = None
