"""The nightly back-test: yesterday and the days before it out of the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from doseflow.backtest.played_day import Champion, PlayedDay, play_day
from doseflow.backtest.verdict import LEAST_REFERENCE_DAYS, verdict
from doseflow.bootstrap import make_planner
from doseflow.domain.city import City
from doseflow.errors import CycleNotFound
from doseflow.forecast.seasonal_naive import SeasonalNaive
from doseflow.live.clocks import WallClock
from doseflow.live.drift.evidence import DriftView
from doseflow.settings import Settings
from doseflow.store.engine import Store, open_store


@dataclass(frozen=True)
class BackTest:
    """A day, the days it was compared with, and what that says."""

    day: PlayedDay
    reference: tuple[PlayedDay, ...]
    view: DriftView
    planner: str
    forecaster: str

    def figures(self) -> list[dict[str, Any]]:
        """Figures as the other commands write them."""
        params = {"planner": self.planner, "forecaster": self.forecaster, "day_on": self.day.day_on.isoformat()}
        found = [
            _figure(
                "weighted_quantile_loss",
                score.weighted_loss_share,
                "share",
                score.num_scored,
                params | {"lead_minutes": lead},
            )
            for lead, score in self.day.scores.items()
        ]
        found += [
            _figure(
                "coverage80_share", score.coverage_share, "share", score.num_scored, params | {"lead_minutes": lead}
            )
            for lead, score in self.day.scores.items()
        ]
        waits = self.day.waits
        found.append(_figure("wait_error_minutes", waits.mean_error_minutes, "minutes", waits.num_compared, params))
        found += [
            _figure("drift_evidence_share", each.share, "share", len(self.reference), params | {"kind": str(each.kind)})
            for each in self.view.evidence
        ]
        return found

    @property
    def gain_over_plain_share(self) -> float:
        """How much less the champion's loss is than that of the seasonal naive forecast."""
        return 1 - self.day.score.weighted_loss_share / self.day.plain.weighted_loss_share


def back_test(
    settings: Settings,
    store_url: str,
    day_on: date | None,
    num_reference_days: int,
    on_day: Callable[[date], None] = lambda _: None,
) -> BackTest:
    """
    Hold the champion to account for a day; None is the last whole day in the store.

    Raises
    ------
    CycleNotFound
        The store holds no cycle of the day, or too few days before it.
    StoreUnavailable, SettingsWrong, ModelWrong, EngineFailed
    """
    store = open_store(store_url, must_exist=True)
    try:
        latest = store.plans.latest_state()
        if latest is None:
            raise CycleNotFound(f"{store_url} holds no cycle yet")
        if day_on is None:
            day_on = latest.as_of.astimezone(ZoneInfo(latest.city.timezone)).date() - timedelta(days=1)
        champion = Champion(make_planner(settings), SeasonalNaive(settings.forecast), WallClock())
        return _compared(store, latest.city, day_on, num_reference_days, champion, on_day)
    finally:
        store.close()


def _compared(
    store: Store, city: City, day_on: date, num_reference_days: int, champion: Champion, on_day: Callable[[date], None]
) -> BackTest:
    def played(day: date) -> PlayedDay | None:
        on_day(day)
        return play_day(store.plans, store.reports, city, day, champion)

    day = played(day_on)
    if day is None:
        raise CycleNotFound(f"no cycle of {day_on} can be replayed")
    before = [played(day_on - timedelta(days=number)) for number in range(num_reference_days, 0, -1)]
    reference = tuple(each for each in before if each is not None)
    if len(reference) < LEAST_REFERENCE_DAYS:
        raise CycleNotFound(
            f"{len(reference)} of the {num_reference_days} days before {day_on} can be replayed; "
            f"at least {LEAST_REFERENCE_DAYS} must be"
        )
    planner = champion.planner
    return BackTest(day, reference, verdict(reference, day), planner.policy.name, planner.forecaster.name)


def _figure(name: str, value: float, unit: str, n: int, params: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "value": value, "unit": unit, "params": params, "n": n}
