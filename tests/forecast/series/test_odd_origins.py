"""A day on which nobody was right does not choose the members of the blend."""

import numpy as np
import pytest
from series_samples import MONDAY, counts_of, mean_of

from doseflow.domain.series_table import SeriesTable
from doseflow.forecast.series.forecaster import BACK_TESTS, MOST_BACK_TESTS, SeriesForecaster, _origins
from doseflow.forecast.series.odd_origins import odd_origins
from doseflow.forecast.series.params import SeriesForecastParams
from doseflow.forecast.series.plain.historical_average import HistoricalAverage

ORIGINS, STEPS = 4, 24
QUICK = SeriesForecastParams(rows_per_fit=500, max_fits=2, tree_examples=500)


def told_at(level, num_series=1):
    """Two members that tell ten less and ten more than a level, (M, S, O, N, Q)."""
    flat = np.full((num_series, ORIGINS, STEPS, 5), level)
    return np.stack([flat - 10, flat + 10])


def test_the_origin_with_over_twice_the_usual_loss_is_odd_and_no_other():
    # All quantiles are 100: the loss of a value is half its distance, so 110 costs 5 and 130 costs 15.
    came = np.full((1, ORIGINS, STEPS), 110.0)
    came[:, 1] = 90.0
    came[:, 2] = 130.0
    assert odd_origins(told_at(100.0), came).tolist() == [False, False, True, False]


@pytest.mark.parametrize(("away", "is_odd"), [(19.0, False), (30.0, True)])
def test_twice_the_loss_for_what_came_is_the_bound(away, is_odd):
    # 10 / 110 is usual; 19 / 119 is under twice that, 30 / 130 over it.
    came = np.full((1, ORIGINS, STEPS), 110.0)
    came[:, 0] = 100.0 + away
    assert bool(odd_origins(told_at(100.0), came)[0]) is is_odd


def test_a_larger_day_that_is_missed_by_the_same_share_is_not_odd():
    came = np.full((1, ORIGINS, STEPS), 110.0)
    told = told_at(100.0)
    came[:, 3] *= 8
    told[:, :, 3] *= 8
    assert not odd_origins(told, came).any()


def test_a_closed_day_is_odd_where_people_were_told_and_not_where_nobody_was():
    came = np.full((1, ORIGINS, STEPS), 110.0)
    came[:, :2] = 0.0
    told = told_at(100.0)
    told[:, :, 1] = 0.0
    assert odd_origins(told, came).tolist() == [True, False, False, False]


def test_unknown_values_are_not_odd():
    came = np.full((2, ORIGINS, STEPS), 110.0)
    came[0, 0] = came[:, 1] = np.nan
    told = told_at(100.0, 2)
    assert not odd_origins(told, came).any()
    assert not odd_origins(told, np.full_like(came, np.nan)).any()


class AlmostRight(HistoricalAverage):
    """A member that tells what it was given for each length of history."""

    def __init__(self, told):
        super().__init__()
        self._told = told

    def forecast(self, table, horizon):
        return self._told[table.num_steps]


def weight_of_the_better_member(with_holiday):
    """
    The weight of a member that is right but on the last day before the forecast.

    The ridge forecast, which sees no more than the history, stands beside it. On a holiday, when a tenth comes, the
    member tells eight times what is usual: the ridge is the better one there alone.
    """
    mean = 10 * mean_of(1, 24 * 42)
    values = counts_of(mean)
    if with_holiday:
        values[:, -24:] = np.round(0.1 * mean[:, -24:])
    table = SeriesTable(("a",), MONDAY, 60, values)
    forecaster = SeriesForecaster(QUICK)
    told = {}
    for origin in [*_origins(table, 24), table.num_steps]:
        ahead = mean[:, origin : origin + 24] if origin < table.num_steps else mean[:, -24:]
        usual = 8.0 if with_holiday and origin == table.num_steps - 24 else 1.0
        told[origin] = usual * ahead[..., None] * np.array([0.75, 0.87, 1.0, 1.12, 1.26])
    forecaster._sized = lambda of: of
    forecaster._asked = lambda others, of, horizon: [one.forecast(of, horizon) for one in others]
    forecaster._made = lambda _fits: [AlmostRight(told)]
    forecaster.fit(table, 24)
    return forecaster.weights["historical_average"]


def test_a_holiday_at_the_end_of_the_history_takes_no_weight_from_the_member_that_is_right_on_other_days():
    usual = weight_of_the_better_member(with_holiday=False)
    assert usual > 0.5
    assert weight_of_the_better_member(with_holiday=True) > 0.8 * usual


def test_one_series_is_tried_on_more_origins_than_many():
    one, many = (SeriesTable(tuple("abcdefghijkl"[:n]), MONDAY, 60, mean_of(12, 24 * 42)[:n]) for n in (1, 12))
    assert len(_origins(one, 24)) == MOST_BACK_TESTS
    assert len(_origins(many, 24)) == BACK_TESTS
    # A day apart, and all at the hour at which the forecast starts.
    assert set(np.diff(_origins(one, 24))) == {24}
