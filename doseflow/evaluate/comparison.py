"""From rows to figures: what every planner did in every family of days and in all, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from doseflow.bench.figures import Figure
from doseflow.domain.city import FloatArray
from doseflow.evaluate.measures import MEASURES
from doseflow.evaluate.planners import BOUND, NAIVE, REFERENCE, RULES, policy_of
from doseflow.evaluate.resampling import FEWEST_SURE_SEEDS, Resampled, interval95, resampled_mean
from doseflow.evaluate.run import Row

ALL_FAMILIES = "all"
MEASURE_NAMES = tuple(MEASURES)
REDUCTIONS = {"mean_wait_minutes": "wait_reduction_share", "busy_block_share": "busy_block_reduction_share"}
DIFFERENCES = {
    "mean_wait_minutes": "mean_wait_difference_minutes",
    "p95_wait_minutes": "p95_wait_difference_minutes",
    "people_lost_share": "people_lost_difference_share",
    "busy_block_share": "busy_block_difference_share",
    "worst_site_wait_minutes": "worst_site_wait_difference_minutes",
    "worst_district_wait_minutes": "worst_district_wait_difference_minutes",
    "dose_utilisation_share": "dose_utilisation_difference_share",
}
"""Measures that are also given as the difference to another planner on the same days, to the rules unless chosen."""
TARGETS = {
    "wait_reduction_share": 0.42,
    "busy_block_reduction_share": 0.28,
    "dose_utilisation_share": 0.97,
    "gap_closed_share": 0.70,
    "served_share_of_bound": 0.99,
}
"""What a planner of a city should reach at least, each figure beside that of the bound."""
UNSURE = f"fewer than {FEWEST_SURE_SEEDS} seeds: the interval is too narrow to be a 95 % interval"

Pick = Callable[[FloatArray], FloatArray]
"""Takes one figure out of means (P, M) or out of their resamples (B, P, M)."""


@dataclass(frozen=True)
class FamilyDays:
    """
    The days of a family, or of all, that every planner has played: means, resamples, and which seeds.

    `fewest_seeds` is the number of days of the scenario that has the fewest.
    """

    family: str
    means: Resampled
    num_days: int
    seeds: tuple[int, ...]
    fewest_seeds: int

    @property
    def is_unsure(self) -> bool:
        """Whether there are intervals that are too narrow for what they claim."""
        return len(self.means.draws) > 0 and self.fewest_seeds < FEWEST_SURE_SEEDS


@dataclass(frozen=True)
class Comparison:
    """
    Planners in their order and the families they were compared in, the last one `all`.

    Parameters
    ----------
    params
        Values of the simulator that were set for every scenario; they stand in the `params` of each figure.
    against
        Planners that differences are given to, beside the rules; they stand in the `params` of each difference.
    """

    planners: tuple[str, ...]
    families: tuple[FamilyDays, ...]
    params: Mapping[str, float] = field(default_factory=dict)
    against: tuple[str, ...] = ()

    @property
    def is_unsure(self) -> bool:
        """Whether any interval is too narrow, for want of days."""
        return any(days.is_unsure for days in self.families)

    def figures(self) -> list[Figure]:
        """Every figure of every planner and family."""
        return [
            replace(figure, params=figure.params | dict(self.params))
            for days in self.families
            for planner in self.planners
            for figure in (*self._measured(planner, days), *self._compared(planner, days))
        ]

    def _measured(self, planner: str, days: FamilyDays) -> Iterable[Figure]:
        for name, measure in MEASURES.items():
            if name == "referee_violations":
                yield _figure(name, measure.unit, planner, days, self._of(planner, name), most=0.0)
            else:
                yield self._told(name, measure.unit, planner, days, partial(self._of, measure=name))

    def _compared(self, planner: str, days: FamilyDays) -> Iterable[Figure]:
        if REFERENCE in self.planners:
            for name, reduction in REDUCTIONS.items():
                less = partial(self._reduction, measure=name)
                yield self._told(reduction, "share", planner, days, less)
        for other in dict.fromkeys((RULES, *self.against)):
            if other in self.planners:
                yield from self._differences(planner, other, days)
        if RULES in self.planners and BOUND in self.planners:
            yield self._told("gap_closed_share", "share", planner, days, self._gap_closed)
        if NAIVE in self.planners and BOUND in self.planners and policy_of(planner) == policy_of(NAIVE):
            ways = (self._of(one, "mean_wait_minutes") for one in (planner, NAIVE, BOUND))
            yield _figure("forecast_gap_closed_share", "share", planner, days, _gap_closed(*ways))
        if BOUND in self.planners:
            yield self._told("served_share_of_bound", "share", planner, days, self._served)

    def _told(self, name: str, unit: str, planner: str, days: FamilyDays, of: Callable[[str], Pick]) -> Figure:
        """A figure with its target, if it has one, and with what the bound reaches of it."""
        figure = _figure(name, unit, planner, days, of(planner), least=TARGETS.get(name))
        if figure.target is None or BOUND not in self.planners:
            return figure
        return replace(figure, notes=f"{figure.notes}; {BOUND} {float(of(BOUND)(days.means.point)):.4g}")

    def _differences(self, planner: str, other: str, days: FamilyDays) -> Iterable[Figure]:
        """To another planner; which it is stands in the params, but for the rules."""
        told = {} if other == RULES else {"against": other}
        for name, difference in DIFFERENCES.items():
            of = _difference(self._of(planner, name), self._of(other, name))
            figure = _figure(difference, MEASURES[name].unit, planner, days, of)
            yield replace(figure, params=figure.params | told)

    def _reduction(self, planner: str, *, measure: str) -> Pick:
        return _reduction(self._of(planner, measure), self._of(REFERENCE, measure))

    def _gap_closed(self, planner: str) -> Pick:
        return _gap_closed(*(self._of(one, "mean_wait_minutes") for one in (planner, RULES, BOUND)))

    def _served(self, planner: str) -> Pick:
        served, by_bound = self._of(planner, "served_people"), self._of(BOUND, "served_people")
        return lambda of: served(of) / by_bound(of)

    def _of(self, planner: str, measure: str) -> Pick:
        at = self.planners.index(planner), MEASURE_NAMES.index(measure)
        return lambda of: of[(..., *at)]


def compare(
    rows: Sequence[Row],
    planners: Sequence[str],
    params: Mapping[str, float] | None = None,
    against: Sequence[str] = (),
) -> Comparison:
    """
    Compare planners on the days that all of them have played to the end.

    A day that failed under one planner counts for none, so that everybody is judged on the same days.

    Parameters
    ----------
    params
        Values of the simulator that were set for every scenario.
    against
        Planners to give differences to, beside the rules.
    """
    by_scenario = _by_scenario(rows)
    by_family: dict[str, list[FamilyDays]] = {}
    for stream, (scenario, of_scenario) in enumerate(sorted(by_scenario.items())):
        seeds = _common_seeds(of_scenario, planners)
        if not seeds:
            continue
        values = np.array([[_values(of_scenario[planner][seed]) for seed in seeds] for planner in planners])
        family = next(iter(of_scenario[planners[0]].values()))["family"]
        days = FamilyDays(scenario, resampled_mean(values, stream), len(seeds), seeds, len(seeds))
        by_family.setdefault(family, []).append(days)
    families = [_together(family, of_family) for family, of_family in by_family.items()]
    everything = [_together(ALL_FAMILIES, families)] if families else []
    return Comparison(tuple(planners), (*families, *everything), params or {}, tuple(against))


def _by_scenario(rows: Sequence[Row]) -> dict[str, dict[str, dict[int, Row]]]:
    nested: dict[str, dict[str, dict[int, Row]]] = {}
    for row in rows:
        if "failed" not in row:
            nested.setdefault(row["scenario"], {}).setdefault(row["planner"], {})[row["seed"]] = row
    return nested


def _common_seeds(of_scenario: dict[str, dict[int, Row]], planners: Sequence[str]) -> tuple[int, ...]:
    played = [set(of_scenario.get(planner, {})) for planner in planners]
    return tuple(sorted(set.intersection(*played)))


def _values(row: Row) -> list[float]:
    return [row["measures"][name] for name in MEASURE_NAMES]


def _together(family: str, parts: Sequence[FamilyDays]) -> FamilyDays:
    """Parts with equal weights: scenarios of a family, or families of all."""
    first, *others = parts
    seeds = sorted({seed for part in parts for seed in part.seeds})
    means = first.means.mean_with([part.means for part in others])
    num_days, fewest = sum(part.num_days for part in parts), min(part.fewest_seeds for part in parts)
    return FamilyDays(family, means, num_days, tuple(seeds), fewest)


def _figure(
    name: str,
    unit: str,
    planner: str,
    days: FamilyDays,
    of: Pick,
    *,
    least: float | None = None,
    most: float | None = None,
) -> Figure:
    """A figure with its interval; `least` or `most` is what it should be."""
    value = float(of(days.means.point))
    interval = interval95(of(days.means.draws))
    notes = f"seeds {seed_ranges(days.seeds)}"
    return Figure(
        name,
        value,
        unit,
        {"planner": planner, "family": days.family},
        n=days.num_days,
        ci95=interval,
        target=most if least is None else least,
        met=value >= least if least is not None else value <= most if most is not None else None,
        notes=f"{notes}; {UNSURE}" if days.is_unsure and interval is not None else notes,
    )


def _reduction(mine: Pick, theirs: Pick) -> Pick:
    return lambda of: 1 - _ratio(mine(of), theirs(of))


def _difference(mine: Pick, theirs: Pick) -> Pick:
    return lambda of: mine(of) - theirs(of)


def _gap_closed(mine: Pick, start: Pick, bound: Pick) -> Pick:
    """The share of the way from a start to the bound; no number where the bound is not below the start."""
    return lambda of: _ratio(start(of) - mine(of), start(of) - bound(of))


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(below) > 0, np.asarray(above) / below, np.nan)


def seed_ranges(seeds: Sequence[int]) -> str:
    """Seeds in words: `1-30`, or `1-4, 7`."""
    parts: list[list[int]] = []
    for seed in seeds:
        if parts and seed == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], seed]
        else:
            parts.append([seed])
    return ", ".join("-".join(str(end) for end in part) for part in parts)
