"""All of `doseflow bench forecast`, in the order it prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from doseflow.bench.figures import Figure
from doseflow.bench.forecast import models, series_sets
from doseflow.bench.forecast.origin_scores import loss_by_series
from doseflow.bench.forecast.rolling import BackTest, back_test
from doseflow.bench.forecast.series_set import Part, SeriesSet
from doseflow.bench.forecast.set_figures import OURS, loss_growth_figure, set_figures

ORIGINS = {"czech_bookings": 17, "czech_doses": 17, "quebec_er": 40, "subway": 28, "call_centre": 60, "ed_arrivals": 90}
QUICK_ORIGINS = 6
MISSING_SHARE = 0.3
WORST_LISTED = 5


@dataclass(frozen=True)
class ForecastTrial:
    """
    What is played.

    Parameters
    ----------
    folder
        Where the originals are; None for the packaged sets alone.
    series, model_names
        Empty for all there are.
    quick
        Fewer sets, peers and origins.
    """

    folder: Path | None
    series: tuple[str, ...] = ()
    model_names: tuple[str, ...] = ()
    part: Part = Part.HELD_OUT
    quick: bool = False
    seed: int = 1

    def set_names(self) -> list[str]:
        """Sets, in order."""
        available = series_sets.available_sets(self.folder)
        return list(self.series) or [name for name in available if not self.quick or name in series_sets.QUICK]

    def models(self) -> list[str]:
        """Models, in order."""
        return list(self.model_names) or list(models.QUICK if self.quick else models.MODELS)

    def origins_of(self, set_name: str) -> int:
        """How many origins at most."""
        return QUICK_ORIGINS if self.quick else ORIGINS[set_name]


@dataclass
class Progress:
    """Who is told what is going on: a sentence, and steps done of how many."""

    say: Callable[[str], None] = lambda _text: None
    begin: Callable[[str, int], Callable[[], None]] = lambda _text, _total: lambda: None


@dataclass(frozen=True)
class SetResult:
    """One set: its figures, and each model's series with the greatest loss."""

    of: SeriesSet
    figures: list[Figure]
    tests: list[BackTest]
    worst: list[tuple[str, list[tuple[str, float]]]]


def play(trial: ForecastTrial, progress: Progress) -> Iterator[SetResult]:
    """
    Play every set with every model.

    Raises
    ------
    InputWrong
        No such set or model.
    """
    for name in trial.models():
        models.require(name)
    for set_name in trial.set_names():
        series_sets.require(set_name)
    for set_name in trial.set_names():
        of = series_sets.load_set(set_name, trial.folder)
        yield play_set(trial, of, progress)


def play_set(trial: ForecastTrial, of: SeriesSet, progress: Progress) -> SetResult:
    """Play one set with every model that can be run here."""
    tests = [test for name in trial.models() if (test := _played(trial, of, name, progress)) is not None]
    figures = set_figures(of, trial.part, tests, trial.seed) if tests else []
    figures += [_time_figure(of, test) for test in tests]
    ours = next((test for test in tests if test.model == OURS), None)
    if ours is not None:
        thinned = _played(trial, of, OURS, progress, missing_share=MISSING_SHARE)
        if thinned is not None:
            figures.append(loss_growth_figure(of, trial.part, ours, thinned, MISSING_SHARE, trial.seed))
    worst = [(test.model, worst_series(of, test)) for test in tests]
    return SetResult(of, figures, tests, worst)


def worst_series(of: SeriesSet, test: BackTest) -> list[tuple[str, float]]:
    """The series with the greatest loss at the longest horizon, of those to which anybody came."""
    loss = loss_by_series(test, of.horizons[-1])
    order = np.argsort(-np.nan_to_num(loss, nan=-1.0), kind="stable")[:WORST_LISTED]
    return [(of.table.series_ids[row], float(loss[row])) for row in order if np.isfinite(loss[row])]


def worst_figures(result: SetResult, part: Part, seed: int) -> list[Figure]:
    """The worst series of every model."""
    return [
        Figure(
            "worst_series_weighted_quantile_loss",
            loss,
            "1",
            {
                "model": model,
                "series": result.of.name,
                "horizon_steps": result.of.horizons[-1],
                "part": str(part),
                "series_id": series_id,
                "rank": rank,
            },
            n=len(result.tests[0].origins),
            seed=seed,
        )
        for model, listed in result.worst
        for rank, (series_id, loss) in enumerate(listed, start=1)
    ]


def _played(
    trial: ForecastTrial, of: SeriesSet, name: str, progress: Progress, *, missing_share: float = 0.0
) -> BackTest | None:
    model = models.make_model(name, trial.seed)
    if isinstance(model, str):
        progress.say(model)
        return None
    at_most = trial.origins_of(of.name)
    label = f"{of.name}, {name}" + (f", {missing_share:.0%} of reports missing" if missing_share else "")
    advance = progress.begin(label, 1 + len(of.origins(trial.part, at_most)))
    return back_test(model, of, trial.part, at_most, missing_share=missing_share, seed=trial.seed, advance=advance)


def _time_figure(of: SeriesSet, test: BackTest) -> Figure:
    params = {"model": test.model, "series": of.name}
    return Figure("fit_and_forecast_seconds", test.seconds, "seconds", params, n=len(test.origins), notes=test.notes)


def headline(figures: Sequence[Figure], name: str, model: str | None, horizon: int) -> Figure | None:
    """The figure of that name, model and horizon; None where there is none."""
    return next(
        (
            figure
            for figure in figures
            if figure.name == name
            and figure.params.get("horizon_steps") == horizon
            and (model is None or figure.params.get("model") == model)
        ),
        None,
    )
