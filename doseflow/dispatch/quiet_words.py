"""What people are told of their site's orders: one quiet message for all changes at once, in Chinese or English."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from doseflow.ports import OutboxEntry

MAX_LINES = 6


@dataclass(frozen=True, slots=True)
class QuietMessage:
    """A title of a few words, and a line for each change; no person is named in it."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of one language."""

    made: str
    withdrawn: str
    line: str
    withdrawn_line: str
    more: str
    joint: str


_LANGUAGE_TO_WORDS = {
    "en": _Words("{} new", "{} withdrawn", "by {}: {}", "no longer: {}", "and {} more", ", "),
    "zh": _Words("新指令 {} 条", "撤回 {} 条", "{} 前：{}", "不再执行：{}", "另有 {} 条", "，"),
}
LANGUAGES = tuple(_LANGUAGE_TO_WORDS)


def quiet_message(entries: Sequence[OutboxEntry], site_name: str, timezone: str, language: str) -> QuietMessage:
    """One message for changes of one site; moments are those of the site's clocks."""
    words = _LANGUAGE_TO_WORDS[language]
    num_withdrawn = sum(entry.topic == "withdrawal" for entry in entries)
    num_made = len(entries) - num_withdrawn
    counts = [words.made.format(num_made)] if num_made else []
    counts += [words.withdrawn.format(num_withdrawn)] if num_withdrawn else []
    lines = [_line(entry, words, ZoneInfo(timezone), language) for entry in entries[:MAX_LINES]]
    if len(entries) > MAX_LINES:
        lines.append(words.more.format(len(entries) - MAX_LINES))
    return QuietMessage(f"{site_name}: {words.joint.join(counts)}", "\n".join(lines))


def _line(entry: OutboxEntry, words: _Words, zone: ZoneInfo, language: str) -> str:
    order = entry.order
    what = order.reason_zh if language == "zh" else order.reason_en
    if entry.topic == "withdrawal":
        return words.withdrawn_line.format(what)
    return words.line.format(f"{order.due_at.astimezone(zone):%H:%M}", what)
