"""Every decision is explained in one plain sentence in each language, with site names and figures with their units."""

from __future__ import annotations

from dataclasses import replace

import pytest
from feasible_city import (
    fridge_move,
    hold,
    make_forecast,
    make_state,
    mark,
    move,
    pre_cool,
    release,
    send,
    set_point,
    stations,
    tell,
    transfer,
)

from doseflow.domain.decisions import DecisionKind, Why
from doseflow.feasible.explanations import REASONS, explain, explain_change, explain_drop
from doseflow.feasible.referee import referee
from doseflow.feasible.words import plain

STATE = make_state()
FORECAST = make_forecast(STATE)

SENTENCES = {
    DecisionKind.STAFF_MOVE: (
        move(people=2),
        (
            "Send 2 vaccinators from Alder to Birch: people wait 40 min at Birch and 5 min at Alder, "
            "and it should save 120 person-minutes of waiting."
        ),
        "从Alder派2名接种员到Birch：Birch等候40分钟，Alder等候5分钟，预计可少等120人·分钟。",
    ),
    DecisionKind.STATION_CHANGE: (
        stations(stage=3, after=3, why=Why("stations_to_staff", {"people": 1.0})),
        "Have 3 observation stations open at Alder instead of 2: 1 person on duty there can staff so many.",
        "Alder开放3个留观台（现为2个）：该处在岗1人，可值守这些台位。",
    ),
    DecisionKind.DOSE_TRANSFER: (
        transfer(),
        (
            "Carry 10 doses of Liquid vaccine (lot early) from Alder to Birch by van v0: "
            "Birch has 20 doses and needs 90, enough for 1.5 h."
        ),
        "用车v0从Alder向Birch调拨10剂Liquid vaccine（批号early）：Birch库存20剂，需要90剂，仅够1.5小时。",
    ),
    DecisionKind.FRIDGE_MOVE: (
        fridge_move(),
        (
            "Move 10 doses of Liquid vaccine (lot early) at Alder from fridge f1 to fridge f2: "
            "the fridge stands at 9.5 °C and the doses are lost in 45 min."
        ),
        "Alder把10剂Liquid vaccine（批号early）从冰箱f1移至f2：冰箱温度为9.5℃，疫苗将在45分钟后失效。",
    ),
    DecisionKind.PRE_COOL: (
        pre_cool(),
        "Cool fridge f1 at Alder to 3 °C ahead of need: a delivery is on its way.",
        "Alder冰箱f1预冷至3℃：即将到货。",
    ),
    DecisionKind.MARK_UNUSABLE: (
        mark(),
        (
            "Take 100 doses of Liquid vaccine (lot early) at Alder out of use: "
            "it has spent 300 min outside its band, and 240 min are allowed."
        ),
        "Alder停用100剂Liquid vaccine（批号early）：累计超温300分钟，允许240分钟。",
    ),
    DecisionKind.SET_POINT: (
        set_point(),
        "Set fridge f1 at Alder to 4 °C: the fridge has drifted to 7.5 °C.",
        "Alder冰箱f1设定为4℃：冰箱温度漂移至7.5℃。",
    ),
    DecisionKind.RELEASE_SLOTS: (
        release(),
        "Offer 3 appointments more at Alder in the quarter hour 30 minutes ahead: Alder can serve 9 people more.",
        "Alder增放30分钟后一刻钟内的3个预约号：Alder还可多服务9人。",
    ),
    DecisionKind.HOLD_SLOTS: (
        hold(people=1),
        (
            "Hold back 1 free appointment at Alder in the quarter hour 30 minutes ahead: "
            "people would wait 50 min at Alder."
        ),
        "Alder收回30分钟后一刻钟内未约出的1个预约号：Alder预计等候50分钟。",
    ),
    DecisionKind.TELL_ARRIVAL_TIME: (
        tell(people=1),
        (
            "Ask 1 person who would come early to Alder to come 12 minutes later: "
            "people come 12 min early on average and queue."
        ),
        "请1名将提前到Alder的预约者晚到12分钟：预约者平均提前12分钟到达，造成排队。",
    ),
    DecisionKind.SEND_WALK_INS: (
        send(),
        "Send up to 5 walk-ins of the next half hour from Birch to Alder: people would wait 50 min at Birch.",
        "未来半小时内从Birch引导至多5名现场取号者到Alder：Birch预计等候50分钟。",
    ),
}

FACTS = {
    "queue_relief": {"wait_minutes": 40.0},
    "understaffed": {"needed_people": 5.0, "on_duty_people": 3.0},
    "overstaffed": {"needed_people": 2.0, "on_duty_people": 6.0},
    "stations_to_staff": {"people": 4.0},
    "unstaffed_station": {"people": 2.0},
    "stock_out_ahead": {"doses_on_hand": 1.0, "doses_needed": 60.0},
    "expiry_ahead": {"hours_to_expiry": 7.0},
    "fridge_full": {"volume_used_share": 0.97},
    "excursion_spent": {"excursion_minutes": 250.0, "budget_minutes": 240.0},
    "band_drift": {"temperature_celsius": 7.6},
    "room_free": {"free_people": 1.0},
    "queue_ahead": {"wait_minutes": 33.3},
    "arrivals_dear": {"price_minutes": 41.5, "expected_saving_minutes": 120.0},
    "early_arrivals": {"mean_early_minutes": 21.0},
}


@pytest.mark.parametrize("kind", list(DecisionKind))
def test_each_kind_is_explained_in_both_languages(kind):
    decision, english, chinese = SENTENCES[kind]
    assert decision.kind is kind
    assert explain(decision, STATE, FORECAST) == (english, chinese)


@pytest.mark.parametrize("code", sorted(REASONS))
def test_each_code_has_its_own_sentence_with_its_figures(code):
    facts = FACTS.get(code, {})
    english, chinese = explain(replace(move(), why=Why(code, facts)), STATE, FORECAST)
    assert code.replace("_", " ") + " (" not in english
    for name, value in facts.items():
        figure = "97" if name == "volume_used_share" else f"{value:g}"
        assert figure in english
        assert figure in chinese


@pytest.mark.parametrize("facts", [{}, {"wait_minutes": float("nan")}, {"wait_minutes": "long"}])
def test_a_reason_whose_figures_are_missing_is_told_from_what_is_there(facts):
    english, chinese = explain(replace(move(), why=Why("queue_ahead", facts)), STATE, FORECAST)
    assert english.startswith("Send 1 vaccinator from Alder to Birch: queue ahead")
    assert "nan" not in english
    assert chinese.startswith("从Alder派1名接种员到Birch：queue ahead")


def test_an_unknown_code_is_told_with_its_facts():
    why = Why("moon_phase", {"light_share": 0.5, "name": "waxing"})
    english, _ = explain(replace(move(), why=why), STATE, FORECAST)
    assert english == "Send 1 vaccinator from Alder to Birch: moon phase (light share 0.5, name waxing)."


def test_who_works_as_something_else_and_what_closes_whole_is_said():
    assert explain(move(works_as="screener"), STATE, FORECAST)[0].startswith(
        "Send 1 vaccinator from Alder to Birch to work as screener: "
    )
    assert explain(stations(after=0), STATE, FORECAST)[1].startswith("Alder关闭全部接种台：")


def test_an_id_that_says_what_it_names_is_not_announced_twice():
    assert "from fridge-1 to fridge f2" in explain(fridge_move(frm="fridge-1"), STATE, FORECAST)[0]


def test_what_is_more_than_asked_for_is_needed_and_what_is_less_is_allowed():
    assert explain_change(("A.", "甲。"), 1.0, 3) == ("A. Asked for 1; 3 needed.", "甲。原要求1，需要3。")
    assert explain_change(("A.", "甲。"), 3.0, 1) == ("A. Asked for 3; 1 allowed.", "甲。原要求3，允许1。")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (3, "3"),
        (3.0, "3"),
        (2.96, "3"),
        (2.94, "2.9"),
        (-0.04, "0"),
        (float("nan"), "unknown"),
        (10**30, "1" + 30 * "0"),
    ],
)
def test_numbers_are_written_as_people_write_them(number, text):
    assert plain(number) == text


def test_one_person_is_a_person():
    facts = {"needed_people": 1.0, "on_duty_people": 0.0}
    english, _ = explain(replace(move(), why=Why("understaffed", facts)), STATE, FORECAST)
    assert english.endswith("Birch needs 1 person in this role and has 0 on duty.")


def test_a_site_that_nobody_knows_is_called_by_its_id():
    assert "from Alder to nowhere" in explain(replace(move(), to_site_id="nowhere"), STATE, FORECAST)[0]


def test_a_dropped_decision_names_the_rule_and_the_bound():
    asked = release(people=9)
    (violation,) = referee(STATE, FORECAST, [asked])
    english, chinese = explain_drop(asked, STATE, violation)
    assert english == (
        "Asked to offer 9 appointments more at Alder in the quarter hour 30 minutes ahead; not allowed "
        "(slots_within_share): Alder: 9 appointments to change in the quarter hour 30 min ahead, 3 may be."
    )
    assert chinese == (
        "原要求Alder增放30分钟后一刻钟内的9个预约号；不允许："
        "增放或收回的预约号不得超过该时段已约人数的规定比例（slots_within_share）。"
    )


def test_a_quantity_that_means_nothing_can_still_be_told():
    english, chinese = explain_drop(move(people=float("nan")), STATE, None)
    assert "unknown vaccinators" in english
    assert "unknown名" in chinese
