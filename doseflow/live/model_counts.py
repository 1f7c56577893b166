"""What the nets of a city, their breakers and their releases tell the metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import structlog

from doseflow.serve.aliases import Phase
from doseflow.serve.net_slot import WarmModel
from doseflow.serve.release_desk import BY_ITSELF, ReleaseDesk
from doseflow.serve.release_gates import Answered, CyclePair
from doseflow.serve.release_history import HISTORY_FILE, ReleaseTrail, trail_of
from doseflow.telemetry.engine_metrics import EngineMetrics
from doseflow.telemetry.metrics import Metrics

NO_PHASE = "none"
PHASES = (NO_PHASE, *Phase)
ROLLED_BACK = "rolled_back"
log = structlog.get_logger(__name__)


class ModelCounts:
    """Tells how the nets and releases stand; used before each look at the metrics."""

    def __init__(self, desks: Mapping[str, ReleaseDesk[Any]]) -> None:
        self._desks = desks
        self._rollbacks_as_of: dict[str, tuple[int, int]] = {}

    def tell(self, metrics: Metrics) -> None:
        """Tell all nets."""
        for net, desk in self._desks.items():
            standing = desk.slot.standing
            aliases, engines = standing.aliases, metrics.engines
            _tell_warm(engines, net, standing.champion)
            if standing.challenger is not None:
                _tell_warm(engines, f"{net} challenger", standing.challenger)
            engines.release_stands(net, aliases.phase or NO_PHASE, PHASES, aliases.share_permille / 1000)
            for alias in ("champion", "challenger", "previous"):
                engines.alias_points_at(net, alias, getattr(aliases, alias))
            self._tell_rollbacks(engines, net, desk)

    def _tell_rollbacks(self, engines: EngineMetrics, net: str, desk: ReleaseDesk[Any]) -> None:
        store = desk.slot.store
        if store is None:
            return
        try:
            trail = self._trail_where_changed(net, store.folder)
        except OSError as error:
            # The last known count stands: the metrics tell of more than of releases, and never fail for these.
            log.warning("release_history_unreadable", net=net, error=str(error))
            return
        if trail is None:
            return
        who = Counter(event["by"] == BY_ITSELF for event in trail.of_net(net) if event["event"] == ROLLED_BACK)
        engines.rollbacks_stand(net, by_itself=who[True], by_people=who[False])
        engines.history_damage.set(len(trail.damage))
        if trail.damage:
            log.warning("release_history_damaged", net=net, damage=trail.damage)

    def _trail_where_changed(self, net: str, folder: Path) -> ReleaseTrail | None:
        """The history is a file, which is read when it has changed since it was last told."""
        path = folder / HISTORY_FILE
        status = path.stat() if path.exists() else None
        as_of = (0, 0) if status is None else (status.st_size, status.st_mtime_ns)
        if self._rollbacks_as_of.get(net) == as_of:
            return None
        trail = trail_of(folder)
        self._rollbacks_as_of[net] = as_of
        return trail


def tell_pair(engines: EngineMetrics, net: str, pair: CyclePair) -> None:
    """Tell what both arms of a release answered in one cycle."""
    for arm, answered in (("champion", pair.champion), ("challenger", pair.challenger)):
        engines.arm_answered(net, arm, _outcome(answered), answered.milliseconds / 1000)


def _outcome(answered: Answered) -> str:
    if answered.failure or answered.hard_failure:
        return "failed"
    return "objected" if answered.objections else "good"


def _tell_warm(engines: EngineMetrics, name: str, warm: WarmModel[Any]) -> None:
    view = warm.engine.breaker.view()
    failures = {str(kind): number for kind, number in view.failures_by_kind.items()}
    engines.breaker_stands(name, view.state, failures, view.times_opened)
    if warm.batcher is not None:
        counts = warm.batcher.counts
        engines.batches_stand(name, warm.batcher.num_waiting, counts.num_runs, counts.num_answered)
