"""What an order should bring, in both languages, with the forecast behind it and the best alternative."""

from dataclasses import replace

import numpy as np
import pytest
from feasible_city import make_forecast, make_state, move, send, stations

from doseflow.domain.decisions import Why
from doseflow.domain.order_effect import Alternative, Instead, OrderEffect, Saving
from doseflow.feasible.effects import coming_hour_people, explain_effect
from doseflow.forecast.count_quantiles import count_quantiles

STATE = make_state()
CITY, FORECAST = STATE.city, make_forecast(STATE, 2.0)
SAVING = {"expected_saving_minutes": 412.4, "alternative_saving_minutes": 120.0, "alternative_site_id": "s2"}


def said(decision, **facts):
    return explain_effect(replace(decision, why=Why("queue_relief", facts)), CITY, FORECAST)


def third_site():
    return CITY.sites[2].site_id, CITY.sites[2].name


def test_a_move_says_what_it_saves_who_is_expected_and_the_second_best():
    site_id, name = third_site()
    english, chinese = said(move(), **(SAVING | {"alternative_site_id": site_id}))
    assert english == (
        "should save 412.4 person-minutes of waiting; 24 people expected at Birch in the next hour "
        f"(24 to 24 in 8 of 10 cases); best alternative: {name} instead, 120 person-minutes"
    )
    assert chinese == (
        f"预计少等412.4人·分钟；预计Birch未来一小时到达24人（80%区间24至24人）；最佳替代：改由{name}，少等120人·分钟"
    )


def test_walk_ins_say_the_same_of_where_they_are_sent():
    assert "people expected at Alder" in said(send(), **SAVING)[0]


def test_where_no_other_giver_helps_the_alternative_is_doing_nothing():
    english, chinese = said(move(), **(SAVING | {"alternative_saving_minutes": 0.0, "alternative_site_id": ""}))
    assert english.endswith("best alternative: doing nothing, 0, which the effect is measured against")
    assert chinese.endswith("最佳替代：不作调整，0（效果以此为基准）")


def test_what_nobody_has_reckoned_claims_neither_an_effect_nor_an_alternative():
    english, chinese = said(stations())
    assert english.startswith("effect not reckoned: its queue, arrivals or stock are not known; 24 people expected")
    assert english.endswith("best alternative: not reckoned either")
    assert "0" not in chinese.rpartition("；")[2]


@pytest.mark.parametrize(
    ("effect", "first", "last"),
    [
        (
            OrderEffect(81.26, alternative=Alternative(Instead.STATIONS, 1, 40.0)),
            "should save 81.3 person-minutes of waiting",
            "best alternative: 1 station open instead, 40 person-minutes",
        ),
        (
            OrderEffect(-5.0, alternative=Alternative(Instead.QUARTER, 3, 2.5)),
            "should cost 5 person-minutes of waiting",
            "best alternative: the quarter hour 45 minutes ahead instead, 2.5 person-minutes",
        ),
        (
            OrderEffect(7.0, alternative=Alternative(Instead.DELAY, 10, 3.0)),
            "should save 7 person-minutes of waiting",
            "best alternative: 10 minutes later instead, 3 person-minutes",
        ),
        (
            OrderEffect(12.0, Saving.DOSES, Alternative(Instead.SITE, 2, 1.0)),
            "should save 12 doses",
            f"best alternative: {CITY.sites[2].name} instead, 1 dose",
        ),
        (
            OrderEffect(12.0, Saving.DOSES, Alternative(Instead.UNKNOWN)),
            "should save 12 doses",
            "best alternative: others not reckoned; doing nothing saves 0",
        ),
    ],
)
def test_what_was_reckoned_afterwards_is_said_with_what_it_was_compared_with(effect, first, last):
    english, _ = explain_effect(replace(stations(), why=Why("pinned")), CITY, FORECAST, effect)
    assert english.split("; ", 1)[0] == first
    assert english.endswith(last)


def test_an_unknown_forecast_is_said_to_be_unknown():
    unknown = replace(FORECAST, arrivals_people=np.full_like(FORECAST.arrivals_people, np.nan))
    english, chinese = explain_effect(move(), CITY, unknown)
    assert "arrivals at Birch are not known" in english
    assert "Birch到达人数未知" in chinese


def drawn_hours(per_period, level_sd, num=40_000):
    """Hours of counts whose level is off by a share of it, and a forecast that knows each period's variance."""
    rng = np.random.default_rng(5)
    level = np.exp(rng.normal(0, level_sd, num)) if level_sd else np.ones(num)
    counts = rng.poisson(per_period * level[:, None], (num, 12))
    quantiles = count_quantiles(np.array(per_period), max(1.0, counts.var() / counts.mean()))
    people = np.broadcast_to(quantiles, FORECAST.arrivals_people.shape).astype(float)
    return counts.sum(axis=1), replace(FORECAST, arrivals_people=people)


@pytest.mark.parametrize("per_period", [2.0, 8.0, 30.0])
@pytest.mark.parametrize("level_sd", [0.0, 0.3])
def test_the_interval_of_the_hour_covers_eight_hours_of_ten(per_period, level_sd):
    came, forecast = drawn_hours(per_period, level_sd)
    people, low, high = coming_hour_people(forecast, 1)
    assert people == pytest.approx(came.mean(), rel=0.06)
    assert low < people < high
    assert ((low <= came) & (came <= high)).mean() == pytest.approx(0.8, abs=0.08)
