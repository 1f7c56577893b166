"""SiteWatch: the running watch over the readings, beside the cycle and never in its way."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping

import structlog

from doseflow.domain.anomaly import Anomaly, AnomalyKind
from doseflow.domain.state import CityState
from doseflow.state.watch import WatchParams, WatchState, first_watch, watch

KEPT_ENDED = 500
log = structlog.get_logger(__name__)


class SiteWatch:
    """
    Looks at the state of each cycle and keeps what it flags. Thread-safe.

    What it learns lives in memory: after a restart it begins again from nothing, and an anomaly that still lasts is
    found again within its usual delay.
    """

    def __init__(self, state: CityState, params: WatchParams | None = None) -> None:
        self._params = params or WatchParams()
        self._learned: WatchState = first_watch(state, self._params)
        self._lock = threading.Lock()
        self._open: tuple[Anomaly, ...] = ()
        self._ended: deque[Anomaly] = deque(maxlen=KEPT_ENDED)
        self.num_failures = 0

    @property
    def open(self) -> tuple[Anomaly, ...]:
        """Anomalies that last, the latest found first."""
        return self._open

    @property
    def ended(self) -> tuple[Anomaly, ...]:
        """Anomalies that have ended since the process began, the latest first; the oldest are let go."""
        with self._lock:
            return tuple(self._ended)

    def count_by_kind(self) -> Mapping[AnomalyKind, int]:
        """Open anomalies of every kind, 0 where there is none."""
        found = Counter(one.kind for one in self._open)
        return {kind: found[kind] for kind in AnomalyKind}

    def look(self, state: CityState) -> None:
        """Look at the state of a cycle; what fails here is recorded, and the city goes on."""
        try:
            learned, anomalies = watch(self._learned, state, self._params)
        except Exception:  # the boundary of the watch: it must not stop a cycle
            self.num_failures += 1
            log.exception("watch_failed")
            return
        known = {one.anomaly_id for one in self._open}
        ended = [one for one in anomalies if one.ended_at is not None]
        going = [one for one in anomalies if one.ended_at is None]
        with self._lock:
            self._learned = learned
            self._open = tuple(sorted(going, key=lambda one: one.seen_at, reverse=True))
            self._ended.extendleft(ended)
        for one in going:
            if one.anomaly_id not in known:
                log.warning("anomaly_opened", **_told(one), text=one.text_en)
        for one in ended:
            log.info("anomaly_closed", **_told(one))


def _told(anomaly: Anomaly) -> dict[str, str]:
    return {"anomaly_id": anomaly.anomaly_id, "site_id": anomaly.site_id, "kind": str(anomaly.kind)}
