"""States of a small city, told cycle by cycle, with everything that a test does not name unknown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta

import numpy as np

from doseflow.domain.anomaly import Anomaly
from doseflow.domain.city import City, Fridge, Site
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.products import VaccineProduct
from doseflow.domain.state import CityState, FridgeTable, LotTable, unknown_of_loggers
from doseflow.state.unknown import unknown_state
from doseflow.state.watch import WatchParams, WatchState, first_watch, watch

TEN = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
PARAMS = WatchParams()
ALWAYS_TOLD = (
    FeatureClass.ARRIVALS,
    FeatureClass.WAITING_BY_STAGE,
    FeatureClass.DOSES_GIVEN,
    FeatureClass.OBSERVED_WAIT,
)


def _site(site_id: str) -> Site:
    return Site(
        site_id=site_id,
        name=site_id,
        district="north",
        latitude=50.0,
        longitude=14.0,
        opens_at=time(8),
        closes_at=time(18),
        stations_possible=(4, 4, 6, 2),
        seats_possible=20,
        minimum_team=(1, 1, 1, 1),
        daily_capacity_people=400,
        fridges=(),
        products=("red",),
    )


def city_of(num_sites: int = 3, fridges_each: int = 1) -> City:
    sites: list[Site] = [
        replace(_site(f"s{idx}"), fridges=tuple(Fridge(f"s{idx}-{slot}", 80.0) for slot in range(fridges_each)))
        for idx in range(num_sites)
    ]
    around = np.array([[(idx + 1) % num_sites, (idx + 2) % num_sites] for idx in range(num_sites)])
    return City(
        city_id="watched",
        name="Watched",
        timezone="Europe/Prague",
        country="CZ",
        sites=tuple(sites),
        products=(VaccineProduct("red", "Red", 6, 0.01, 6.0, 2.0, 8.0, 240.0),),
        vans=(),
        neighbour_idx=around,
        neighbour_travel_minutes=np.full(around.shape, 10.0),
        service_minutes=(2.0, 3.0, 4.0, 15.0),
    )


@dataclass
class Watched:
    """A watch and the states that it was shown, five minutes apart."""

    city: City
    params: WatchParams = PARAMS
    period: int = 0
    learned: WatchState | None = None
    anomalies: tuple[Anomaly, ...] = ()
    ever: dict[str, Anomaly] = field(default_factory=dict)

    def state(
        self, *, told: np.ndarray | None = None, lots: dict[tuple[int, str], int] | None = None, **values
    ) -> CityState:
        """The next state; `told` says which sites report, (S,); `lots` the doses by site and lot."""
        num_sites = self.city.num_sites
        told = np.ones(num_sites, bool) if told is None else told
        as_of = TEN + timedelta(minutes=5 * self.period)
        state = unknown_state(self.city, as_of)
        valid = np.full((num_sites, 17), np.nan) if self.learned is None else self.learned.counts.valid.copy()
        minutes = as_of.timestamp() / 60
        valid[np.ix_(told, np.array(ALWAYS_TOLD))] = minutes
        if lots is not None:
            valid[told, FeatureClass.DOSES_ON_HAND] = minutes
        temperature = values.pop("temperature", None)
        if temperature is not None:
            valid[told, FeatureClass.FRIDGES] = minutes
            values["fridges"] = self._fridges(np.asarray(temperature, float), values.pop("excursion", 0.0))
        values.setdefault("stations_open", np.full((num_sites, 4), 2.0))
        return replace(
            state,
            valid_epoch_minutes=valid,
            is_open=np.ones(num_sites, bool),
            open_minutes_left=np.full(num_sites, 400.0),
            lots=_lots(lots or {}),
            **values,
        )

    def _fridges(self, temperature: np.ndarray, excursion: float | np.ndarray) -> FridgeTable:
        pairs = [(idx, one.fridge_id) for idx, site in enumerate(self.city.sites) for one in site.fridges]
        size = len(pairs)
        return FridgeTable(
            np.array([idx for idx, _ in pairs]),
            tuple(fridge_id for _, fridge_id in pairs),
            temperature,
            np.full(size, 5.0),
            np.zeros(size) + excursion,
            np.ones(size),
            np.ones(size),
            np.ones(size),
            **unknown_of_loggers(size),
        )

    def show(self, **values) -> tuple[Anomaly, ...]:
        """Show the next state; open anomalies and those that end."""
        state = self.state(**values)
        self.learned = self.learned or first_watch(state, self.params)
        self.learned, self.anomalies = watch(self.learned, state, self.params)
        self.ever.update((one.anomaly_id, one) for one in self.anomalies)
        self.period += 1
        return self.anomalies

    @property
    def open_kinds(self) -> list[str]:
        return sorted(str(one.kind) for one in self.anomalies if one.ended_at is None)


def _lots(doses: dict[tuple[int, str], int]) -> LotTable:
    sites = np.array([site for site, _ in doses], np.int64)
    zeros = np.zeros(len(doses), np.int64)
    return LotTable(
        sites,
        sites.copy(),
        zeros,
        tuple(lot for _, lot in doses),
        np.array(list(doses.values()), np.int64),
        zeros,
        np.full(len(doses), np.nan),
        zeros,
    )
