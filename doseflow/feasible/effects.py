"""
What an order should bring: minutes of waiting or doses saved, the forecast behind it, and the best alternative.

Each is one clause in English and one in Chinese, from the figures that stand behind the decision and from the forecast.
"""

from __future__ import annotations

import math

import numpy as np

from doseflow.domain.city import City
from doseflow.domain.decisions import (
    Decision,
    DecisionKind,
    acting_site_id,
    expecting_site_id,
)
from doseflow.domain.forecast import MEDIAN_IDX, QUANTILE_LEVELS, ArrivalForecast
from doseflow.domain.order_effect import Alternative, Instead, NotReckoned, OrderEffect, Saving
from doseflow.feasible.words import counted, plain, site_name
from doseflow.units import MINUTES_PER_HOUR, PERIOD_MINUTES

_HOUR_PERIODS = MINUTES_PER_HOUR // PERIOD_MINUTES
_LOW_IDX, _HIGH_IDX = QUANTILE_LEVELS.index(0.1), QUANTILE_LEVELS.index(0.9)
_DECILE = 1.2816
"""Standard deviations from the mean to a decile of a normal number."""
_QUARTER_MINUTES = 15
_NOTHING = (
    "best alternative: doing nothing, 0, which the effect is measured against",
    "最佳替代：不作调整，0（效果以此为基准）",
)
NO_EFFECT = OrderEffect(not_reckoned=NotReckoned.UNKNOWN_SITE)
"""Where nobody has reckoned one."""
_WHY_NOT = {
    NotReckoned.FULL_FRIDGE: ("what an over-full fridge loses is not forecast", "冰箱过满的损失无法预测"),
    NotReckoned.DELIVERY: ("how far a delivery warms a fridge is not forecast", "到货使冰箱升温的幅度无法预测"),
    NotReckoned.UNKNOWN_SITE: ("its queue, arrivals or stock are not known", "排队、到达或库存未知"),
}
_ON_CONDITION = {
    DecisionKind.SET_POINT: (" if the drift would go on as without power", "（若漂移如断电般持续）"),
    DecisionKind.HOLD_SLOTS: (" if all of them would be taken", "（若全部会被预约）"),
    DecisionKind.RELEASE_SLOTS: (
        " if all of them are taken, for as many people more",
        "（若全部被预约，并多服务同样人数）",
    ),
    DecisionKind.TELL_ARRIVAL_TIME: (" if all of them come later", "（若全部推迟到达）"),
    DecisionKind.MARK_UNUSABLE: (" and keeps spoilt ones from being given", "（并防止使用失效疫苗）"),
}


def explain_effect(
    decision: Decision, city: City, forecast: ArrivalForecast, effect: OrderEffect = NO_EFFECT
) -> tuple[str, str]:
    """
    What is expected of a decision, in English and in Chinese.

    What the planner reckoned itself when it decided comes before `effect`, which was reckoned afterwards.
    """
    parts = (
        _effect(decision, effect),
        _forecast(decision, city, forecast),
        _alternative(decision, city, effect),
    )
    en, zh = ([part[idx] for part in parts] for idx in (0, 1))
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


def _effect(decision: Decision, effect: OrderEffect) -> tuple[str, str]:
    saving = _own_saving(decision)
    if saving is not None:
        return _saved_words(saving, Saving.PERSON_MINUTES)
    if effect.not_reckoned is not None:
        why_en, why_zh = _WHY_NOT[effect.not_reckoned]
        return f"effect not reckoned: {why_en}", f"未估算效果：{why_zh}"
    en, zh = _saved_words(round(effect.saved, 1), effect.saving)
    more_en, more_zh = _ON_CONDITION.get(decision.kind, ("", ""))
    return en + more_en, zh + more_zh


def _own_saving(decision: Decision) -> float | None:
    """What the planner itself says that a decision saves."""
    saving = decision.why.facts.get("expected_saving_minutes")
    return saving if isinstance(saving, float | int) and math.isfinite(saving) else None


def _saved_words(saved: float, saving: Saving) -> tuple[str, str]:
    if saving is Saving.DOSES:
        return f"should save {counted(saved, 'dose')}", f"预计保住{plain(saved)}剂"
    if saved < 0:
        return f"should cost {plain(-saved)} person-minutes of waiting", f"预计多等{plain(-saved)}人·分钟"
    return f"should save {plain(saved)} person-minutes of waiting", f"预计少等{plain(saved)}人·分钟"


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


def _alternative(decision: Decision, city: City, effect: OrderEffect) -> tuple[str, str]:
    facts = decision.why.facts
    saving, site_id = facts.get("alternative_saving_minutes"), facts.get("alternative_site_id")
    if isinstance(saving, float | int) and isinstance(site_id, str) and site_id in city.site_to_idx:
        return _instead(city, Alternative(Instead.SITE, city.site_to_idx[site_id], saving), Saving.PERSON_MINUTES)
    if _own_saving(decision) is not None and saving is not None:
        return _NOTHING
    if effect.not_reckoned is not None:
        return "best alternative: not reckoned either", "最佳替代：同样未估算"
    return _instead(city, effect.alternative, effect.saving)


def _instead(city: City, other: Alternative, saving: Saving) -> tuple[str, str]:
    """The alternative with its value; doing nothing is 0 since every effect is measured against it."""
    if other.instead is Instead.NOTHING:
        return _NOTHING
    if other.instead is Instead.UNKNOWN:
        return "best alternative: others not reckoned; doing nothing saves 0", "最佳替代：其他方案未估算；不作调整为0"
    en, zh = {
        Instead.SITE: lambda: (f"{site_name(city, city.sites[other.value].site_id)} instead",) * 2,
        Instead.STATIONS: lambda: (f"{counted(other.value, 'station')} open instead", f"开放{other.value}个台位"),
        Instead.QUARTER: lambda: (
            f"the quarter hour {other.value * _QUARTER_MINUTES} minutes ahead instead",
            f"改为{other.value * _QUARTER_MINUTES}分钟后的时段",
        ),
        Instead.DELAY: lambda: (f"{other.value} minutes later instead", f"改为推迟{other.value}分钟"),
    }[other.instead]()
    if other.instead is Instead.SITE:
        zh = f"改由{site_name(city, city.sites[other.value].site_id)}"
    saved = plain(round(other.saved, 1))
    if saving is Saving.DOSES:
        return f"best alternative: {en}, {counted(other.saved, 'dose')}", f"最佳替代：{zh}，保住{saved}剂"
    return f"best alternative: {en}, {saved} person-minutes", f"最佳替代：{zh}，少等{saved}人·分钟"
