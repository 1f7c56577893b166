"""
The gates of a release: what is measured of champion and challenger in the same cycles, and what follows from it.

Every cycle is a pair: both models answer the same question, one of them for the city. Soft gates are sequential tests
with a stated error rate; hard failures need none. What a gate may stop by chance is shared out among the phases, so
that the rate holds for a whole release; to pass by chance, a challenger must do so in its last phase.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from doseflow.serve.aliases import Phase
from doseflow.serve.mean_test import MeanTest

_KEPT_LATENCIES = 5000


@dataclass(frozen=True, slots=True)
class ReleaseParams:
    """How a challenger comes to answer everything, and what stops it."""

    canary_permille: int = 100
    """What a challenger answers before it answers everything, in thousandths."""
    block_minutes: int = 60
    """Plans of a block of time are all made by the same model; a share of the blocks is the challenger's."""
    min_shadow_cycles: int = 24
    """Cycles in shadow before the challenger may answer anything."""
    min_canary_cycles: int = 96
    """Cycles with a share before it may answer everything."""
    min_served_cycles: int = 12
    """Cycles among these that each of the two must have answered for the city, if only for a part of it."""
    max_cycles: int = 4032
    """Cycles of a phase after which a challenger that has not shown to be as good is rolled back."""
    error_rate: float = 0.01
    """Probability that a single gate, over all phases, stops a challenger that is as good, or lets a worse one pass."""
    latency_limit_milliseconds: float = 60.0
    """Time for one whole answer that must hold for 99 of 100, where the champion keeps it."""
    slower_factor: float = 2.0
    """An answer is slower when it takes so many times the champion's in the same cycle, and the allowance beside."""
    slower_allowance_milliseconds: float = 5.0
    """What it may take longer however fast the champion is."""
    allowed_slower_share: float = 0.2
    """Share of answers that may be slower."""
    allowed_failure_share: float = 0.01
    """Share of cycles in which the challenger may time out or fail, and the fallback answers."""
    worse_margin_share: float = 0.02
    """Cost that a challenger may have over the champion's to pass as no worse, as a share of what is at stake."""
    largest_difference_share: float = 0.25
    """A difference of the cost of one cycle counts at most so much, so that no single cycle decides."""
    allowed_large_loss_share: float = 0.01
    """Share of cycles with a loss of that size or larger, beyond those with such a gain, that one may have to pass."""
    promotes_by_itself: bool = True
    """Whether a challenger that has passed every gate is promoted at once, or waits for a person."""

    def __post_init__(self) -> None:
        bounds = {
            "canary_permille": (1, 999),
            "block_minutes": (5, 1440),
            "min_shadow_cycles": (0, 100_000),
            "min_canary_cycles": (1, 100_000),
            "min_served_cycles": (0, 100_000),
            "max_cycles": (1, 1_000_000),
            "error_rate": (1e-6, 0.2),
            "latency_limit_milliseconds": (1, 60_000),
            "slower_factor": (1, 100),
            "slower_allowance_milliseconds": (0, 1000),
            "allowed_slower_share": (0.001, 0.9),
            "allowed_failure_share": (0.001, 0.5),
            "worse_margin_share": (0.001, 0.2),
            "largest_difference_share": (0.01, 1),
            "allowed_large_loss_share": (0, 0.5),
        }
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {getattr(self, name)}")
        if not self.worse_margin_share < self.largest_difference_share:
            raise ValueError("worse_margin_share: must be less than largest_difference_share")


@dataclass(frozen=True, slots=True)
class Answered:
    """
    One model's answer to the question of one cycle.

    `cost` is what it is predicted or found to cost, NaN unknown; `objections` are breaches of hard rules that the
    referee finds in what it proposes; `failure` says why another answered, `hard_failure` what no model may do once.
    """

    milliseconds: float
    cost: float = float("nan")
    objections: int = 0
    failure: str = ""
    hard_failure: str = ""


@dataclass(frozen=True, slots=True)
class CyclePair:
    """
    Both answers of a cycle, and whether each was used for the city or a part of it.

    `cost_scale` is what a difference of their costs is told as a share of, NaN the larger of the two.
    """

    champion: Answered
    challenger: Answered
    champion_served: bool
    challenger_served: bool
    cost_scale: float = float("nan")


class Verdict(StrEnum):
    """What is to become of the challenger."""

    GO_ON = "go_on"
    PASS = "pass"  # noqa: S105 - no password
    ROLL_BACK = "roll_back"


class ReleaseGates:
    """The gates of one phase of one challenger; begun anew for each."""

    def __init__(self, phase: Phase, params: ReleaseParams) -> None:
        self._phase, self._params = phase, params
        rate = params.error_rate / len(Phase)
        most = params.largest_difference_share
        self._failures = MeanTest(params.allowed_failure_share, low=0.0, error_rate=rate)
        self._over_limit = MeanTest(0.01, low=0.0, error_rate=rate)
        self._slower = MeanTest(params.allowed_slower_share, low=0.0, error_rate=rate)
        self._objections = MeanTest(0.5, low=0.0, error_rate=rate)
        self._worse = MeanTest(0.0, low=-most, error_rate=rate)
        # The mean above does not see how large what it cuts off is; as often to either side is a mean of one half.
        self._large = MeanTest(0.5, low=0.0, error_rate=rate)
        self._num_large = {"losses": 0, "gains": 0}
        # Refuted, the cost is less than the margin over the champion's.
        self._not_worse = MeanTest(-params.worse_margin_share, low=-most, error_rate=params.error_rate)
        self._latencies = {name: deque[float](maxlen=_KEPT_LATENCIES) for name in ("champion", "challenger")}
        self._served = {"champion": 0, "challenger": 0}
        self._hard_failure = ""
        self.num_cycles = 0

    def take(self, pair: CyclePair) -> None:
        """Take what one cycle has shown."""
        champion, challenger = pair.champion, pair.challenger
        self.num_cycles += 1
        self._served["champion"] += pair.champion_served
        self._served["challenger"] += pair.challenger_served
        self._hard_failure = self._hard_failure or challenger.hard_failure
        self._failures.take(float(bool(challenger.failure)))
        self._latencies["champion"].append(champion.milliseconds)
        self._latencies["challenger"].append(challenger.milliseconds)
        # A moment in which the machine is too busy for both tells nothing of either.
        limit = self._params.latency_limit_milliseconds
        self._over_limit.take(float(challenger.milliseconds > limit >= champion.milliseconds))
        if champion.failure or challenger.failure:
            return
        self._slower.take(float(self._is_slower(champion.milliseconds, challenger.milliseconds)))
        # As often more as fewer is a mean of one half.
        self._objections.take(0.5 + 0.5 * float(np.sign(challenger.objections - champion.objections)))
        difference = relative_difference(champion.cost, challenger.cost, pair.cost_scale)
        if np.isfinite(difference):
            self._take_difference(difference)

    def _take_difference(self, difference: float) -> None:
        most = self._params.largest_difference_share
        is_loss, is_gain = int(difference >= most), int(difference <= -most)
        self._num_large["losses"] += is_loss
        self._num_large["gains"] += is_gain
        self._large.take(0.5 + 0.5 * (is_loss - is_gain))
        difference = float(np.clip(difference, -most, most))
        self._worse.take(difference)
        self._not_worse.take(-difference)

    def verdict(self) -> tuple[Verdict, str]:
        """What follows, and why in a sentence."""
        if self._hard_failure:
            return Verdict.ROLL_BACK, self._hard_failure
        for is_refuted, sentence in self._objections_to_it():
            if is_refuted:
                return Verdict.ROLL_BACK, sentence
        missing = self._missing()
        if not missing:
            return Verdict.PASS, f"passed every gate in {self.num_cycles} cycles"
        if self.num_cycles >= self._params.max_cycles:
            return Verdict.ROLL_BACK, f"not shown to be as good in {self.num_cycles} cycles: {missing}"
        return Verdict.GO_ON, missing

    def evidence(self) -> dict[str, Any]:
        """Every figure that a verdict rests on, ready to be kept."""
        percentiles = {
            f"{name}_p99_milliseconds": round(float(np.percentile(values, 99)), 3)
            for name, values in self._latencies.items()
            if values
        }
        return {
            "phase": self._phase,
            "cycles": self.num_cycles,
            "champion_served_cycles": self._served["champion"],
            "challenger_served_cycles": self._served["challenger"],
            **percentiles,
            "failure_share": _known(self._failures.mean),
            "over_latency_limit_share": _known(self._over_limit.mean),
            "slower_share": _known(self._slower.mean),
            "more_objections_score": _known(self._objections.mean),
            "cost_difference_share": _known(self._worse.mean),
            "compared_costs": self._worse.num_values,
            "large_losses": self._num_large["losses"],
            "large_gains": self._num_large["gains"],
            "log_evidence_worse": round(self._worse.log_evidence, 3),
            "log_evidence_no_worse": round(self._not_worse.log_evidence, 3),
            "error_rate": self._params.error_rate,
        }

    def _is_slower(self, champion_milliseconds: float, challenger_milliseconds: float) -> bool:
        params = self._params
        allowed = params.slower_factor * champion_milliseconds + params.slower_allowance_milliseconds
        return challenger_milliseconds > allowed

    def _objections_to_it(self) -> list[tuple[bool, str]]:
        params, at = self._params, f"in {self.num_cycles} cycles"
        slower = f"was slower than the champion in {self._slower.mean:.1%} of cycles"
        return [
            (
                self._failures.is_refuted,
                f"failed in {self._failures.mean:.1%} of cycles, more than {params.allowed_failure_share:.1%}, {at}",
            ),
            (
                self._over_limit.is_refuted,
                f"took over {params.latency_limit_milliseconds:g} ms in {self._over_limit.mean:.1%} of cycles, {at}",
            ),
            (self._slower.is_refuted, f"{slower}, more than {params.allowed_slower_share:.1%}, {at}"),
            (self._objections.is_refuted, f"proposed more that breaks rules than the champion, {at}"),
            (self._worse.is_refuted, f"is worse than the champion by {self._worse.mean:.1%} of what is at stake, {at}"),
            (self._large.is_refuted, f"{self._large_words()}, {at}"),
        ]

    def _missing(self) -> str:
        params = self._params
        is_shadow = self._phase is Phase.SHADOW
        needed = params.min_shadow_cycles if is_shadow else params.min_canary_cycles
        if self.num_cycles < needed:
            return f"{self.num_cycles} of {needed} cycles"
        for name, served in self._served.items():
            if not is_shadow and served < params.min_served_cycles:
                return f"the {name} has answered {served} of {params.min_served_cycles} cycles"
        champion_p99, challenger_p99 = (float(np.percentile(one, 99)) for one in self._latencies.values())
        if challenger_p99 > max(params.latency_limit_milliseconds, champion_p99):
            return f"the 99th percentile is {challenger_p99:.1f} ms, the champion's {champion_p99:.1f} ms"
        excess = self._num_large["losses"] - self._num_large["gains"]
        if excess > params.allowed_large_loss_share * self._worse.num_values:
            return self._large_words()
        if not self._not_worse.is_refuted:
            return f"not shown yet to be worse by less than {params.worse_margin_share:.1%} of what is at stake"
        return ""

    def _large_words(self) -> str:
        losses, gains = self._num_large["losses"], self._num_large["gains"]
        most = self._params.largest_difference_share
        return f"lost {most:.0%} or more of what is at stake {losses} times, and gained it {gains} times"


def relative_difference(champion_cost: float, challenger_cost: float, scale: float = float("nan")) -> float:
    """What the challenger costs more, as a share of a scale or else of the larger cost; NaN where that is nothing."""
    largest = max(champion_cost, challenger_cost) if np.isnan(scale) else scale
    if not largest > 0:
        return float("nan")
    return (challenger_cost - champion_cost) / largest


def _known(value: float) -> float | None:
    return round(value, 5) if np.isfinite(value) else None
