"""The exchange against all exchanges there are, in cities so small that they can be tried."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rules_city import calm_staff, calm_state, city_of, forecast_of, staff_table

from doseflow.domain.limits import OperatingLimits
from doseflow.domain.roles import ROLE_TO_IDX, Role
from doseflow.policy.exchange import ExchangeParams, exchange_moves, least_people
from doseflow.policy.fluid_line import FluidLine
from doseflow.policy.index_exchange import IndexParams, index_moves
from doseflow.policy.look_ahead import LookAheadParams, look_ahead
from doseflow.policy.person_values import PersonValues
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.situation import survey
from doseflow.policy.time_ahead import share_after

VACCINATOR_IDX = ROLE_TO_IDX[Role.VACCINATOR]
LIMITS = OperatingLimits(max_moved_share=1.0, max_station_changes=12)


class ConcaveWorth:
    """Made-up worth of 0, 1, 2 ... vaccinators at each site, growing ever more slowly."""

    def __init__(self, present, steps):
        self.present = list(present)
        self.totals = [np.concatenate([[0.0], np.cumsum(sorted(one, reverse=True))]) for one in steps]
        self.may_gain = np.ones(len(present), dtype=bool)

    def _step(self, site, first):
        after = np.zeros(4)
        if 0 <= first < len(self.totals[site]) - 1:
            after[VACCINATOR_IDX] = self.totals[site][first + 1] - self.totals[site][first]
        return after

    def gain(self, to_idx, travel_minutes):
        return np.array([self._step(site, self.present[site]) for site in to_idx])

    def loss(self, from_idx):
        others = np.array([1e9, 1e9, 0.0, 1e9])
        return np.array([self._step(site, self.present[site] - 1) + others for site in from_idx])

    def move(self, from_idx, to_idx, role_idx, works_as_idx, travel_minutes, people=1):
        self.present[from_idx] -= people
        self.present[to_idx] += people

    def total(self, present):
        return sum(float(values[people]) for values, people in zip(self.totals, present, strict=True))


def _situation(vaccinators, per_minute=0.4, **given):
    num = len(vaccinators)
    staff = staff_table(calm_staff(num, {(site, Role.VACCINATOR): people for site, people in enumerate(vaccinators)}))
    state = calm_state(city_of(num, limits=LIMITS), staff=staff, **given)
    return survey(state, forecast_of(state, per_minute), NeedParams())


@given(
    present=st.lists(st.integers(1, 4), min_size=3, max_size=3),
    steps=st.lists(st.lists(st.integers(0, 50), min_size=12, max_size=12), min_size=3, max_size=3),
)
@settings(max_examples=40)
def test_where_worth_grows_ever_more_slowly_the_exchange_is_the_best_of_all(present, steps):
    worth = ConcaveWorth(present, steps)
    open_now = np.array([[2.0, 2.0, people, 2.0] for people in present])
    situation = _situation(present, stations_open=open_now)
    exchange_moves(situation, worth, ExchangeParams(least_net=0.5), kept_people=least_people(situation))
    ways = product(range(1, sum(present) + 1), repeat=3)
    best = max(worth.total(way) for way in ways if sum(way) == sum(present))
    assert worth.total(worth.present) == pytest.approx(best)


def _waiting(situation, params, moved):
    """Waiting in the whole city once so many vaccinators have been moved, `moved` being (from, to) pairs."""
    ahead = look_ahead(situation, params)
    people = ahead.people.copy()
    travel = situation.state.city.travel_by_pair
    for from_idx, to_idx in moved:
        lags = params.departure_minutes + np.array([0.0, travel[from_idx, to_idx]])
        leaving, arriving = share_after(lags).T
        people[:, VACCINATOR_IDX, from_idx] -= leaving
        people[:, VACCINATOR_IDX, to_idx] += arriving
    return float(FluidLine(ahead, np.arange(people.shape[2]), people).waiting_minutes.sum())


@given(
    vaccinators=st.lists(st.integers(2, 6), min_size=3, max_size=3),
    queues=st.lists(st.integers(0, 60), min_size=3, max_size=3),
    rates=st.lists(st.sampled_from([0.2, 0.6, 1.0]), min_size=3, max_size=3),
)
@settings(max_examples=25, deadline=None)
def test_the_index_comes_close_to_the_best_of_all_exchanges_and_never_does_harm(vaccinators, queues, rates):
    waiting = np.zeros((3, 4))
    waiting[:, VACCINATOR_IDX] = queues
    open_now = np.array([[2.0, 2.0, people, 2.0] for people in vaccinators])
    situation = _situation(vaccinators, np.array(rates), waiting_people=waiting, stations_open=open_now)
    # A wide spread of cases makes a person's worth smooth, and with it a greedy exchange nearly exact.
    ahead_params = LookAheadParams(level_error_share=0.35)
    params = IndexParams(look_ahead=ahead_params, least_gain_minutes=1.0, worst_wait_first=False)
    moves = [one for one in index_moves(situation, params) if one.role is Role.VACCINATOR]
    sites = situation.state.city.site_to_idx
    made = [(sites[one.from_site_id], sites[one.to_site_id]) for one in moves for _ in range(one.people)]
    ahead = params.look_ahead
    stays, with_moves = _waiting(situation, ahead, []), _waiting(situation, ahead, made)
    trips = [(a, b) for a in range(3) for b in range(3) if a != b]
    best = stays
    for counts in product(range(4), repeat=len(trips)):
        gone = [sum(n for n, (a, _) in zip(counts, trips, strict=True) if a == site) for site in range(3)]
        if sum(counts) <= 3 and all(gone[site] < vaccinators[site] for site in range(3)):
            moved = [trip for n, trip in zip(counts, trips, strict=True) for _ in range(n)]
            best = min(best, _waiting(situation, ahead, moved))
    assert with_moves <= stays + 1e-3
    assert stays - with_moves >= 0.9 * (stays - best) - 10.0


def test_a_person_later_there_saves_less():
    waiting = np.zeros((2, 4))
    waiting[0, 2] = 40.0
    state = calm_state(city_of(2), waiting_people=waiting)
    values = PersonValues(survey(state, forecast_of(state, 1.0), NeedParams()), LookAheadParams())
    gain = values.gain(np.zeros(7, dtype=int), np.linspace(0, 60, 7))[:, VACCINATOR_IDX]
    assert (np.diff(gain) < 0).all()


def test_what_is_counted_as_sent_is_worth_less_a_second_time():
    waiting = np.zeros((2, 4))
    waiting[0, 2] = 40.0
    state = calm_state(city_of(2), waiting_people=waiting)
    values = PersonValues(survey(state, forecast_of(state, 1.0), NeedParams()), LookAheadParams())
    there, travel = np.array([0]), np.array([10.0])
    first, loss = values.gain(there, travel)[0, 2], values.loss(np.array([1]))[0, 2]
    values.move(1, 0, VACCINATOR_IDX, VACCINATOR_IDX, 10.0)
    assert values.gain(there, travel)[0, 2] < first
    assert values.loss(np.array([1]))[0, 2] > loss


# --- what a move says of itself --------------------------------------------------------------------------------------


def _moves_of(steps, vaccinators, least_net=100.0, **given):
    situation = _situation(vaccinators, **given)
    params = ExchangeParams(least_net=least_net, is_in_minutes=True)
    kept = np.zeros((len(vaccinators), 4))
    return exchange_moves(situation, ConcaveWorth(vaccinators, steps), params, kept_people=kept)


def _said(move):
    facts = move.why.facts
    return [facts[name] for name in ("expected_saving_minutes", "alternative_saving_minutes", "alternative_site_id")]


def test_a_move_says_what_it_saves_and_what_the_best_other_giver_would():
    # The first site wants one; the second loses 5 by the last of its three, the third 20 and the fourth 40.
    steps = [[500.0, 1.0], [50.0, 50.0, 5.0], [50.0, 50.0, 20.0], [50.0, 50.0, 40.0]]
    (move,) = _moves_of(steps, [0, 3, 3, 3])
    assert (move.from_site_id, move.to_site_id, move.people) == ("s1", "s0", 1)
    assert _said(move) == [495.0, 480.0, "s2"]


def test_where_the_others_would_lose_more_than_is_gained_the_alternative_is_doing_nothing():
    steps = [[500.0, 1.0], [50.0, 50.0, 5.0], [700.0, 700.0, 600.0]]
    (move,) = _moves_of(steps, [0, 3, 3])
    assert _said(move) == [495.0, 0.0, ""]


def test_people_sent_together_say_what_they_save_together():
    steps = [[500.0, 300.0, 1.0], [50.0, 20.0, 10.0, 10.0], [90.0, 80.0, 80.0, 70.0]]
    (move,) = _moves_of(steps, [0, 4, 4])
    assert (move.from_site_id, move.people) == ("s1", 2)
    assert _said(move) == [490.0 + 290.0, 430.0 + 230.0, "s2"]


def test_worth_that_is_not_in_minutes_is_not_said():
    situation = _situation([0, 3])
    params = ExchangeParams(least_net=100.0)
    worth = ConcaveWorth([0, 3], [[500.0, 1.0], [50.0, 50.0, 5.0]])
    (move,) = exchange_moves(situation, worth, params, kept_people=np.zeros((2, 4)))
    assert "alternative_saving_minutes" not in move.why.facts
