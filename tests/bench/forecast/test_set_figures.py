import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import poisson

from doseflow.bench.figures import write_figures
from doseflow.bench.forecast.origin_bootstrap import OriginSums, block_counts, block_length, interval95
from doseflow.bench.forecast.origin_scores import loss_by_series, origin_scores, span_sums
from doseflow.bench.forecast.rolling import BackTest, back_test
from doseflow.bench.forecast.run import ForecastTrial, Progress, SetResult, headline, play_set, worst_series
from doseflow.bench.forecast.series_set import Part
from doseflow.bench.forecast.set_figures import loss_growth_figure, set_figures
from doseflow.bench.forecast.table import print_set
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.forecast.scores import coverage_share, crps_of_quantiles, weighted_quantile_loss
from doseflow.forecast.series.plain.historical_average import HistoricalAverage
from doseflow.forecast.series.plain.seasonal_naive import SeasonalNaive


def _random_test(model: str, seed: int = 0, origins: int = 8) -> BackTest:
    rng = np.random.default_rng(seed)
    actual = rng.poisson(10, (origins, 4, 6)).astype(float)
    actual[0, 1, 2] = np.nan
    quantiles = np.sort(rng.poisson(10, (origins, 4, 6, 5)).astype(float), axis=-1)
    return BackTest(model, "", np.arange(origins) * 6, quantiles, actual, 1.0)


def test_sums_by_origin_give_the_scores_of_the_whole():
    test = _random_test("x")
    scores = origin_scores(test, 6, np.ones(4))
    assert scores["weighted_quantile_loss"].score == pytest.approx(weighted_quantile_loss(test.actual, test.quantiles))
    coverage = coverage_share(test.actual, test.quantiles[..., 0], test.quantiles[..., 4])
    assert scores["coverage80_share"].score == pytest.approx(coverage)
    assert scores["crps"].score == pytest.approx(np.nanmean(crps_of_quantiles(test.actual, test.quantiles)))
    assert scores["mase"].score == pytest.approx(np.nanmean(np.abs(test.actual - test.quantiles[..., 2])))
    by_level = [scores[f"quantile_loss_{level:g}"].score for level in QUANTILE_LEVELS]
    assert np.mean(by_level) == pytest.approx(scores["weighted_quantile_loss"].score)


def test_only_the_steps_of_the_horizon_are_scored():
    test = _random_test("x")
    spoilt = replace(test, quantiles=np.concatenate([test.quantiles[:, :, :3], test.quantiles[:, :, 3:] + 99], axis=2))
    one, two = (origin_scores(each, 3, np.ones(4))["weighted_quantile_loss"].score for each in (test, spoilt))
    assert one == two


def test_spans_are_added_up_and_one_with_a_gap_is_left_out():
    test = _random_test("x")
    sums = span_sums(test, 3)
    actual = test.actual.reshape(8, 4, 2, 3).sum(-1)
    median = test.quantiles[..., 2].reshape(8, 4, 2, 3).sum(-1)
    assert np.isnan(actual).sum() == 1
    assert sums.score == pytest.approx(np.nansum(np.abs(actual - median)) / np.nansum(actual))


def test_the_worst_series_is_the_one_forecast_worst(hourly):
    test = back_test(SeasonalNaive(), hourly, Part.HELD_OUT, 6)
    test.quantiles[:, 2] += 1000
    assert worst_series(hourly, test)[0][0] == "c"
    assert np.nanargmax(loss_by_series(test, 6)) == 2


def test_blocks_wrap_round_and_every_resample_holds_whole_blocks():
    counts = block_counts(12, 4, seed=1, resamples=500)
    assert (counts.sum(axis=1) == 12).all()
    assert np.allclose(counts.mean(axis=0), 1.0, atol=0.2)
    single = block_counts(12, 12, seed=1, resamples=20)
    assert (single == 1).all()


def test_a_block_holds_the_origins_that_share_steps():
    assert block_length(np.arange(0, 100, 2), 14) == 7
    assert block_length(np.arange(0, 1000, 50), 24) == 1
    assert block_length(np.arange(0, 8), 14) == 2, "at most a third of all"


def test_the_interval_of_independent_origins_is_that_of_the_normal_approximation():
    rng = np.random.default_rng(8)
    sums = OriginSums(rng.normal(10, 2, 200), np.ones(200))
    low, high = interval95(sums.draws(block_counts(200, 1, seed=3)), 200)
    half = 1.96 * sums.numerator.std() / np.sqrt(200)
    assert high - low == pytest.approx(2 * half, rel=0.1)
    assert low < sums.score < high
    assert interval95(np.array([1.0, np.nan]), 200) is None
    assert interval95(np.array([1.0, 2.0]), 3) is None


def test_a_model_is_measured_against_the_best_of_the_others(hourly):
    tests = [back_test(model(), hourly, Part.HELD_OUT, 9) for model in (SeasonalNaive, HistoricalAverage)]
    ours = replace(tests[1], model="doseflow")
    figures = set_figures(hourly, Part.HELD_OUT, [ours, *tests], seed=1)
    gain = {
        figure.params["model"]: figure
        for figure in figures
        if figure.name == "wql_against_best_peer_share" and figure.params["horizon_steps"] == 6
    }
    assert gain["doseflow"].params["best_peer"] == "historical_average"
    assert gain["doseflow"].value == pytest.approx(0)
    assert gain["doseflow"].ci95 == pytest.approx((0, 0), abs=1e-12), "a pair shares the luck of its origins"
    assert gain["doseflow"].target == 0.05
    assert gain["historical_average"].params["best_peer"] == "seasonal_naive", "ours is no peer of the peers"
    assert gain["historical_average"].value > 0


def test_the_knower_of_the_rates_meets_the_noise_floor(hourly):
    """Quantiles of the true rates come to within a few per cent of the floor, and so meet the target."""
    hours = np.arange(hourly.num_steps)
    rate = np.array([3.0, 8.0, 20.0, 50.0])[:, None] * (1.2 + np.sin(2 * np.pi * hours / 24))
    naive = back_test(SeasonalNaive(), hourly, Part.HELD_OUT, 100)
    ahead = naive.origins[:, None] + np.arange(6)
    known = np.moveaxis(rate[:, ahead], 0, 1)
    quantiles = np.moveaxis(poisson.ppf(np.array(QUANTILE_LEVELS)[:, None, None, None], known), 0, -1)
    knower = replace(naive, model="doseflow", quantiles=quantiles)
    figures = set_figures(hourly, Part.HELD_OUT, [naive, knower], seed=1)
    floor = headline(figures, "poisson_floor_weighted_quantile_loss", None, 6)
    loss = headline(figures, "weighted_quantile_loss", "doseflow", 6)
    assert loss.value == pytest.approx(floor.value, rel=0.1)
    assert headline(figures, "wql_against_best_peer_share", "doseflow", 6).met


@pytest.mark.parametrize(("tenths_inside", "met"), [(8, True), (7, False), (10, False)])
def test_coverage_is_met_from_77_to_83_per_cent(hourly, tenths_inside, met):
    naive = back_test(SeasonalNaive(), hourly, Part.HELD_OUT, 100)
    cells = np.arange(naive.actual.size).reshape(naive.actual.shape)
    low = np.where(cells % 10 < tenths_inside, 0.0, 1e6)
    quantiles = np.stack([low, low, *[np.full(low.shape, 1e6)] * 3], axis=-1)
    figures = set_figures(hourly, Part.HELD_OUT, [replace(naive, quantiles=quantiles)], seed=1)
    coverage = headline(figures, "coverage80_share", "seasonal_naive", 6)
    assert coverage.value == pytest.approx(tenths_inside / 10, abs=0.02)
    assert coverage.met is met


def test_loss_that_grows_by_a_fifth_misses_the_target(hourly):
    whole = _random_test("doseflow")
    loss = weighted_quantile_loss(whole.actual, whole.quantiles)
    far = replace(whole, quantiles=whole.actual[..., None] + 1.2 * (whole.quantiles - whole.actual[..., None]))
    far = replace(far, quantiles=np.nan_to_num(far.quantiles))
    figure = loss_growth_figure(hourly, Part.HELD_OUT, whole, far, 0.3, seed=1)
    assert loss > 0
    assert figure.value == pytest.approx(0.2)
    assert figure.params["missing_share"] == 0.3
    assert figure.met is False


def test_a_set_is_played_and_printed_end_to_end(hourly, tmp_path, monkeypatch):
    monkeypatch.setattr("doseflow.bench.forecast.run.ORIGINS", {"tiny": 9})
    trial = ForecastTrial(None, model_names=("seasonal_naive", "historical_average"))
    result = play_set(trial, hourly, Progress())
    assert isinstance(result, SetResult)
    console = Console(record=True, width=60, file=(tmp_path / "out.txt").open("w"))
    print_set(result, console)
    shown = console.export_text()
    assert "historical_average" in shown
    assert "Poisson noise floor" in shown
    assert "worst of seasonal_naive" in shown
    write_figures(tmp_path / "f.json", result.figures)
    figures = json.loads((tmp_path / "f.json").read_text())["figures"]
    names = {figure["name"] for figure in figures}
    assert {"weighted_quantile_loss", "mase", "coverage80_share", "crps", "wape_of_sums_share"} <= names
    assert {"poisson_floor_weighted_quantile_loss", "wql_against_best_peer_share"} <= names
    for figure in figures:
        if figure["name"] == "weighted_quantile_loss":
            assert figure["ci95"][0] <= figure["value"] <= figure["ci95"][1]
            assert {"model", "series", "horizon_steps"} <= set(figure["params"])
