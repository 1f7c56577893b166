"""
What an order should bring: minutes of waiting or doses saved, the forecast behind it, and the best alternative.

Each is one clause in English and one in Chinese, from the figures that stand behind the decision and from the forecast.
"""

from __future__ import annotations

import math

import numpy as np

from doseflow.domain.city import City
from doseflow.domain.decisions import Decision, DoseTransfer, FridgeMove, acting_site_id, expecting_site_id
from doseflow.domain.forecast import MEDIAN_IDX, QUANTILE_LEVELS, ArrivalForecast
from doseflow.feasible.words import counted, plain, site_name
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES

_HOUR_PERIODS = MINUTES_PER_HOUR // PERIOD_MINUTES
_LOW_IDX, _HIGH_IDX = QUANTILE_LEVELS.index(0.1), QUANTILE_LEVELS.index(0.9)
_DECILE = 1.2816
"""Standard deviations from the mean to a decile of a normal number."""
_DOSES_AT_RISK = frozenset({"expiry_ahead", "failing_fridge", "excursion_spent", "earlier_lot"})


def explain_effect(decision: Decision, city: City, forecast: ArrivalForecast) -> tuple[str, str]:
    """What is expected of a decision, in English and in Chinese."""
    effect, (there, alternative) = (
        _effect(decision),
        (_forecast(decision, city, forecast), _alternative(decision, city)),
    )
    en, zh = ([part[idx] for part in (effect, there, alternative)] for idx in (0, 1))
    return "; ".join(en), "；".join(zh)


def coming_hour_people(forecast: ArrivalForecast, site_idx: int) -> tuple[float, float, float]:
    """
    Expected arrivals of the coming hour at a site, and the bounds of their 80 % interval; NaN where unknown.

    Of the spread of each period, what counting explains averages out over the hour, and the rest, an error of the
    level, does not.
    """
    periods = forecast.arrivals_people[site_idx, :_HOUR_PERIODS]
    low, high = periods[:, _LOW_IDX], periods[:, _HIGH_IDX]
    # The extended Swanson-Megill rule (Keefer and Bodily 1983, doi:10.1287/mnsc.29.5.595).
    mean = 0.3 * low + 0.4 * periods[:, MEDIAN_IDX] + 0.3 * high
    variance = ((high - low) / (2 * _DECILE)) ** 2
    counting = np.minimum(mean, variance)
    deviation = math.sqrt(counting.sum() + np.sqrt(variance - counting).sum() ** 2)
    people = float(mean.sum())
    return people, max(people - _DECILE * deviation, 0.0), people + _DECILE * deviation


def _effect(decision: Decision) -> tuple[str, str]:
    saving = decision.why.facts.get("expected_saving_minutes")
    if isinstance(saving, float | int) and math.isfinite(saving):
        return f"should save {plain(saving)} person-minutes of waiting", f"预计少等{plain(saving)}人·分钟"
    doses = _saved_doses(decision)
    if doses is not None:
        return f"should save {counted(doses, 'dose')}", f"预计保住{plain(doses)}剂"
    return "no figure is put on its effect", "未估算效果"


def _saved_doses(decision: Decision) -> float | None:
    """Doses kept from spoiling, or brought to people who would have found none."""
    if not isinstance(decision, DoseTransfer | FridgeMove):
        return None
    if decision.why.code in _DOSES_AT_RISK:
        return decision.doses
    needed, on_hand = (decision.why.facts.get(name) for name in ("doses_needed", "doses_on_hand"))
    if not (isinstance(needed, float | int) and isinstance(on_hand, float | int)):
        return None
    return max(0.0, min(float(decision.doses), needed - on_hand))


def _forecast(decision: Decision, city: City, forecast: ArrivalForecast) -> tuple[str, str]:
    site_id = expecting_site_id(decision) or acting_site_id(decision)
    name = site_name(city, site_id)
    people, low, high = coming_hour_people(forecast, city.site_to_idx[site_id])
    if not math.isfinite(people):
        return f"arrivals at {name} are not known", f"{name}到达人数未知"
    shown = plain(round(people)), plain(round(low)), plain(round(high))
    return (
        f"{shown[0]} people expected at {name} in the next hour ({shown[1]} to {shown[2]} in 8 of 10 cases)",
        f"预计{name}未来一小时到达{shown[0]}人（80%区间{shown[1]}至{shown[2]}人）",
    )


def _alternative(decision: Decision, city: City) -> tuple[str, str]:
    facts = decision.why.facts
    saving, site_id = facts.get("alternative_saving_minutes"), facts.get("alternative_site_id")
    if isinstance(saving, float | int) and isinstance(site_id, str) and site_id in city.site_to_idx:
        name = site_name(city, site_id)
        return (
            f"best alternative: {name} instead, {plain(saving)} person-minutes",
            f"最佳替代：改由{name}，少等{plain(saving)}人·分钟",
        )
    return "best alternative: doing nothing, 0", "最佳替代：不作调整，0"
