"""
Why a decision is ordered, and why one is not: one plain sentence in English and one in Chinese.

A sentence is what is asked for, then the reason behind the decision's `why.code` with its figures and their units. A
code that is not known here, or whose figures are missing, still gives a correct sentence from the facts that are there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from doseflow.domain.decisions import Decision, acting_site_id, expecting_site_id
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.plan import Violation
from doseflow.domain.state import CityState
from doseflow.feasible.rule_book import RULE_BY_NAME
from doseflow.feasible.words import counted, phrase, plain, site_name


class Facts:
    """
    The figures behind a decision, by name.

    Raises
    ------
    LookupError
        A figure is missing or unknown, when it is asked for.
    """

    def __init__(self, decision: Decision, state: CityState) -> None:
        city = state.city
        self._facts: Mapping[str, float | str] = decision.why.facts
        self.here = site_name(city, acting_site_id(decision))
        expecting = expecting_site_id(decision)
        self.there = self.here if expecting is None else site_name(city, expecting)

    def __call__(self, name: str) -> float:
        """A figure."""
        value = self.known(name)
        if value is None:
            raise LookupError(name)
        return value

    def known(self, name: str) -> float | None:
        """A figure, None where it is missing or unknown."""
        value = self._facts.get(name)
        return None if value is None or isinstance(value, str) or not math.isfinite(value) else value

    def count(self, name: str, singular: str, plural: str | None = None) -> str:
        """A figure with its noun, in English."""
        return counted(self(name), singular, plural)

    def text(self, name: str) -> str:
        """A figure as a person writes it."""
        return plain(self(name))


Reason = Callable[[Facts], tuple[str, str]]


def _queue_relief(facts: Facts) -> tuple[str, str]:
    wait, giver = facts.text("wait_minutes"), facts.known("giver_wait_minutes")
    saving = facts.known("expected_saving_minutes")
    en, zh = f"people wait {wait} min at {facts.there}", f"{facts.there}等候{wait}分钟"
    if giver is not None and facts.here != facts.there:
        en, zh = f"{en} and {plain(giver)} min at {facts.here}", f"{zh}，{facts.here}等候{plain(giver)}分钟"
    if saving is not None:
        en = f"{en}, and it should save {plain(saving)} person-minutes of waiting"
        zh = f"{zh}，预计可少等{plain(saving)}人·分钟"
    return en, zh


def _understaffed(facts: Facts) -> tuple[str, str]:
    needed, on_duty = facts.text("needed_people"), facts.text("on_duty_people")
    people = facts.count("needed_people", "person", "people")
    return (
        f"{facts.there} needs {people} in this role and has {on_duty} on duty",
        f"{facts.there}该岗位需要{needed}人，在岗{on_duty}人",
    )


def _overstaffed(facts: Facts) -> tuple[str, str]:
    needed, on_duty = facts.known("needed_people"), facts.known("on_duty_people")
    if needed is None or on_duty is None:
        return f"{facts.here} has more people than its queue needs", f"{facts.here}人手多于需要"
    return (
        f"{facts.here} has {plain(on_duty)} on duty in this role and needs {plain(needed)}",
        f"{facts.here}该岗位在岗{plain(on_duty)}人，需要{plain(needed)}人",
    )


def _stations_to_staff(facts: Facts) -> tuple[str, str]:
    return (
        f"{facts.count('people', 'person', 'people')} on duty there can staff so many",
        f"该处在岗{facts.text('people')}人，可值守这些台位",
    )


def _unstaffed_station(facts: Facts) -> tuple[str, str]:
    people = facts.known("people")
    if people is None:
        return "nobody is left to staff the others", "其余台位无人值守"
    return (
        f"{counted(people, 'person', 'people')} left there can staff no more",
        f"该处余{plain(people)}人，其余台位无人值守",
    )


def _stock_out_ahead(facts: Facts) -> tuple[str, str]:
    have, need, hours = facts.count("doses_on_hand", "dose"), facts.text("doses_needed"), facts.known("hours_left")
    en = f"{facts.there} has {have} and needs {need}"
    zh = f"{facts.there}库存{facts.text('doses_on_hand')}剂，需要{need}剂"
    if hours is not None:
        en, zh = f"{en}, enough for {plain(hours)} h", f"{zh}，仅够{plain(hours)}小时"
    return en, zh


def _expiry_ahead(facts: Facts) -> tuple[str, str]:
    hours = facts.text("hours_to_expiry")
    return (
        f"the lot expires in {hours} h and would not be used up at {facts.here}",
        f"该批次{hours}小时后过期，{facts.here}用不完",
    )


def _failing_fridge(facts: Facts) -> tuple[str, str]:
    celsius, minutes = facts.known("temperature_celsius"), facts.known("minutes_to_loss")
    en = "the fridge is failing" if celsius is None else f"the fridge stands at {plain(celsius)} °C"
    zh = "冰箱出现故障" if celsius is None else f"冰箱温度为{plain(celsius)}℃"
    if minutes is not None:
        en, zh = f"{en} and the doses are lost in {plain(minutes)} min", f"{zh}，疫苗将在{plain(minutes)}分钟后失效"
    return en, zh


def _fridge_full(facts: Facts) -> tuple[str, str]:
    percent = plain(100 * facts("volume_used_share"))
    return f"the fridge is {percent} % full", f"冰箱已用容积{percent}%"


def _excursion_spent(facts: Facts) -> tuple[str, str]:
    spent, budget = facts.text("excursion_minutes"), facts.text("budget_minutes")
    return (
        f"it has spent {spent} min outside its band, and {budget} min are allowed",
        f"累计超温{spent}分钟，允许{budget}分钟",
    )


def _expired(_facts: Facts) -> tuple[str, str]:
    return "the lot has expired", "该批次已过期"


def _band_drift(facts: Facts) -> tuple[str, str]:
    celsius = facts.text("temperature_celsius")
    return f"the fridge has drifted to {celsius} °C", f"冰箱温度漂移至{celsius}℃"


def _delivery_ahead(_facts: Facts) -> tuple[str, str]:
    return "a delivery is on its way", "即将到货"


def _room_free(facts: Facts) -> tuple[str, str]:
    return (
        f"{facts.there} can serve {facts.count('free_people', 'person', 'people')} more",
        f"{facts.there}还可多服务{facts.text('free_people')}人",
    )


def _queue_ahead(facts: Facts) -> tuple[str, str]:
    wait = facts.text("wait_minutes")
    return f"people would wait {wait} min at {facts.here}", f"{facts.here}预计等候{wait}分钟"


def _arrivals_dear(facts: Facts) -> tuple[str, str]:
    price, saving = facts.text("price_minutes"), facts.known("expected_saving_minutes")
    en = f"one person more at {facts.here} costs everybody {price} min of waiting"
    zh = f"{facts.here}每多一人，众人合计多等{price}分钟"
    if saving is not None:
        en, zh = f"{en}, and this should save {plain(saving)} person-minutes", f"{zh}，预计可少等{plain(saving)}人·分钟"
    return en, zh


def _early_arrivals(facts: Facts) -> tuple[str, str]:
    early = facts.text("mean_early_minutes")
    return f"people come {early} min early on average and queue", f"预约者平均提前{early}分钟到达，造成排队"


def _pinned(_facts: Facts) -> tuple[str, str]:
    return "command asks for it", "指挥部指定"


def _suspended(facts: Facts) -> tuple[str, str]:
    return f"{facts.here} is suspended", f"{facts.here}已暂停"


def _recalled(_facts: Facts) -> tuple[str, str]:
    return "the lot is recalled: keep it apart, give none of it", "该批次已召回：隔离存放，停止接种"


def _earlier_lot(_facts: Facts) -> tuple[str, str]:
    return "this lot expires earlier than one that leaves with it", "该批次比同车调出的批次更早到期"


REASONS: dict[str, Reason] = {
    "queue_relief": _queue_relief,
    "understaffed": _understaffed,
    "overstaffed": _overstaffed,
    "stations_to_staff": _stations_to_staff,
    "unstaffed_station": _unstaffed_station,
    "stock_out_ahead": _stock_out_ahead,
    "expiry_ahead": _expiry_ahead,
    "failing_fridge": _failing_fridge,
    "fridge_full": _fridge_full,
    "excursion_spent": _excursion_spent,
    "expired": _expired,
    "band_drift": _band_drift,
    "delivery_ahead": _delivery_ahead,
    "room_free": _room_free,
    "queue_ahead": _queue_ahead,
    "arrivals_dear": _arrivals_dear,
    "early_arrivals": _early_arrivals,
    "pinned": _pinned,
    "suspended": _suspended,
    "recalled": _recalled,
    "earlier_lot": _earlier_lot,
}
"""What each code of `Why` says."""


def explain(decision: Decision, state: CityState, forecast: ArrivalForecast) -> tuple[str, str]:  # noqa: ARG001
    """One sentence in English and one in Chinese: what is ordered, and why."""
    en, zh = phrase(decision, state.city)
    because_en, because_zh = _reason(decision, state)
    return f"{_capital(en)}: {because_en}.", f"{zh}：{because_zh}。"


def explain_change(reasons: tuple[str, str], asked: float, ordered: float) -> tuple[str, str]:
    """The same with what was asked for, where another amount is ordered."""
    en, zh = ("allowed", "允许") if ordered < asked else ("needed", "需要")
    return (
        f"{reasons[0]} Asked for {plain(asked)}; {plain(ordered)} {en}.",
        f"{reasons[1]}原要求{plain(asked)}，{zh}{plain(ordered)}。",
    )


def explain_drop(decision: Decision, state: CityState, violation: Violation | None) -> tuple[str, str]:
    """Why a decision was dropped: the rule that stopped it, with the bound in words."""
    en, zh = phrase(decision, state.city)
    if violation is None:
        return (
            f"Asked for, and left out to make room for what is mandatory: {en}.",
            f"原要求{zh}；为必须执行的事项让出余地。",
        )
    rule = RULE_BY_NAME[violation.rule]
    return (
        f"Asked to {en}; not allowed ({violation.rule}): {violation.sentence}.",
        f"原要求{zh}；不允许：{rule.sentence_zh}（{rule.name}）。",
    )


def _reason(decision: Decision, state: CityState) -> tuple[str, str]:
    reason = REASONS.get(decision.why.code)
    try:
        return _from_facts(decision) if reason is None else reason(Facts(decision, state))
    except LookupError:
        return _from_facts(decision)


def _from_facts(decision: Decision) -> tuple[str, str]:
    """The code and its figures as they are, for a reason that has no sentence of its own."""
    words = decision.why.code.replace("_", " ") or "asked for by the planner"
    figures = ", ".join(
        f"{name.replace('_', ' ')} {value if isinstance(value, str) else plain(value)}"
        for name, value in decision.why.facts.items()
    )
    return (f"{words} ({figures})", f"{words}（{figures}）") if figures else (words, words)


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
