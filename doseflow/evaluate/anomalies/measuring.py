"""`doseflow bench anomalies`: days over seeds and processes, and their figures with intervals."""

from __future__ import annotations

import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial

import numpy as np

from doseflow.bench.figures import Figure
from doseflow.evaluate.anomalies.fault_draw import draw_faults
from doseflow.evaluate.anomalies.faults import FaultKind
from doseflow.evaluate.anomalies.reading_again import read_again
from doseflow.evaluate.anomalies.recorded_day import record_day
from doseflow.evaluate.anomalies.scores import DayScore, score_day
from doseflow.evaluate.playing import ONE_THREAD
from doseflow.settings import Settings
from doseflow.simulate.report_faults import NO_FAULTS, ReportFaults
from doseflow.state.watch import WatchParams

RATES = (0.01, 0.03, 0.10, 0.30)
FIRST_DEVELOPMENT_SEED = 1_000
FIRST_FINAL_SEED = 5_000
"""The two never meet: what was tuned on the first is told on the second."""
CLEAN = {"none": NO_FAULTS, "ordinary": ReportFaults()}
RESAMPLES = 2_000
ALL_KINDS = "all"


@dataclass(frozen=True)
class SeedScore:
    """One seed's day: without faults of readings, by what happened to the reports; and with, by rate."""

    seed: int
    num_sites: int
    clean: dict[str, DayScore]
    broken: dict[float, DayScore]


def measure_seed(seed: int, city_name: str, settings: Settings, params: WatchParams) -> SeedScore:
    """
    Play a seed's day once and read it again in every way.

    Raises
    ------
    CityWrong, SettingsWrong
    """
    day = record_day(city_name, seed, settings)
    clean = {
        name: score_day((), read_again(day, (), faults, seed=seed, params=params), day.city)
        for name, faults in CLEAN.items()
    }
    broken = {}
    for number, rate in enumerate(RATES):
        faults = draw_faults(day, rate, np.random.default_rng([seed, number]))
        anomalies = read_again(day, faults, CLEAN["ordinary"], seed=seed, params=params)
        broken[rate] = score_day(faults, anomalies, day.city)
    return SeedScore(seed, day.city.num_sites, clean, broken)


def measure_seeds(
    seeds: Sequence[int], city_name: str, settings: Settings, *, workers: int, advance: Callable[[], None]
) -> list[SeedScore]:
    """All seeds over so many processes, in the order of the seeds; `advance` is called after each."""
    os.environ.update(ONE_THREAD)
    work = partial(measure_seed, city_name=city_name, settings=settings, params=WatchParams())
    scores = []
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(work, seed) for seed in seeds]):
            scores.append(done.result())
            advance()
    return sorted(scores, key=lambda one: one.seed)


def figures_of(scores: Sequence[SeedScore], city_name: str) -> list[Figure]:
    """Every figure of a run."""
    return [*_clean_figures(scores, city_name), *_broken_figures(scores, city_name)]


def false_flag_kinds(scores: Sequence[SeedScore]) -> Counter[str]:
    """What was flagged wrongly, by reading of the day and kind."""
    found: Counter[str] = Counter()
    for score in scores:
        found.update(f"{name}: {kind}" for name, day in score.clean.items() for kind in day.false_flags)
        found.update(f"{rate:g}: {kind}" for rate, day in score.broken.items() for kind in day.false_flags)
    return found


def _clean_figures(scores: Sequence[SeedScore], city_name: str) -> Iterator[Figure]:
    for name in CLEAN:
        flags = [len(score.clean[name].false_flags) for score in scores]
        sites = [score.num_sites for score in scores]
        params: dict[str, object] = {"city": city_name, "report_faults": name}
        yield _ratio("false_alarms_per_site_day", flags, sites, "1/(site day)", params, scores[0].seed)


def _broken_figures(scores: Sequence[SeedScore], city_name: str) -> Iterator[Figure]:
    first = scores[0].seed
    for rate in RATES:
        days = [score.broken[rate] for score in scores]
        flags = [day.num_flags for day in days]
        right = [day.num_flags - len(day.false_flags) for day in days]
        params: dict[str, object] = {"city": city_name, "rate": rate, "kind": ALL_KINDS}
        yield _ratio("anomaly_precision_share", right, flags, "share", params, first)
        yield from _found_figures([[day] for day in days], params, first)
    for kind in FaultKind:
        params = {"city": city_name, "rate": ALL_KINDS, "kind": str(kind)}
        yield from _found_figures([list(score.broken.values()) for score in scores], params, first, kind)


def _found_figures(
    days_by_seed: Sequence[Sequence[DayScore]], params: dict[str, object], seed: int, kind: FaultKind | None = None
) -> Iterator[Figure]:
    by_seed = [[one for day in days for one in day.faults if kind in {None, one.kind}] for days in days_by_seed]
    delays = [[one.delay_minutes for one in faults if one.delay_minutes is not None] for faults in by_seed]
    found, tried = [len(one) for one in delays], [len(faults) for faults in by_seed]
    if sum(tried):
        yield _ratio("anomaly_recall_share", found, tried, "share", params, seed)
    if sum(found):
        yield _ratio("anomaly_delay_minutes", [sum(one) for one in delays], found, "minutes", params, seed)


def _ratio(
    name: str, above: Sequence[float], below: Sequence[float], unit: str, params: dict[str, object], seed: int
) -> Figure:
    """A ratio of sums over seeds; the interval resamples seeds, and is left out where it is a point."""
    top, bottom = np.asarray(above, np.float64), np.asarray(below, np.float64)
    picked = np.random.default_rng(0).integers(len(top), size=(RESAMPLES, len(top)))
    tops, bottoms = top[picked].sum(axis=1), bottom[picked].sum(axis=1)
    draws = tops[bottoms > 0] / bottoms[bottoms > 0]
    value = float(top.sum() / bottom.sum()) if bottom.sum() else float("nan")
    low, high = np.percentile(draws, [2.5, 97.5]).tolist() if len(draws) else (value, value)
    return Figure(name, value, unit, params, n=int(bottom.sum()), seed=seed, ci95=(low, high))
