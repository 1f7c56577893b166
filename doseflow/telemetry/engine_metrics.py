"""
What the engines, their breakers and a release tell: the seam through which they are counted.

Everything here takes plain words and numbers, so that whoever serves nets needs to know nothing of metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from doseflow.telemetry.city_registry import CityRegistry
from doseflow.telemetry.running_totals import RunningTotals

ANSWER_BUCKETS_SECONDS = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.02, 0.04, 0.075, 0.1, 0.25, 1.0)
BREAKER_STATES = ("closed", "open", "half_open")
DIGEST_LETTERS = 12


class EngineMetrics:
    """Engines by name: their queue, batches, answers, failures and breakers; releases by the net they are of."""

    def __init__(self, registry: CityRegistry) -> None:
        self._seconds = registry.histogram("doseflow_engine_seconds", "engine", buckets=ANSWER_BUCKETS_SECONDS)
        self._queue = registry.gauge("doseflow_engine_queue_requests", "engine")
        self._batches = RunningTotals(registry.counter("doseflow_engine_batches_total", "engine"))
        self._batched = RunningTotals(registry.counter("doseflow_engine_batched_requests_total", "engine"))
        self._failures = RunningTotals(registry.counter("doseflow_engine_failures_total", "engine", "kind"))
        self._state = registry.gauge("doseflow_breaker_state", "engine", "state")
        self._opened = RunningTotals(registry.counter("doseflow_breaker_opened_total", "engine"))
        self._share = registry.gauge("doseflow_canary_share", "net")
        self._phase = registry.gauge("doseflow_canary_phase", "net", "phase")
        self._answers = registry.counter("doseflow_canary_answers_total", "net", "arm", "outcome")
        self._arm_seconds = registry.histogram("doseflow_canary_seconds", "net", "arm", buckets=ANSWER_BUCKETS_SECONDS)
        self._rollbacks = RunningTotals(registry.counter("doseflow_canary_rollbacks_total", "net", "by"))
        self.history_damage = registry.gauge("doseflow_release_history_damaged_lines")
        self._in_use = registry.gauge("doseflow_model_in_use", "net", "alias", "digest")
        self._digest_of: dict[tuple[str, str], str] = {}

    def answered(self, engine: str, seconds: float) -> None:
        """An engine has answered one question."""
        self._seconds.labels(engine).observe(seconds)

    def batches_stand(self, engine: str, num_waiting: int, num_batches: int, num_requests: int) -> None:
        """Questions that wait for an engine now, and batches and the questions in them since the process began."""
        self._queue.labels(engine).set(num_waiting)
        self._batches.tell(num_batches, engine)
        self._batched.tell(num_requests, engine)

    def breaker_stands(self, engine: str, state: str, failures: Mapping[str, int], times_opened: int) -> None:
        """How a breaker stands, with its counts since the process began; telling it twice is telling it once."""
        for each in BREAKER_STATES:
            self._state.labels(engine, each).set(each == state)
        for kind, total in failures.items():
            self._failures.tell(total, engine, kind)
        self._opened.tell(times_opened, engine)

    def release_stands(self, net: str, phase: str, phases: Iterable[str], challenger_share: float) -> None:
        """Which of its phases a release is in, and the share of traffic that the challenger answers, 0..1."""
        for each in phases:
            self._phase.labels(net, each).set(each == phase)
        self._share.labels(net).set(challenger_share)

    def arm_answered(self, net: str, arm: str, outcome: str, seconds: float) -> None:
        """One arm of a release has answered, or failed to."""
        self._answers.labels(net, arm, outcome).inc()
        self._arm_seconds.labels(net, arm).observe(seconds)

    def rollbacks_stand(self, net: str, *, by_itself: int, by_people: int) -> None:
        """Releases taken back since the model store was made: by a gate, and by somebody."""
        self._rollbacks.tell(by_itself, net, "itself")
        self._rollbacks.tell(by_people, net, "people")

    def alias_points_at(self, net: str, alias: str, digest: str | None) -> None:
        """A name such as champion stands for this model from now on, or for none."""
        before = self._digest_of.pop((net, alias), None)
        if before is not None:
            self._in_use.remove(net, alias, before)
        if digest is not None:
            self._digest_of[net, alias] = digest[:DIGEST_LETTERS]
            self._in_use.labels(net, alias, digest[:DIGEST_LETTERS]).set(1)
