"""ReleaseDesk: takes what each cycle has shown of a challenger, and takes the steps that follow from it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from doseflow.errors import ReleaseRefused
from doseflow.serve.aliases import Aliases, Phase, go_to_canary, make_ready, promote
from doseflow.serve.net_slot import NetSlot, Standing
from doseflow.serve.release_gates import CyclePair, ReleaseGates, ReleaseParams, Verdict

T = TypeVar("T")
BY_ITSELF = "release"


class ReleaseDesk(Generic[T]):
    """
    Thread-safe; each phase of each challenger has gates of its own, which begin with nothing. `told` is called with
    what each cycle has shown.
    """

    def __init__(
        self, slot: NetSlot[T], params: ReleaseParams, told: Callable[[CyclePair], None] = lambda _: None
    ) -> None:
        self.slot, self.params, self._told = slot, params, told
        self._lock = threading.Lock()
        self._revision: int | None = None
        self._gates: ReleaseGates | None = None

    def take(self, standing: Standing[T], pair: CyclePair) -> None:
        """Take what a cycle has shown of those who stood then."""
        phase = standing.aliases.phase
        if phase is None:
            return
        self._told(pair)
        with self._lock:
            gates = self._gates_of(standing.aliases, phase)
            gates.take(pair)
            verdict, why = gates.verdict()
            evidence = gates.evidence()
        if verdict is Verdict.ROLL_BACK:
            self.roll_back(standing, why, evidence)
        elif verdict is Verdict.PASS:
            self._pass(standing.aliases, phase, why, evidence)

    def roll_back(self, standing: Standing[T], why: str, evidence: dict[str, Any] | None = None) -> None:
        """Drop the challenger of a standing, at once, in whatever phase it is by now."""
        self.slot.stop(standing.aliases, by=BY_ITSELF, why=why, evidence=evidence)

    def evidence(self) -> dict[str, Any]:
        """What has been measured of the challenger in its phase, and what is still missing; empty without one."""
        with self._lock:
            if self._gates is None or self.slot.standing.aliases.revision != self._revision:
                return {}
            return self._gates.evidence() | {"verdict": " ".join(self._gates.verdict())}

    def _gates_of(self, aliases: Aliases, phase: Phase) -> ReleaseGates:
        if self._gates is None or aliases.revision != self._revision:
            self._revision, self._gates = aliases.revision, ReleaseGates(phase, self.params)
        return self._gates

    def _pass(self, aliases: Aliases, phase: Phase, why: str, evidence: dict[str, Any]) -> None:
        if phase is Phase.SHADOW:
            share = self.params.canary_permille
            self._switch(aliases, lambda one: go_to_canary(one, share), "canary", why, evidence)
        elif phase is Phase.CANARY and self.params.promotes_by_itself:
            self._switch(aliases, promote, "promoted", why, evidence)
        elif phase is Phase.CANARY:
            self._switch(aliases, make_ready, "ready", why, evidence)

    def _switch(self, seen: Aliases, step: Any, event: str, why: str, evidence: dict[str, Any] | None) -> None:
        def if_nothing_changed(now: Aliases) -> Aliases:
            # What was measured is about the aliases of that cycle; a person may have decided since.
            if now.revision != seen.revision:
                raise ReleaseRefused(f"revision: must be {seen.revision}, got {now.revision}")
            stepped: Aliases = step(now)
            return stepped

        self.slot.switch(if_nothing_changed, event=event, by=BY_ITSELF, why=why, evidence=evidence or {})
