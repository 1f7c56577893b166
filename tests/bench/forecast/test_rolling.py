from dataclasses import replace

import numpy as np
import pytest

from doseflow.bench.forecast.rolling import back_test
from doseflow.bench.forecast.series_set import Part, history_before, latest, with_reports_missing
from doseflow.forecast.series.plain.historical_average import HistoricalAverage
from doseflow.forecast.series.plain.seasonal_naive import SeasonalNaive


class Spy:
    """Remembers what it was handed, and asks for the memory behind it."""

    name, notes = "spy", ""

    def __init__(self):
        self.fitted = None
        self.seen = []

    def fit(self, table, horizon):
        self.fitted = table

    def forecast(self, table, horizon):
        self.seen.append(table)
        return np.zeros((len(table.series_ids), horizon, 5))


@pytest.mark.parametrize("part", list(Part))
def test_a_model_is_handed_the_steps_before_the_origin_and_no_others(hourly, part):
    spy = Spy()
    test = back_test(spy, hourly, part, 100)
    first, end = hourly.bounds(part)
    assert spy.fitted.values.shape[1] == first
    assert len(test.origins) == len(spy.seen) > 10
    for origin, table in zip(test.origins, spy.seen, strict=True):
        assert first <= origin <= end - hourly.horizons[-1]
        np.testing.assert_array_equal(table.values, hourly.table.values[:, :origin])
        assert table.values.base is None, "a view of the whole table would reach the future"


@pytest.mark.parametrize("model", [SeasonalNaive, HistoricalAverage])
def test_another_future_does_not_change_a_forecast(hourly, model):
    """Shuffling what comes at or after the only origin leaves the forecast as it was."""
    at_most = 1
    origin = int(hourly.origins(Part.HELD_OUT, at_most)[0])
    shuffled = hourly.table.values.copy()
    shuffled[:, origin:] = np.random.default_rng(1).permuted(shuffled[:, origin:], axis=1) * 3
    other = replace(hourly, table=replace(hourly.table, values=shuffled))
    assert int(other.origins(Part.HELD_OUT, at_most)[0]) == origin
    ours = back_test(model(), hourly, Part.HELD_OUT, at_most)
    theirs = back_test(model(), other, Part.HELD_OUT, at_most)
    np.testing.assert_array_equal(ours.quantiles, theirs.quantiles)
    assert not np.array_equal(ours.actual, theirs.actual, equal_nan=True)


def test_what_a_model_is_scored_on_is_what_came(hourly):
    test = back_test(Spy(), hourly, Part.HELD_OUT, 5)
    for row, origin in enumerate(test.origins):
        np.testing.assert_array_equal(test.actual[row], hourly.table.values[:, origin : origin + 6])


def test_missing_reports_are_hidden_from_the_model_and_still_scored(hourly):
    spy = Spy()
    test = back_test(spy, hourly, Part.HELD_OUT, 5, missing_share=0.3, seed=2)
    known = np.isfinite(hourly.table.values[:, : test.origins[-1]])
    hidden = np.isnan(spy.seen[-1].values) & known
    assert hidden.sum() / known.sum() == pytest.approx(0.3, abs=0.03)
    np.testing.assert_array_equal(test.actual, hourly.actual(test.origins))


def test_a_forecast_that_is_left_out_counts_as_zero(hourly):
    class Silent(Spy):
        def forecast(self, table, horizon):
            return np.full((len(table.series_ids), horizon, 5), np.nan)

    assert (back_test(Silent(), hourly, Part.HELD_OUT, 2).quantiles == 0).all()


def test_a_forecast_of_the_wrong_shape_is_refused(hourly):
    class Short(Spy):
        def forecast(self, table, horizon):
            return np.zeros((1, horizon, 5))

    with pytest.raises(ValueError, match="expected a forecast of"):
        back_test(Short(), hourly, Part.HELD_OUT, 2)


def test_origins_are_at_the_asked_times_and_spread_over_the_part(hourly):
    every = hourly.origins(Part.HELD_OUT, 1000)
    assert set(every % 24) == {8, 12, 16}
    few = hourly.origins(Part.HELD_OUT, 4)
    assert few[0] == every[0]
    assert few[-1] == every[-1]
    assert len(few) == 4


def test_the_latest_steps_keep_their_clock(hourly):
    short = latest(history_before(hourly.table, 100), 24)
    assert short.values.shape[1] == 24
    assert (short.starts_at - hourly.table.starts_at).total_seconds() == 76 * 3600


def test_the_same_seed_loses_the_same_reports(hourly):
    one, two = (with_reports_missing(hourly.table, 0.3, 5).values for _ in range(2))
    np.testing.assert_array_equal(one, two)
