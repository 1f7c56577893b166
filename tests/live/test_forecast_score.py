from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy.stats import poisson

from doseflow.domain.forecast import HORIZON_PERIODS, QUANTILE_LEVELS, ArrivalForecast
from doseflow.domain.recent_periods import RECENT_PERIODS, RecentPeriods
from doseflow.live.forecast_score import LEADS_MINUTES, ForecastScore, score_period
from doseflow.simulate.city_choice import city_from_name
from doseflow.state.unknown import unknown_state

START = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
NUM_SITES = 3


@pytest.fixture(scope="module")
def empty_state():
    return unknown_state(city_from_name(f"synthetic:{NUM_SITES}"), START)


def at(state, arrivals, period):
    """The state at the beginning of a period; arrivals are (S, periods from the start)."""
    recent = np.full((NUM_SITES, RECENT_PERIODS), np.nan)
    known = arrivals[:, max(0, period - RECENT_PERIODS) : period]
    if known.shape[1]:
        recent[:, -known.shape[1] :] = known
    as_of = START + timedelta(minutes=5 * period)
    return replace(state, as_of=as_of, recent=replace(RecentPeriods.unknown(NUM_SITES), arrivals_people=recent))


def forecast_of(quantiles, as_of):
    doses = np.zeros((NUM_SITES, len(QUANTILE_LEVELS)))
    return ArrivalForecast(as_of, "test", quantiles, doses, np.zeros(NUM_SITES, dtype=np.int64))


def test_each_lead_scores_the_very_period_that_the_forecast_made_then_spoke_of(empty_state):
    # Forecast and arrivals both carry the number of the period they speak of, so that any other pairing has a loss.
    num_periods = 40
    arrivals = np.tile(np.arange(num_periods, dtype=float), (NUM_SITES, 1))
    score = ForecastScore()
    for now in range(num_periods):
        state = at(empty_state, arrivals, now)
        spoken_of = now + np.arange(HORIZON_PERIODS, dtype=float)
        quantiles = spoken_of[None, :, None] + np.array([-1, -0.5, 0, 0.5, 1])[None, None, :]
        found = score.look(state, forecast_of(np.tile(quantiles, (NUM_SITES, 1, 1)), state.as_of))
        # The settled period is two back; of it half an hour before its end the sixth period of a forecast spoke.
        assert set(found) == {lead for lead in LEADS_MINUTES if now - 2 >= lead // 5 - 1}
        for each in found.values():
            assert (each.num_scored, each.covered) == (NUM_SITES, NUM_SITES)
            assert each.pinball_people == pytest.approx(np.mean([0.1, 0.125, 0, 0.125, 0.1]))


def test_a_true_forecast_covers_what_theory_says_and_a_stale_one_less(empty_state):
    rng = np.random.default_rng(7)
    mean, actual = 20.0, rng.poisson(20.0, size=4000).astype(float)
    true = np.tile(poisson.ppf(QUANTILE_LEVELS, mean), (len(actual), 1))
    expected = poisson.cdf(true[0, -1], mean) - poisson.cdf(true[0, 0] - 1, mean)
    good = score_period(actual, true)
    assert good.coverage_share == pytest.approx(expected, abs=0.02)
    stale = score_period(actual, np.tile(poisson.ppf(QUANTILE_LEVELS, 12.0), (len(actual), 1)))
    assert stale.coverage_share < 0.5
    assert stale.loss_over_width > 2 * good.loss_over_width


def test_what_is_unknown_or_has_nothing_to_foresee_is_not_scored():
    quantiles = np.array([[0, 0, 0, 0, 0], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [np.nan] * 5], dtype=float)
    found = score_period(np.array([0.0, np.nan, 2.0, 1.0]), quantiles)
    assert (found.num_scored, found.covered, found.arrivals_people) == (1, 1, 2)


def test_two_cycles_of_one_period_score_it_once(empty_state):
    arrivals = np.ones((NUM_SITES, 36))
    score = ForecastScore()
    quantiles = np.tile(np.arange(5.0), (NUM_SITES, HORIZON_PERIODS, 1))
    for now in range(36):
        state = at(empty_state, arrivals, now)
        score.look(state, forecast_of(quantiles, state.as_of))
    assert score.look(state, forecast_of(quantiles, state.as_of)) == {}
    assert score.window(30).num_scored == NUM_SITES * 24
