"""What the sites of a simulated city do between two cycles: take their orders, carry them out, answer."""

from __future__ import annotations

import asyncio
import contextlib

import orjson

from doseflow.bootstrap import OpenCity, load_history
from doseflow.dispatch.relay import relay_once
from doseflow.domain.orders import OrderState
from doseflow.errors import NotFound, ReceiptRefused
from doseflow.intake.receipt_body import read_receipt
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.web.order_view import order_as_json


def join_reports(reports: list[bytes]) -> bytes:
    """One body of many reports; a report that is not even UTF-8 stays as it is."""
    return b"[" + b",".join(reports) + b"]"


def import_past_weeks(opened: OpenCity, city: SimulatedCity) -> None:
    """Give the store the arrivals of the four weeks before, and the living city its history."""
    for day_on, site_ids, people in city.past_weeks_arrivals():
        opened.store.reports.import_arrivals(day_on, site_ids, people)
    opened.live.use_history(load_history(opened.store, city.city, opened.live.clock))


def hand_over_orders(opened: OpenCity, city: SimulatedCity) -> None:
    """Hand orders over without HTTP: for benchmarks, where only the cycle is measured."""
    asyncio.run(relay_once(opened.live.outbox, opened.gateways, opened.live.clock, opened.settings.relay))
    sent = opened.live.plans.orders(states=(OrderState.SENT,))
    city.take_orders([order_as_json(order) for order in sent])


def bring_receipts(opened: OpenCity, city: SimulatedCity) -> None:
    """Bring the sites' receipts of the last minutes back without HTTP."""
    for order_id, receipt in city.receipts():
        with contextlib.suppress(ReceiptRefused, NotFound):  # withdrawn or expired meanwhile: that is all it means
            opened.live.record_receipt(order_id, read_receipt(orjson.dumps(receipt), opened.live.clock.now()))
