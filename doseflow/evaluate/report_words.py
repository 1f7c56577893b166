"""The words of the report in both of its languages: planners, measures, and what they mean."""

from __future__ import annotations

from typing import NamedTuple

from doseflow.evaluate.comparison import ALL_FAMILIES
from doseflow.evaluate.planners import BOUND, FORECASTER_MARK, INFORMED

LANGUAGES = ("en", "zh")


class Words(NamedTuple):
    """The same in English and in Chinese."""

    en: str
    zh: str


PLANNER_WORDS: dict[str, Words] = {
    "static": Words("Fixed roster", "固定排班"),
    "rules": Words("Written rules", "规则"),
    "proportional": Words("By forecast share", "按预测比例"),
    "max_pressure": Words("Longest queue first", "最大压力"),
    "c_mu": Words("Cost of waiting first", "cμ 规则"),
    "index": Words("Look-ahead values", "前瞻指数"),
    "lp": Words("Programme, one block", "单期线性规划"),
    "mpc6": Words("Programme, 30 minutes", "滚动规划 30 分钟"),
    "mpc12": Words("Programme, 60 minutes", "滚动规划 60 分钟"),
    "scenario_mpc": Words("Programme, many futures", "多情景规划"),
    "learned": Words("Learned planner", "学习型规划"),
    INFORMED: Words("Knows the odds (reference)", "已知概率（参照）"),
    BOUND: Words("Knows the future (reference)", "已知未来（参照）"),
}
BOUNDS = (INFORMED, BOUND)
"""Planners that know what no city knows; they are never called the best."""

FAMILY_WORDS: dict[str, Words] = {
    "ordinary": Words("Ordinary day", "平常日"),
    "surge": Words("Surge", "人流激增"),
    "surge_wave": Words("Waves of people", "人流波峰"),
    "campaign_start": Words("Campaign start", "接种活动首日"),
    "walk_in_rush": Words("Walk-in rush", "未预约人流高峰"),
    "staff_absence": Words("Staff absence", "人员缺勤"),
    "site_closed": Words("Sites closed", "接种点关闭"),
    "fridge_failure": Words("Fridge failure", "冰箱故障"),
    "supply_cut": Words("Supply cut", "疫苗供应削减"),
    "late_vans": Words("Late vans", "配送车晚点"),
    "stale_reports": Words("Missing reports", "上报中断"),
    "early_arrivals": Words("Early arrivals", "提前到达"),
    "rain": Words("Rain", "降雨"),
    ALL_FAMILIES: Words("All", "全部"),
}
"""The packaged families of days, and all of them together."""


class MeasureWords(NamedTuple):
    """Heading with its unit, factor from the figure to that unit, number format, and the meaning."""

    heading: Words
    factor: float
    form: str
    meaning: Words


MEASURE_WORDS: dict[str, MeasureWords] = {
    "mean_wait_minutes": MeasureWords(
        Words("Mean wait, minutes", "平均等候（分钟）"),
        1,
        ".1f",
        Words(
            "All minutes spent in queues before the needle, over everybody who came, also those who left.",
            "接种前在各队列等候的全部时间，除以所有到场的人，包括中途离开者。",
        ),
    ),
    "p95_wait_minutes": MeasureWords(
        Words("Wait that 19 of 20 stay under, minutes", "95% 的人不超过的等候（分钟）"),
        1,
        ".0f",
        Words(
            "19 of 20 people waited less than this before the needle; who left counts with the time until leaving.",
            "每 20 人中有 19 人接种前等候少于此值；离开者计到离开为止。",
        ),
    ),
    "people_lost_share": MeasureWords(
        Words("People lost, %", "流失的人（%）"),
        100,
        ".1f",
        Words(
            "People who turned at the door, left a queue, or were sent home at closing, of all who came.",
            "到门口即返回、排队中离开或闭站时未接种的人，占到场者的比例。",
        ),
    ),
    "busy_block_share": MeasureWords(
        Words("Blocks of work without a breath, %", "满负荷时段（%）"),
        100,
        ".0f",
        Words(
            "Blocks of five minutes in which staff at a stage were at work for more than 85 % of the time.",
            "某环节工作人员在 5 分钟内忙碌超过 85% 的时段比例。",
        ),
    ),
    "worst_site_wait_minutes": MeasureWords(
        Words("Mean wait at the worst site, minutes", "最差接种点平均等候（分钟）"),
        1,
        ".0f",
        Words("The highest mean wait of any one site.", "各接种点平均等候中的最高值。"),
    ),
    "dose_utilisation_share": MeasureWords(
        Words("Doses used, %", "疫苗利用率（%）"),
        100,
        ".1f",
        Words(
            "Doses given, of all given, wasted, expired or discarded.",
            "已接种剂次占已接种、浪费、过期与报废之和的比例。",
        ),
    ),
    "cold_volume_utilisation_share": MeasureWords(
        Words("Cold volume in use, %", "冷链容积使用率（%）"),
        100,
        ".0f",
        Words(
            "Volume of stored vaccine over the volume of all fridges, mean of the day.",
            "疫苗占全部冰箱容积的日均比例。",
        ),
    ),
    "gap_closed_share": MeasureWords(
        Words("Way to the reference, %", "向参照靠近的进程（%）"),
        100,
        ".0f",
        Words(
            "Wait saved on the way from the written rules (0 %) to a planner that knows the future (100 %).",
            "以规则为 0%、已知未来的规划为 100%，平均等候缩短的比例。",
        ),
    ),
    "decision_p50_milliseconds": MeasureWords(
        Words("Time of one decision, ms", "一次决策用时（毫秒）"),
        1,
        ".1f",
        Words(
            "Median time to propose a plan for the whole city and to check it.", "为全市给出并校验一次方案的中位用时。"
        ),
    ),
}

PLOTTED = ("mean_wait_minutes", "p95_wait_minutes", "people_lost_share", "busy_block_share")


def planner_words(name: str) -> Words:
    """A planner in words, with the forecaster it is named with; its own name where it has none."""
    policy, mark, forecaster = name.partition(FORECASTER_MARK)
    words = PLANNER_WORDS.get(policy, Words(policy, policy))
    return Words(*(f"{one} · {forecaster}" for one in words)) if mark else words


def family_words(name: str) -> Words:
    """A family of days in words; its own name where it is not a packaged one."""
    plain = name.replace("_", " ")
    return FAMILY_WORDS.get(name, Words(plain, plain))
