"""
How answers come back from outside systems that do not knock at a door of ours: one loop for each.

A loop logs what goes wrong, backs off, and ends when it is told to; it never ends the service.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from doseflow.domain.orders import OrderReceipt
from doseflow.errors import DoseflowError, GatewayFailed, ReceiptRefused
from doseflow.gateways.fhir_tasks import FhirTasks, newest_change
from doseflow.gateways.mqtt_orders import MqttOrders
from doseflow.intake.addressed_receipt import read_addressed_receipt
from doseflow.intake.fhir_receipt import TASK_STATUS_SYSTEM, moment_of, read_task
from doseflow.ports import Clock

FIRST_POLL_REACHES_BACK = timedelta(hours=24)
FIRST_WAIT_SECONDS = 1.0
MAX_WAIT_SECONDS = 60.0
log = structlog.get_logger(__name__)


class ReceiptDesk(Protocol):
    """Takes what a site says of an order, and what nobody understands of it."""

    def take(self, source: str, order_id: str, receipt: OrderReceipt, site_id: str | None = None) -> None:
        """Apply a receipt; one that is late, repeated or of another site moves nothing and is no error."""

    def note_unknown(self, source: str, system: str, code: str, text: str) -> None:
        """Keep a code that nobody knows."""

    def mark(self, source: str, ok: bool, text: str = "") -> None:
        """Note that the source was heard, or that it failed and why."""


class Positions(Protocol):
    """Keeps how far each gateway has been read."""

    def position(self, gateway: str) -> str | None:
        """Where to go on."""

    def go_on_from(self, gateway: str, position: str) -> None:
        """Keep it."""


async def poll_tasks(fhir: FhirTasks, desk: ReceiptDesk, positions: Positions, clock: Clock) -> None:
    """
    Take what a FHIR server says of our Tasks since the last look.

    The position moves on after everything is stored: what is cut off is read again, which changes nothing.

    Raises
    ------
    GatewayFailed, StoreUnavailable
    """
    kept = moment_of(await asyncio.to_thread(positions.position, fhir.name))
    since = kept or clock.now() - FIRST_POLL_REACHES_BACK
    tasks = [task async for task in fhir.tasks_since(since)]
    for task in tasks:
        await asyncio.to_thread(take_task, desk, fhir.name, task, fhir.system, clock.now())
    newest = newest_change(tasks, since)
    if newest != kept:
        await asyncio.to_thread(positions.go_on_from, fhir.name, newest.isoformat())


def take_task(desk: ReceiptDesk, source: str, task: object, system: str, now: datetime) -> None:
    """Take one Task; one of somebody else's is passed over."""
    try:
        told = read_task(task, system, now)
    except ReceiptRefused as error:
        log.info("task_passed_over", source=source, reason=str(error))
        return
    if told.unknown_status:
        desk.note_unknown(source, TASK_STATUS_SYSTEM, told.unknown_status, f"status of the task of {told.order_id}")
    if told.receipt is not None:
        desk.take(source, told.order_id, told.receipt)


async def run_fhir_poll(
    fhir: FhirTasks, desk: ReceiptDesk, positions: Positions, clock: Clock, poll_seconds: float, stop: asyncio.Event
) -> None:
    """Ask a FHIR server for answers every `poll_seconds`, later and later while it does not answer."""
    wait_seconds = poll_seconds
    while not await _stopped_within(stop, wait_seconds):
        try:
            await poll_tasks(fhir, desk, positions, clock)
            wait_seconds = poll_seconds
            await asyncio.to_thread(desk.mark, fhir.name, True)
        except Exception as error:  # noqa: BLE001 - the loop is the boundary: it must go on whatever the peer sends
            wait_seconds = max(poll_seconds, min(wait_seconds * 2, MAX_WAIT_SECONDS))
            await _note_failure(desk, fhir.name, error)


async def run_mqtt_receipts(mqtt: MqttOrders, desk: ReceiptDesk, clock: Clock, stop: asyncio.Event) -> None:
    """Listen for receipts, and connect again for as long as it takes."""
    wait_seconds = FIRST_WAIT_SECONDS
    while not stop.is_set():
        began = clock.monotonic_seconds()
        listening = asyncio.create_task(mqtt.receive(receipt_taker(desk, mqtt.name, clock)))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({listening, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not listening.done():
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            return
        await _note_failure(desk, mqtt.name, listening.exception() or GatewayFailed("the broker hung up"))
        stood = clock.monotonic_seconds() - began > MAX_WAIT_SECONDS
        wait_seconds = FIRST_WAIT_SECONDS if stood else min(wait_seconds * 2, MAX_WAIT_SECONDS)
        await _stopped_within(stop, wait_seconds)


def receipt_taker(desk: ReceiptDesk, source: str, clock: Clock) -> Callable[[str, bytes], None]:
    """What takes a message of a site; one that is no receipt is logged, and not asked for again."""

    def take(site_id: str, body: bytes) -> None:
        try:
            order_id, receipt = read_addressed_receipt(body, clock.now())
        except ReceiptRefused as error:
            log.warning("receipt_malformed", source=source, site_id=site_id, reason=str(error))
            desk.mark(source, False, f"{site_id}: {error}")
            return
        desk.take(source, order_id, receipt, site_id)
        desk.mark(source, True)

    return take


async def _note_failure(desk: ReceiptDesk, source: str, error: BaseException) -> None:
    if isinstance(error, DoseflowError):
        log.warning("way_back_failed", source=source, reason=str(error))
    else:
        log.error("way_back_failed", source=source, exc_info=error)
    try:
        await asyncio.to_thread(desk.mark, source, False, str(error))
    except DoseflowError as trouble:
        log.warning("source_not_marked", source=source, reason=str(trouble))


async def _stopped_within(stop: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(stop.wait(), timeout=seconds)
    except TimeoutError:
        return False
    return True
