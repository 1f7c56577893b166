"""Both futures side by side: bands over the replicas, by city and by site, and the orders that differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import City, FloatArray
from doseflow.domain.decisions import Decision
from doseflow.what_if.future import RECORD_EVERY_MINUTES, FutureRecord
from doseflow.what_if.replica import Replica

BAND = (0.1, 0.9)
MOST_SITES = 20


@dataclass(frozen=True)
class Band:
    """Mean, 10th and 90th percentile over the replicas, a value a quarter of an hour; None where unknown."""

    mean: tuple[float | None, ...]
    p10: tuple[float | None, ...]
    p90: tuple[float | None, ...]


@dataclass(frozen=True)
class FutureView:
    """
    One future of the city or of one site.

    `wait_minutes` is people waiting over people vaccinated in the quarter, by Little's law; unknown where nobody is.
    `doses` and `lost_people` (turned away, or gone) are of the rest of the day: mean, 10th and 90th percentile.
    """

    waiting_people: Band
    wait_minutes: Band
    doses: tuple[float, float, float]
    lost_people: tuple[float, float, float]


@dataclass(frozen=True)
class PlaceView:
    """Both futures of one place; `site_id` is None for the city."""

    site_id: str | None
    name: str
    as_is: FutureView
    changed: FutureView


@dataclass(frozen=True)
class Comparison:
    """Both futures: the city, the sites that are affected, and what the first plan of only one of them asks."""

    city: PlaceView
    sites: tuple[PlaceView, ...]
    only_as_is: tuple[Decision, ...]
    only_changed: tuple[Decision, ...]


def compared(replicas: Sequence[Replica], city: City, named: Sequence[int]) -> Comparison:
    """
    The futures of some replicas, at least 1.

    Affected are the sites that are `named`, then those whose waiting people or doses differ most.
    """
    affected = list(dict.fromkeys([*named, *_most_changed(replicas)]))[:MOST_SITES]
    before, after = _first_orders(replicas[0].as_is), _first_orders(replicas[0].changed)
    return Comparison(
        city=_place(replicas, None, city.name, slice(None)),
        sites=tuple(_place(replicas, city.sites[at].site_id, city.sites[at].name, at) for at in affected),
        only_as_is=tuple(one for key, one in before.items() if key not in after),
        only_changed=tuple(one for key, one in after.items() if key not in before),
    )


def _first_orders(record: FutureRecord) -> dict[object, Decision]:
    return {(one.key, _quantity(one)): one for one in record.first_orders}


def _quantity(decision: Decision) -> object:
    names = ("people", "doses", "open_stations", "slots")
    return tuple(getattr(decision, name, None) for name in names)


def _most_changed(replicas: Sequence[Replica]) -> list[int]:
    """Sites that change by more than a person on average, those that change most first."""
    waiting = np.mean([_waiting(one.changed) - _waiting(one.as_is) for one in replicas], axis=0)
    doses = np.mean([one.changed.doses - one.as_is.doses for one in replicas], axis=0)
    change = np.abs(waiting).max(axis=0) + np.abs(doses)
    order = np.argsort(-change, kind="stable")
    return [int(at) for at in order if change[at] >= 1]


def _waiting(record: FutureRecord) -> FloatArray:
    return np.array(record.waiting_people)


def _place(replicas: Sequence[Replica], site_id: str | None, name: str, at: int | slice) -> PlaceView:
    views = [_view([pick(one) for one in replicas], at) for pick in (_as_is, _changed)]
    return PlaceView(site_id, name, *views)


def _as_is(replica: Replica) -> FutureRecord:
    return replica.as_is


def _changed(replica: Replica) -> FutureRecord:
    return replica.changed


def _view(records: Sequence[FutureRecord], at: int | slice) -> FutureView:
    def summed(of: Callable[[FutureRecord], Sequence[FloatArray]]) -> FloatArray:
        rows = np.array([of(one) for one in records])[..., at]
        return rows if isinstance(at, int) else rows.sum(axis=-1)

    waited, started = summed(lambda one: one.waited_minutes), summed(lambda one: one.started_people)
    with np.errstate(invalid="ignore", divide="ignore"):
        wait = np.where(started > 0, waited / started, np.nan)
    return FutureView(
        waiting_people=_band(summed(lambda one: one.waiting_people)),
        wait_minutes=_band(wait),
        doses=_spread(np.array([float(one.doses[at].sum()) for one in records])),
        lost_people=_spread(np.array([float(one.lost[at].sum()) for one in records])),
    )


def _band(rows: FloatArray) -> Band:
    """Over the replicas, (replicas, periods); a period in which a replica knows nothing counts the others."""
    columns = [column[np.isfinite(column)] for column in rows.T]
    spreads = [_spread(column) if len(column) else (None, None, None) for column in columns]
    mean, low, high = (tuple(spread[k] for spread in spreads) for k in range(3))
    return Band(mean, low, high)


def _spread(values: FloatArray) -> tuple[float, float, float]:
    low, high = np.quantile(values, BAND)
    return round(float(values.mean()), 2), round(float(low), 2), round(float(high), 2)


def period_minutes() -> int:
    """Length of a period of the bands."""
    return RECORD_EVERY_MINUTES
