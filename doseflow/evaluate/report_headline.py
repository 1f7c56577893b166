"""The report's first sentences: what the best planner that a city can run brings, and what nobody can say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from doseflow.bench.figures import Figure
from doseflow.evaluate.planners import REFERENCE
from doseflow.evaluate.report_words import BOUNDS, Words, planner_words
from doseflow.evaluate.resampling import FEWEST_SURE_SEEDS

Figures = Mapping[tuple[str, str], Figure]
"""Figures of all days by planner and name."""


def headline(figures: Figures, planners: Sequence[str]) -> Words:
    """One or two sentences, the same in both languages."""
    waits = {one: figures[one, "mean_wait_minutes"] for one in planners if (one, "mean_wait_minutes") in figures}
    runnable = [one for one in waits if one not in BOUNDS]
    if not runnable:
        return Words("No day has been played by all planners yet.", "尚无所有规划方法都完成的日子。")
    best = min(runnable, key=lambda one: waits[one].value)
    if REFERENCE not in waits or best == REFERENCE:
        return _shortest(best, waits[best], is_reference=best == REFERENCE and len(runnable) > 1)
    return _against_reference(best, waits, figures.get((best, "wait_reduction_share")))


def unsure_words() -> Words:
    """What is to be said of intervals from few days."""
    return Words(
        f"Fewer than {FEWEST_SURE_SEEDS} days of a scenario were played. The intervals on this page are then too narrow"
        " to be 95 % intervals: read them as a first look and play more days.",
        f"部分情景模拟日少于 {FEWEST_SURE_SEEDS} 天，本页区间偏窄，达不到 95% 的可靠程度，仅供初步参考，请增加模拟日。",
    )


def _shortest(best: str, wait: Figure, *, is_reference: bool) -> Words:
    names, minutes = planner_words(best), f"{wait.value:.1f}"
    if is_reference:
        return Words(
            f"No planner made people wait less than the fixed roster: {minutes} minutes on average.",
            f"没有任何规划方法比固定排班等候更短：平均 {minutes} 分钟。",
        )
    return Words(
        f"People waited least under “{names.en}”: {minutes} minutes on average.",
        f"“{names.zh}”下等候最短：平均 {minutes} 分钟。",
    )


def _against_reference(best: str, waits: Mapping[str, Figure], reduction: Figure | None) -> Words:
    names = planner_words(best)
    before, after = f"{waits[REFERENCE].value:.1f}", f"{waits[best].value:.1f}"
    en = f"People waited {before} minutes on average under the fixed roster and {after} under “{names.en}”"
    zh = f"固定排班下平均等候 {before} 分钟，“{names.zh}”下为 {after} 分钟"
    if reduction is None:
        return Words(en + ".", zh + "。")
    less = f"{reduction.value * 100:.0f}"
    if reduction.ci95 is None:
        return Words(
            f"{en}, {less} % less. Too few days were played to say how sure that is.",
            f"{zh}，缩短 {less}%。天数太少，无法说明其可靠程度。",
        )
    low, high = (f"{end * 100:.0f}" for end in reduction.ci95)
    if reduction.ci95[0] <= 0:
        return Words(
            f"{en}; with a 95 % interval of {low} to {high} % that is no sure gain.",
            f"{zh}；95% 区间为 {low}% 至 {high}%，不能确认有改善。",
        )
    return Words(
        f"{en}, {less} % less (95 % interval {low} to {high} %).",
        f"{zh}，缩短 {less}%（95% 区间 {low}% 至 {high}%）。",
    )
