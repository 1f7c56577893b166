"""The incidents that a scenario file may name: kind, when, where, how much. `scenario_draw` makes a day's of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from pydantic import AfterValidator, ConfigDict, Field

from doseflow.domain.report import Identifier
from doseflow.domain.roles import ROLES, Role
from doseflow.simulate.incidents import SurgeShape

STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
MAX_MOVED_MINUTES = 180


def _local(moment: time) -> time:
    if moment.tzinfo is not None:
        raise ValueError(f"must be a local time without an offset, got {moment}")
    return moment


LocalTime = Annotated[time, AfterValidator(_local)]
Share = Annotated[float, Ge(0), Le(1)]
PositiveShare = Annotated[float, Gt(0), Le(1)]
Rank = Annotated[int, Ge(1), Le(20_000)]
Moved = Annotated[
    float, Ge(0), Le(MAX_MOVED_MINUTES), Field(description="times move by up to so many minutes, drawn with the seed")
]
TravelFactor = Annotated[float, Ge(1), Le(5), Field(description="travel times over those of the city's table")]


@dataclass(frozen=True, kw_only=True)
class AtSites:
    """
    Where: exactly one of the four `site_` fields.

    Sites by share or by number are drawn with the seed among those that open; clustered ones lie around the first.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    site_share: Annotated[PositiveShare, Field(description="share of the sites, at least one")] | None = None
    site_count: Annotated[Rank, Field(description="number of sites")] | None = None
    site_ranks: (
        Annotated[tuple[Rank, ...], MinLen(1), MaxLen(200), Field(description="ranks by bookings of the day, 1 first")]
        | None
    ) = None
    site_ids: Annotated[tuple[Identifier, ...], MinLen(1), MaxLen(200), Field(description="sites by id")] | None = None
    clustered: Annotated[bool, Field(description="the sites drawn are neighbours of each other")] = False

    def __post_init__(self) -> None:
        ways = (self.site_share, self.site_count, self.site_ranks, self.site_ids)
        given = sum(way is not None for way in ways)
        if given != 1:
            names = "site_share, site_count, site_ranks, site_ids"
            raise ValueError(f"site_share: must be one and only one of {names}, got {given} of them")
        if self.clustered and self.site_share is None and self.site_count is None:
            raise ValueError("clustered: must come with site_share or site_count")


@dataclass(frozen=True, kw_only=True)
class Between:
    """When: local times."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    starts_at: LocalTime
    ends_at: LocalTime
    moved_by_minutes: Moved = 0.0

    def __post_init__(self) -> None:
        if self.starts_at >= self.ends_at:
            raise ValueError(f"ends_at: must be later than starts_at {self.starts_at}, got {self.ends_at}")


@dataclass(frozen=True, kw_only=True)
class AtSitesBetween(Between, AtSites):
    """Where and when."""

    def __post_init__(self) -> None:
        Between.__post_init__(self)
        AtSites.__post_init__(self)


@dataclass(frozen=True, kw_only=True)
class SurgeIncident(AtSitesBetween):
    """More people come without an appointment than anybody expects."""

    kind: Literal["surge"]
    extra_share: Annotated[
        float, Gt(0), Le(10), Field(description="extra people over the site's mean bookings of an open hour")
    ]
    shape: SurgeShape = SurgeShape.FLAT


@dataclass(frozen=True, kw_only=True)
class WalkInRushIncident(AtSitesBetween):
    """The walk-ins of the sites are multiplied."""

    kind: Literal["walk_in_rush"]
    walk_in_factor: Annotated[float, Gt(1), Le(20)]


@dataclass(frozen=True, kw_only=True)
class AbsenceIncident(AtSites):
    """Rostered people do not come to work, each with this chance."""

    kind: Literal["absence"]
    absent_share: PositiveShare
    roles: Annotated[tuple[Role, ...], MinLen(1), MaxLen(4)] = ROLES


@dataclass(frozen=True, kw_only=True)
class SiteClosedIncident(AtSitesBetween):
    """The site serves nobody; its staff, stock and bookings are there, and who comes is turned away."""

    kind: Literal["site_closed"]


@dataclass(frozen=True, kw_only=True)
class FridgeFailureIncident(AtSites):
    """The compressor of one fridge of each site stops for the rest of the day; the fridge is drawn with the seed."""

    kind: Literal["fridge_failure"]
    starts_at: LocalTime
    moved_by_minutes: Moved = 0.0


@dataclass(frozen=True, kw_only=True)
class PowerCutIncident(AtSitesBetween):
    """All fridges of the site stand still; people are served on."""

    kind: Literal["power_cut"]


@dataclass(frozen=True, kw_only=True)
class SupplyCutIncident(AtSites):
    """A share of the day's deliveries does not come."""

    kind: Literal["supply_cut"]
    lost_share: PositiveShare


@dataclass(frozen=True, kw_only=True)
class LateVansIncident:
    """The roads are slow, vans are missing, deliveries come late: at least one of the three."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    kind: Literal["late_vans"]
    travel_factor: TravelFactor = 1.0
    missing_van_share: Share = 0.0
    deliveries_late_minutes: Annotated[float, Ge(0), Le(600)] = 0.0

    def __post_init__(self) -> None:
        if self.travel_factor == 1 and not self.missing_van_share and not self.deliveries_late_minutes:
            raise ValueError("travel_factor: must be above 1 where no van is missing and no delivery late, got 1")


@dataclass(frozen=True, kw_only=True)
class StaleReportsIncident(AtSitesBetween):
    """The sites send no report."""

    kind: Literal["stale_reports"]


@dataclass(frozen=True, kw_only=True)
class EarlyArrivalsIncident(AtSites):
    """Booked people come earlier than on other days, or later where the figure is negative."""

    kind: Literal["early_arrivals"]
    earlier_minutes: Annotated[float, Ge(-60), Le(120)]


@dataclass(frozen=True, kw_only=True)
class RainIncident(Between):
    """Fewer walk-ins while it rains; all day long, some of the booked stay away and everything on the road is slow."""

    kind: Literal["rain"]
    walk_in_factor: Share = 1.0
    stays_away_share: Annotated[float, Ge(0), Le(0.5)] = 0.0
    travel_factor: TravelFactor = 1.0


@dataclass(frozen=True, kw_only=True)
class CampaignStartIncident:
    """The day has so many times the bookings of the weeks before, from which a seasonal forecast learns."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT
    kind: Literal["campaign_start"]
    booking_factor: Annotated[float, Gt(1), Le(5)]


ScenarioIncident = Annotated[
    SurgeIncident
    | WalkInRushIncident
    | AbsenceIncident
    | SiteClosedIncident
    | FridgeFailureIncident
    | PowerCutIncident
    | SupplyCutIncident
    | LateVansIncident
    | StaleReportsIncident
    | EarlyArrivalsIncident
    | RainIncident
    | CampaignStartIncident,
    Field(discriminator="kind"),
]
