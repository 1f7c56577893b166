"""The words and rows of a summary in two languages: what its page and its PDF both show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from doseflow.web.summary import Summary

WORDS = {
    "en": {
        "title": "Summary of {city}",
        "span": "{since} to {until}",
        "figures": "Figures",
        "mean_wait": "Mean wait, min",
        "longest_wait": "Longest wait, min",
        "over_30": "Sites with more than 30 min",
        "doses": "Doses, about",
        "waste": "Expired doses still in fridges",
        "cold_chain": "Fridges out of their band",
        "orders": "Orders by state",
        "overrides": "What people overrode",
        "deeds": "What people did",
        "handovers": "Hand-overs",
        "sites": "Longest waits",
        "nothing": "none",
        "unknown": "unknown",
    },
    "zh": {
        "title": "{city}工作小结",
        "span": "{since} 至 {until}",
        "figures": "数字",
        "mean_wait": "平均等候（分钟）",
        "longest_wait": "最长等候（分钟）",
        "over_30": "等候超过30分钟的接种点",
        "doses": "接种剂次（约）",
        "waste": "冰箱内已过期剂次",
        "cold_chain": "超出温度范围的冰箱",
        "orders": "各状态指令数",
        "overrides": "人工改动",
        "deeds": "人员操作",
        "handovers": "交接班",
        "sites": "等候最长的接种点",
        "nothing": "无",
        "unknown": "未知",
    },
}


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and its rows of text."""

    heading: str
    rows: list[tuple[str, ...]]


def title_of(summary: Summary, language: str) -> tuple[str, str]:
    """Title and the time it is about."""
    words, clock = WORDS[language], _Clock(summary.timezone)
    span = words["span"].format(since=clock(summary.since), until=clock(summary.until))
    return words["title"].format(city=summary.city), span


def sections_of(summary: Summary, language: str) -> list[Section]:
    """Everything that a summary says, in order."""
    words, clock = WORDS[language], _Clock(summary.timezone)

    def said(value: float | None) -> str:
        return words["unknown"] if value is None else f"{value:,g}"

    figures: list[tuple[str, ...]] = [
        (words["mean_wait"], said(summary.mean_wait_minutes)),
        (words["longest_wait"], said(summary.longest_wait_minutes)),
        (words["over_30"], said(summary.sites_over_30_minutes)),
        (words["doses"], said(summary.doses)),
        (words["waste"], said(summary.expired_doses)),
    ]
    rows: dict[str, list[tuple[str, ...]]] = {
        "figures": figures,
        "cold_chain": [(one,) for one in summary.excursion_fridges],
        "orders": [(state, str(count)) for state, count in summary.orders_by_state.items()],
        "overrides": [(clock(one.at), one.by, one.action, one.subject, one.reason) for one in summary.overrides],
        "deeds": [(action, str(count)) for action, count in summary.deeds_by_action.items()],
        "handovers": [
            (clock(one.given_at), f"{one.from_officer} → {one.to_officer}", one.note) for one in summary.handovers
        ],
        "sites": [(one.name, said(one.longest_wait_minutes), said(one.doses)) for one in summary.sites],
    }
    return [Section(words[name], told or [(words["nothing"],)]) for name, told in rows.items()]


class _Clock:
    """Local times of one city."""

    def __init__(self, timezone: str) -> None:
        self._zone = ZoneInfo(timezone)

    def __call__(self, moment: datetime) -> str:
        return f"{moment.astimezone(self._zone):%Y-%m-%d %H:%M}"
