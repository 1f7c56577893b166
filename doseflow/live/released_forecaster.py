"""
ReleasedForecaster: the arrival net, asked of the champion, and for a share of the districts of the challenger.

A district's forecast is its own answer: who will come does not hang on what another district is told, and a net sees
the whole city whoever is answered. A district stays with its model for the whole phase; where a city has few of them,
a site does.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
import structlog

from doseflow.domain.city import BoolArray
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.state import CityState
from doseflow.ports import Forecaster
from doseflow.serve.net_slot import FixedSlot, NetSlot, Standing, WarmModel

FEWEST_DISTRICTS = 10
"""With fewer, a tenth of them is none or far more than a tenth of the city."""
log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class TimedForecast:
    """A forecast, and the milliseconds that it took."""

    forecast: ArrivalForecast
    milliseconds: float


@dataclass(frozen=True)
class ServedForecast:
    """What was forecast for the city; `challenger` is None where it was not asked in the flow."""

    as_of: datetime
    standing: Standing[Forecaster]
    champion: TimedForecast
    challenger: TimedForecast | None
    challenger_served: bool
    champion_served: bool


class ReleasedForecaster:
    """A forecaster whose model may change between two cycles."""

    name = "learned"

    def __init__(self, slot: NetSlot[Forecaster] | FixedSlot[Forecaster]) -> None:
        self.slot = slot
        self.latest: ServedForecast | None = None

    def __call__(self, state: CityState) -> ArrivalForecast:
        """Quantiles for every site, each by the model of its district."""
        standing = self.slot.refresh()
        champion = timed_forecast(standing.champion, state)
        is_challengers = self._challengers_sites(standing, state)
        challenger = self._challenger(standing, state) if is_challengers.any() else None
        is_good = challenger is not None and not challenger.forecast.why_this_forecaster
        served = is_challengers if is_good else np.zeros_like(is_challengers)
        self.latest = ServedForecast(
            state.as_of, standing, champion, challenger, bool(served.any()), not bool(served.all())
        )
        if challenger is None or standing.challenger is None or not is_good:
            return replace(champion.forecast, made_by=f"{standing.champion.label}, champion")
        return _joined(champion.forecast, challenger.forecast, served, standing, standing.challenger.label)

    def _challengers_sites(self, standing: Standing[Forecaster], state: CityState) -> BoolArray:
        """Whose forecast is the challenger's, (S,): once it has a share, at least one site's."""
        sites = state.city.sites
        if standing.challenger is None or not standing.aliases.share_permille:
            return np.zeros(len(sites), dtype=bool)
        if len({site.district for site in sites}) >= FEWEST_DISTRICTS:
            keys = [f"{state.city.city_id}|{site.district}" for site in sites]
        else:
            keys = [f"{state.city.city_id}|{site.site_id}" for site in sites]
        drawn = np.array([standing.drawn(key) for key in keys])
        least = max(standing.aliases.share_permille, int(drawn.min()) + 1)
        return drawn < least

    def _challenger(self, standing: Standing[Forecaster], state: CityState) -> TimedForecast | None:
        if standing.challenger is None:
            return None
        try:
            return timed_forecast(standing.challenger, state)
        except Exception:  # the boundary of a challenger: the champion answers for all
            log.exception("challenger_failed", model=standing.challenger.label)
            return None


def timed_forecast(model: WarmModel[Forecaster], state: CityState) -> TimedForecast:
    """What a model forecasts."""
    began_seconds = time.perf_counter()
    forecast = model.answers(state)
    return TimedForecast(forecast, (time.perf_counter() - began_seconds) * 1000)


def _joined(
    champion: ArrivalForecast,
    challenger: ArrivalForecast,
    is_challengers: BoolArray,
    standing: Standing[Forecaster],
    label: str,
) -> ArrivalForecast:
    num_sites = int(is_challengers.sum())
    return replace(
        champion,
        arrivals_people=np.where(is_challengers[:, None, None], challenger.arrivals_people, champion.arrivals_people),
        doses_rest_of_day=np.where(is_challengers[:, None], challenger.doses_rest_of_day, champion.doses_rest_of_day),
        basis=np.where(is_challengers, challenger.basis, champion.basis),
        made_by=f"{standing.champion.label}, champion; "
        f"{label}, challenger at {standing.share}, for {num_sites} sites that are in its share",
    )
