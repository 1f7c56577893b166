"""GatewayLine: one gateway, and whether it may be asked just now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

import structlog

from doseflow.circuit_breaker import Admission, BreakerParams, BreakerState, CircuitBreaker, FailureKind
from doseflow.errors import GatewayFailed, GatewayHeldBack, GatewayRefused
from doseflow.ports import Clock, Gateway, OutboxEntry

MAX_REST = timedelta(hours=1)
"""A peer that asks to be left alone for longer is asked again all the same."""
log = structlog.get_logger(__name__)


class Fault(Enum):
    """Whose fault it is that something was not told."""

    NOBODY = "nobody"
    """The gateway waits of its own accord."""
    GATEWAY = "gateway"
    """Nothing gets through, as far as anybody knows."""
    ENTRY = "entry"
    """Other things were told since it failed before."""
    REFUSED = "refused"
    """The peer has said that it will never take it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something was not told, and how long the peer asks to be left alone."""

    fault: Fault
    reason: str
    retry_after_seconds: float | None = None


class GatewayLine:
    """
    A gateway with its circuit breaker; it remembers which entries fail while others get through.

    A gateway that is down is left alone and tried again now and then, by one delivery at a time, for however long it
    takes. An entry is to blame only where something else was told between two of its failures.
    """

    def __init__(self, gateway: Gateway, clock: Clock, *, failures_to_open: int, cool_down_seconds: float) -> None:
        self.gateway = gateway
        params = BreakerParams(
            failures_to_open=failures_to_open, cool_down_seconds=cool_down_seconds, probes_to_close=1
        )
        self.breaker = CircuitBreaker(params, clock)
        self._clock = clock
        self._rests_until: datetime | None = None
        self._num_told = 0
        self._faults: dict[int, int] = {}
        self._num_told_at_failure: dict[int, int] = {}

    @property
    def name(self) -> str:
        """Name of the gateway."""
        return self.gateway.name

    @property
    def rests(self) -> bool:
        """Whether it is left alone just now: its breaker is open, or the peer asked for it."""
        return self.breaker.view().state is BreakerState.OPEN or self._was_asked_to_rest()

    def num_faults(self, entry_id: int) -> int:
        """How often the entry itself was to blame."""
        return self._faults.get(entry_id, 0)

    async def tell(self, entries: Sequence[OutboxEntry]) -> Failure | None:
        """Tell entries of one site; None where they were told, a failure of nobody where it may not be asked."""
        if self._was_asked_to_rest() or (ticket := self.breaker.admit()).admission is Admission.REFUSE:
            return Failure(Fault.NOBODY, "the gateway is left alone")
        try:
            await self.gateway.deliver(entries)
        except GatewayHeldBack as error:
            # Nothing is learnt of the peer; a probe that was not made has not succeeded.
            if ticket.admission is Admission.PROBE:
                self.breaker.fail(ticket, FailureKind.ERROR)
            return Failure(Fault.NOBODY, str(error), error.retry_after_seconds)
        except GatewayRefused as error:
            self.breaker.succeed(ticket)
            self._forget(entries)
            return Failure(Fault.REFUSED, str(error))
        except GatewayFailed as error:
            self.breaker.fail(ticket, FailureKind.ERROR)
            return self._failed(entries[0], str(error), error.retry_after_seconds)
        except Exception as error:  # a defect of one gateway must not keep the others from their orders
            log.exception("gateway_defect", gateway=self.name, order_id=entries[0].order.order_id)
            self.breaker.fail(ticket, FailureKind.ERROR)
            return self._failed(entries[0], f"{type(error).__name__}: {error}", None)
        except BaseException:
            self.breaker.fail(ticket, FailureKind.TIMEOUT)
            raise
        self.breaker.succeed(ticket)
        self._num_told += 1
        self._forget(entries)
        return None

    def _was_asked_to_rest(self) -> bool:
        return self._rests_until is not None and self._clock.now() < self._rests_until

    def _failed(self, entry: OutboxEntry, reason: str, retry_after_seconds: float | None) -> Failure:
        if retry_after_seconds is not None:
            rest = min(timedelta(seconds=retry_after_seconds), MAX_REST)
            self._rests_until = self._clock.now() + rest
        before = self._num_told_at_failure.get(entry.entry_id)
        self._num_told_at_failure[entry.entry_id] = self._num_told
        if before is None or before == self._num_told:
            return Failure(Fault.GATEWAY, reason, retry_after_seconds)
        self._faults[entry.entry_id] = self.num_faults(entry.entry_id) + 1
        return Failure(Fault.ENTRY, reason, retry_after_seconds)

    def _forget(self, entries: Sequence[OutboxEntry]) -> None:
        for entry in entries:
            self._faults.pop(entry.entry_id, None)
            self._num_told_at_failure.pop(entry.entry_id, None)
