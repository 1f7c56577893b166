from dataclasses import replace

import numpy as np
import pytest

from doseflow.bench.forecast.models import MODELS, make_model
from doseflow.bench.forecast.rolling import back_test
from doseflow.bench.forecast.series_set import Part
from doseflow.errors import InputWrong
from doseflow.forecast.scores import coverage_share, weighted_quantile_loss
from doseflow.forecast.series.plain.historical_average import HistoricalAverage
from doseflow.forecast.series.plain.open_steps import filled, open_week
from doseflow.forecast.series.plain.same_phase import same_phase_ahead, same_phase_before
from doseflow.forecast.series.plain.seasonal_naive import SeasonalNaive

LIBRARIES = {
    "auto_ets": "statsforecast",
    "auto_arima": "statsforecast",
    "boosted_trees": "lightgbm",
    "mlforecast_lightgbm": "mlforecast",
    "lstm": "torch",
    "stid": "torch",
}


@pytest.fixture
def small_training(monkeypatch):
    small = {
        "lightgbm": {"boosted_trees.EXAMPLES": 4000, "boosted_trees.ROUNDS": 30},
        "mlforecast": {"mlforecast_trees.ROUNDS": 20, "mlforecast_trees.WINDOWS": 2},
        "torch": {
            "network_training.SECONDS_AT_MOST": 0.8,
            "network_training.STEPS_BETWEEN_CHECKS": 40,
            "network_training.VALIDATION_EXAMPLES": 500,
        },
    }
    for library in _installed():
        for name, value in small.get(library, {}).items():
            monkeypatch.setattr(f"doseflow.bench.forecast.peers.{name}", value)


def _installed() -> set[str]:
    from importlib.util import find_spec

    return {library for library in set(LIBRARIES.values()) if find_spec(library) is not None}


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_peer_forecasts_ordered_quantiles_and_beats_twice_the_loss_of_the_naive_one(hourly, name, small_training):
    pytest.importorskip(LIBRARIES[name])
    model = make_model(name, seed=1)
    assert not isinstance(model, str)
    test = back_test(model, hourly, Part.HELD_OUT, 6)
    naive = back_test(SeasonalNaive(), hourly, Part.HELD_OUT, 6)
    assert np.isfinite(test.quantiles).all()
    assert (test.quantiles >= 0).all()
    assert (np.diff(test.quantiles, axis=-1) >= -1e-6).all()
    loss, naive_loss = (weighted_quantile_loss(each.actual, each.quantiles) for each in (test, naive))
    assert loss < 2 * naive_loss
    assert test.notes


@pytest.mark.parametrize("name", ["auto_ets", "boosted_trees", "stid"])
def test_another_future_does_not_change_a_peers_forecast(hourly, name, small_training):
    pytest.importorskip(LIBRARIES[name])
    origin = int(hourly.origins(Part.HELD_OUT, 1)[0])
    values = hourly.table.values.copy()
    values[:, origin:] *= 7
    other = replace(hourly, table=replace(hourly.table, values=values))
    if name == "stid":  # training stops by the clock: only the input can be compared, so train once
        model = make_model(name, seed=1)
        one = back_test(model, hourly, Part.HELD_OUT, 1)
        model.fit = lambda table, horizon: None
        two = back_test(model, other, Part.HELD_OUT, 1)
    else:
        one, two = (back_test(make_model(name, seed=1), each, Part.HELD_OUT, 1) for each in (hourly, other))
    np.testing.assert_array_equal(one.quantiles, two.quantiles)


def test_the_average_beats_the_naive_forecast_of_a_steady_rhythm_and_both_cover(hourly):
    tests = {model: back_test(model(), hourly, Part.HELD_OUT, 100) for model in (SeasonalNaive, HistoricalAverage)}
    loss = {model: weighted_quantile_loss(test.actual, test.quantiles) for model, test in tests.items()}
    assert loss[HistoricalAverage] < 0.9 * loss[SeasonalNaive]
    for test in tests.values():
        covered = coverage_share(test.actual, test.quantiles[..., 0], test.quantiles[..., 4])
        assert 0.7 < covered < 0.92


def test_a_repeating_series_is_forecast_exactly_by_the_naive_model(hourly):
    values = np.tile(np.arange(24.0), (4, hourly.num_steps // 24))
    steady = replace(hourly, table=replace(hourly.table, values=values))
    test = back_test(SeasonalNaive(), steady, Part.HELD_OUT, 5)
    np.testing.assert_allclose(test.quantiles[..., 2], test.actual)


def test_the_same_phase_ahead_is_never_from_the_future():
    values = np.arange(20.0)[None, :]
    found = same_phase_ahead(values, horizon=9, lag=4, count=2)
    steps = 20 + np.arange(9)
    assert (found[0, 0] < 20).all()
    assert ((steps - found[0, 0]) % 4 == 0).all()
    np.testing.assert_array_equal(found[0, 0] - found[1, 0], 4)
    before = same_phase_before(values, 4, 2)
    assert np.isnan(before[0, 0, :4]).all()
    np.testing.assert_array_equal(before[0, 0, 4:], values[0, :-4])


def test_nights_are_left_out_of_the_open_steps(hourly):
    week = open_week(hourly.table)
    assert (week.week_steps, week.season_steps) == (7 * 19, 19)
    ahead, of_week = week.ahead(hourly.table, 12)
    assert ahead.tolist() == [5, 6, 7, 8, 9, 10, 11], "the table ends at midnight and opens at five"
    assert (of_week == ahead).all(), "it ends with a week"
    assert hourly.table.values[:, week.open_before(hourly.table)].shape == (4, 42 * 19)


def test_gaps_are_filled_from_the_season_before():
    values = np.array([[1.0, 2.0, np.nan, 4.0, np.nan, np.nan], [np.nan, 1.0, 5.0, np.nan, 6.0, 7.0]])
    np.testing.assert_array_equal(filled(values, 2), [[1, 2, 1, 4, 1, 4], [0, 1, 5, 1, 6, 7]])


def test_a_missing_library_costs_its_model_alone_and_an_unknown_name_is_refused(monkeypatch):
    def missing(seed):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr("doseflow.bench.forecast.models.MODELS", {**MODELS, "stid": missing})
    assert make_model("stid", 1) == "stid: not run, the package torch is not installed"
    with pytest.raises(InputWrong, match="--model: must be one of"):
        make_model("oracle", 1)
