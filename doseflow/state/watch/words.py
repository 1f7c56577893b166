"""Sentences of the anomalies, in English and Chinese; the figures are the evidence of each kind."""

from __future__ import annotations

from doseflow.domain.anomaly import AnomalyKind
from doseflow.domain.feature_classes import FeatureClass

_COUNT_EN = {
    FeatureClass.ARRIVALS: "arrivals",
    FeatureClass.WAITING_BY_STAGE: "people waiting at every stage",
    FeatureClass.DOSES_GIVEN: "doses given",
    FeatureClass.OBSERVED_WAIT: "wait in minutes",
}
_COUNT_ZH = {
    FeatureClass.ARRIVALS: "到达人数",
    FeatureClass.WAITING_BY_STAGE: "各环节等候人数",
    FeatureClass.DOSES_GIVEN: "接种剂数",
    FeatureClass.OBSERVED_WAIT: "等候分钟数",
}
KIND_TO_WORDS: dict[AnomalyKind, tuple[str, str]] = {
    AnomalyKind.STUCK_READING: (
        "The same number of {count} ({value:g}) in {readings:.0f} reports running: the reading seems stuck",
        "{count}连续 {readings:.0f} 次上报均为 {value:g}，读数疑似停滞",
    ),
    AnomalyKind.QUEUE_JUMP: (
        "The queue grew by {grown_people:.0f} in one period, while {arrivals_people:.0f} came",
        "一个周期内排队增加 {grown_people:.0f} 人，而到达仅 {arrivals_people:.0f} 人",
    ),
    AnomalyKind.DOSES_WITHOUT_PEOPLE: (
        "{doses_given:.0f} doses given in one period, {arrivals_people:.0f} came, queue changed by {grown_people:+.0f}",
        "一个周期内接种 {doses_given:.0f} 剂，而到达仅 {arrivals_people:.0f} 人，排队变化 {grown_people:+.0f} 人",
    ),
    AnomalyKind.PEOPLE_FROM_NOWHERE: (
        "{people:.0f} people more wait or were served than came: arrivals, queue and doses do not agree",
        "等候与已接种人数比到达人数多 {people:.0f} 人，到达、排队与接种数据不一致",
    ),
    AnomalyKind.PEOPLE_VANISH: (
        "{people:.0f} people came who neither wait nor were served: arrivals, queue and doses do not agree",
        "有 {people:.0f} 人到达后既未排队也未接种，到达、排队与接种数据不一致",
    ),
    AnomalyKind.STOCK_RISE: (
        "Doses of lots that were there rose by {doses:.0f}, and no delivery is known",
        "已有批次的疫苗增加 {doses:.0f} 剂，但没有已知的配送",
    ),
    AnomalyKind.STOCK_MISMATCH: (
        "Doses on hand fell by {doses:.0f} less than the doses given: one of the two is wrong",
        "现有疫苗的减少量比接种量少 {doses:.0f} 剂，两项数据之一有误",
    ),
    AnomalyKind.OUT_OF_STEP: (
        "About {people:.0f} people fewer came than past weeks and the neighbouring sites let expect",
        "与往周及邻近接种点相比，到达人数约少 {people:.0f} 人",
    ),
    AnomalyKind.LOGGER_STUCK: (
        "Fridge {fridge_id} shows {temperature_celsius:.1f} °C for {readings:.0f} readings: its logger seems stuck",
        "冰箱 {fridge_id} 连续 {readings:.0f} 次显示 {temperature_celsius:.1f} °C，温度记录仪疑似停滞",
    ),
    AnomalyKind.LOGGER_SILENT: (
        "Fridge {fridge_id} was left out of the last {reports:.0f} reports of its site: its logger seems silent",
        "本点最近 {reports:.0f} 次上报均无冰箱 {fridge_id} 的温度，温度记录仪疑似失联",
    ),
    AnomalyKind.TEMPERATURE_JUMP: (
        "Fridge {fridge_id} went from {before_celsius:.1f} to {temperature_celsius:.1f} °C, faster than any can",
        "冰箱 {fridge_id} 由 {before_celsius:.1f} °C 变为 {temperature_celsius:.1f} °C，变化过快，传感器可能有误",
    ),
    AnomalyKind.COUNTER_BACK: (
        (
            "Fridge {fridge_id}: excursion minutes went from {before_minutes:.0f} to {excursion_minutes:.0f} within "
            "{passed_minutes:.0f} min"
        ),
        "冰箱 {fridge_id} 超温分钟数 {passed_minutes:.0f} 分钟内由 {before_minutes:.0f} 变为 {excursion_minutes:.0f}",
    ),
}


def sentences(
    kind: AnomalyKind, feature_class: FeatureClass, fridge_id: str | None, evidence: dict[str, float]
) -> tuple[str, str]:
    """The sentence in English and in Chinese."""
    english, chinese = KIND_TO_WORDS[kind]
    return (
        english.format(count=_COUNT_EN.get(feature_class, ""), fridge_id=fridge_id, **evidence),
        chinese.format(count=_COUNT_ZH.get(feature_class, ""), fridge_id=fridge_id, **evidence),
    )
