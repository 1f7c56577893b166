"""The back tests of one set as figures: every model's scores, the noise floor, and each against the best peer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from doseflow.bench.figures import Figure
from doseflow.bench.forecast.origin_bootstrap import OriginSums, block_counts, block_length, interval95
from doseflow.bench.forecast.origin_scores import floor_sums, origin_scores, span_sums
from doseflow.bench.forecast.rolling import BackTest
from doseflow.bench.forecast.series_set import MINUTES_OF_DAY, Part, SeriesSet
from doseflow.domain.city import FloatArray
from doseflow.forecast.poisson_floor import smoothed_rate
from doseflow.forecast.scores import seasonal_scale

OURS = "doseflow"
COVERAGE80, COVERAGE80_ALLOWED = 0.8, (0.77, 0.83)
GAIN_TARGET = 0.05
FLOOR_MARGIN = 0.05
"""A loss so little over the noise floor is as good as any gain over a peer."""
LOSS_GROWTH_TARGET = 0.15
UNITS = {"crps": "people", "mase": "1", "weighted_quantile_loss": "1"}


def set_figures(of: SeriesSet, part: Part, tests: Sequence[BackTest], seed: int) -> list[Figure]:
    """All figures of a set; the best peer is chosen at each horizon, and is the reference of every other model."""
    scale = seasonal_scale(of.table.values[:, : of.bounds(part)[0]], of.season_steps)
    origins = tests[0].origins
    rate = _rates(of, tests[0])
    figures: list[Figure] = []
    for horizon in of.horizons:
        counts = block_counts(len(origins), block_length(origins, horizon), seed)
        floor = floor_sums(rate[:, :, :horizon], tests[0].actual[:, :, :horizon])
        scores = {test.model: origin_scores(test, horizon, scale) for test in tests}
        params = {"series": of.name, "horizon_steps": horizon, "part": str(part), "source": of.source}
        frame = _Frame(params, counts, len(origins), seed)
        if of.counts:
            figures.append(frame.figure("poisson_floor_weighted_quantile_loss", floor, {}, unit="1"))
        for test in tests:
            figures += _model_figures(frame, test, scores[test.model])
        figures += _against_best_peer(frame, scores, floor.score if of.counts else float("nan"))
    for test in tests:
        figures += _span_figures(of, part, test, seed)
    return figures


def loss_growth_figure(
    of: SeriesSet, part: Part, whole: BackTest, thinned: BackTest, missing_share: float, seed: int
) -> Figure:
    """By how much the loss at the longest horizon grows when reports are missing."""
    horizon = of.horizons[-1]
    scale = np.ones(len(of.table.series_ids))
    loss = [origin_scores(test, horizon, scale)["weighted_quantile_loss"] for test in (whole, thinned)]
    counts = block_counts(len(whole.origins), block_length(whole.origins, horizon), seed)
    value = loss[1].score / loss[0].score - 1
    return Figure(
        "loss_growth_share",
        value,
        "share",
        {
            "model": whole.model,
            "series": of.name,
            "horizon_steps": horizon,
            "part": str(part),
            "missing_share": missing_share,
        },
        n=len(whole.origins),
        seed=seed,
        ci95=interval95(loss[1].draws(counts) / loss[0].draws(counts) - 1, len(whole.origins)),
        target=LOSS_GROWTH_TARGET,
        met=value <= LOSS_GROWTH_TARGET,
    )


class _Frame:
    """What the figures of one set and horizon have in common."""

    def __init__(self, params: dict[str, Any], counts: FloatArray, num_origins: int, seed: int) -> None:
        self.params, self.counts, self.num_origins, self.seed = params, counts, num_origins, seed

    def figure(self, name: str, sums: OriginSums, more: dict[str, Any], *, unit: str, notes: str = "") -> Figure:
        value, target, met = sums.score, None, None
        if name == "coverage80_share":
            target, met = COVERAGE80, COVERAGE80_ALLOWED[0] <= value <= COVERAGE80_ALLOWED[1]
        ci95 = interval95(sums.draws(self.counts), self.num_origins)
        return Figure(name, value, unit, more | self.params, self.num_origins, self.seed, ci95, target, met, notes)


def _model_figures(frame: _Frame, test: BackTest, scores: dict[str, OriginSums]) -> Iterator[Figure]:
    for name, sums in scores.items():
        yield frame.figure(name, sums, {"model": test.model}, unit=UNITS.get(name, "share"), notes=test.notes)


def _against_best_peer(frame: _Frame, scores: dict[str, dict[str, OriginSums]], floor: float) -> Iterator[Figure]:
    """How much lower each model's loss is than that of the best of the other peers; ours has the target."""
    losses = {model: of_model["weighted_quantile_loss"] for model, of_model in scores.items()}
    for model, loss in losses.items():
        peers = {name: sums for name, sums in losses.items() if name not in (model, OURS)}
        if not peers:
            continue
        best = min(peers, key=lambda name: peers[name].score)
        value = 1 - loss.score / peers[best].score
        draws = 1 - loss.draws(frame.counts) / peers[best].draws(frame.counts)
        at_floor = bool(loss.score <= (1 + FLOOR_MARGIN) * floor)
        yield Figure(
            "wql_against_best_peer_share",
            value,
            "share",
            {"model": model, "best_peer": best} | frame.params,
            n=frame.num_origins,
            seed=frame.seed,
            ci95=interval95(draws, frame.num_origins),
            target=GAIN_TARGET if model == OURS else None,
            met=(value >= GAIN_TARGET or at_floor) if model == OURS else None,
            notes=f"within {FLOOR_MARGIN:.0%} of the Poisson noise floor" if at_floor else "",
        )


def _span_figures(of: SeriesSet, part: Part, test: BackTest, seed: int) -> Iterator[Figure]:
    for minutes in of.sums_minutes:
        span_steps = minutes // of.table.step_minutes
        if not 1 < span_steps <= of.horizons[-1]:
            continue
        counts = block_counts(len(test.origins), block_length(test.origins, of.horizons[-1]), seed)
        params = {
            "series": of.name,
            "horizon_steps": of.horizons[-1],
            "part": str(part),
            "source": of.source,
            "minutes": minutes,
        }
        frame = _Frame(params, counts, len(test.origins), seed)
        yield frame.figure(
            "wape_of_sums_share", span_sums(test, span_steps), {"model": test.model}, unit="share", notes=test.notes
        )


def _rates(of: SeriesSet, test: BackTest) -> FloatArray:
    """The rate behind each scored count, (O, S, N), read off the counts around it."""
    lag_steps = of.season_steps if of.table.step_minutes >= MINUTES_OF_DAY else 1
    rate = smoothed_rate(of.table.values, lag_steps)
    ahead = test.origins[:, None] + np.arange(of.horizons[-1])
    return np.moveaxis(rate[:, ahead], 0, 1)
