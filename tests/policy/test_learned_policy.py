"""The learned policy: moves that the net finds worth it, walk-ins by price, and the rules where the net fails."""

from dataclasses import replace

import numpy as np
import pytest
from rules_city import calm_staff, calm_state, city_of, forecast_of, of_kind, random_state, staff_table
from value_engines import SPOILT, Broken, Watched

from doseflow.domain.decisions import SendWalkIns, StaffMove
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.orders import Commitments
from doseflow.domain.roles import Role
from doseflow.policy.arrival_prices import ArrivalPrices, PriceParams
from doseflow.policy.learned_policy import LearnedPolicy
from doseflow.policy.rules_policy import RulesPolicy


def short_city(num_sites=4, **given):
    """The first site has a long queue and few vaccinators, the last far too many of them."""
    waiting = np.zeros((num_sites, 4))
    waiting[0, 2] = 40.0
    staff = staff_table(calm_staff(num_sites, {(0, Role.VACCINATOR): 2, (num_sites - 1, Role.VACCINATOR): 12}))
    given.setdefault("observed_wait_minutes", np.array([40.0] + [1.0] * (num_sites - 1)))
    return calm_state(city_of(num_sites), staff=staff, waiting_people=waiting, **given)


def test_people_go_where_the_net_finds_them_worth_most_and_the_reason_says_what_it_saves():
    state = short_city()
    proposal = LearnedPolicy(Watched())(state, forecast_of(state, 0.5))
    assert (proposal.planner, proposal.why_this_planner) == ("learned", "")
    moves = of_kind(proposal.decisions, StaffMove)
    assert {(move.from_site_id, move.to_site_id, move.works_as) for move in moves} >= {("s3", "s0", Role.VACCINATOR)}
    for move in moves:
        facts = move.why.facts
        assert facts["expected_saving_minutes"] >= 300 * move.people
        assert 0 <= facts["alternative_saving_minutes"] <= facts["expected_saving_minutes"]
        assert (facts["alternative_site_id"] == "") == (facts["alternative_saving_minutes"] == 0)


def test_a_calm_city_is_left_as_it_is():
    state = calm_state(city_of(5))
    decisions = LearnedPolicy(Watched())(state, forecast_of(state)).decisions
    assert of_kind(decisions, StaffMove) == []
    assert of_kind(decisions, SendWalkIns) == []


def test_what_it_has_sent_it_keeps():
    state = short_city()
    forecast = forecast_of(state, 0.5)
    policy = LearnedPolicy(Watched())
    sent = tuple(of_kind(policy(state, forecast).decisions, StaffMove))
    assert sent
    again = policy(replace(state, commitments=Commitments(sent=sent)), forecast)
    assert all(move in again.decisions for move in sent)


@pytest.mark.parametrize("said", SPOILT)
@pytest.mark.parametrize("from_question", [0, 1])
def test_where_the_net_fails_the_whole_proposal_is_that_of_the_rules_and_says_so(said, from_question):
    state = short_city(walk_in_share=np.full(4, 0.5))
    forecast = forecast_of(state, 0.5)
    proposal = LearnedPolicy(Broken(SPOILT[said], from_question))(state, forecast)
    expected = RulesPolicy()(state, forecast)
    assert expected.decisions
    assert replace(proposal, why_this_planner="") == expected
    assert proposal.why_this_planner.startswith("learned failed: ")
    assert said in proposal.why_this_planner


def test_an_unknown_city_gets_an_empty_proposal():
    state, _ = random_state(5, 1, unknown_share=1.0)
    forecast = forecast_of(state, np.nan, np.nan)
    assert isinstance(forecast, ArrivalForecast)
    proposal = LearnedPolicy(Watched())(state, forecast)
    assert proposal.why_this_planner == ""
    assert of_kind(proposal.decisions, StaffMove) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_city_in_disorder_is_planned_the_same_way_twice(seed):
    state, forecast = random_state(8, seed, unknown_share=0.2)
    policy = LearnedPolicy(Watched())
    first = policy(state, forecast)
    assert first.why_this_planner == ""
    assert policy(state, forecast) == first


# --- walk-ins by price -----------------------------------------------------------------------------------------------

PRICES = np.array([[60.0, 50, 40, 30, 20, 10, 0, 0], [30.0, 26, 8, 4, 2, 0, 0, 0]])


@pytest.mark.parametrize(
    ("travel", "gain"),
    [(0.0, 55 - 28 - 0), (14.9, 55 - 28 - 14.9), (15.0, 55 - 17 - 15), (31.0, 55 - 6 - 31), (400.0, 55 - 0 - 400)],
)
def test_a_walk_in_gains_the_price_here_less_the_price_there_when_they_arrive_and_the_way(travel, gain):
    prices = ArrivalPrices(PRICES, PriceParams())
    assert prices.crowding_minutes.tolist() == [55.0, 28.0]
    assert prices.gain_minutes(0, 1, travel) == pytest.approx(gain)


def test_walk_ins_leave_the_site_where_an_arrival_is_dear():
    state = short_city(walk_in_share=np.full(4, 0.5))
    # Nobody may be moved, so that the first site stays crowded.
    state = replace(state, staff=replace(state.staff, moves_today=np.full_like(state.staff.moves_today, 9)))
    forecast = forecast_of(state, 0.5)
    (send,) = of_kind(LearnedPolicy(Watched())(state, forecast).decisions, SendWalkIns)
    assert send.from_site_id == "s0"
    facts = send.why.facts
    assert send.why.code == "arrivals_dear"
    assert facts["price_minutes"] > PriceParams().crowded_above_minutes
    assert facts["expected_saving_minutes"] >= send.people * PriceParams().least_gain_minutes
    assert 0 <= facts["alternative_saving_minutes"] <= facts["expected_saving_minutes"]


@pytest.mark.parametrize(("name", "value"), [("crowded_above_minutes", -1), ("least_gain_minutes", 1001)])
def test_prices_out_of_their_range_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}: must lie in 0..1000"):
        PriceParams(**{name: value})
