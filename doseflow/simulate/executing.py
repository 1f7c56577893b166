"""
Orders at the sites: read, answered, begun, done or refused, each at its own time; the receipts that this gives.

An order that a site has not answered yet can be dropped; one that it has answered is carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from doseflow.domain.city import City
from doseflow.domain.decisions import (
    KIND_TO_FAMILY,
    Decision,
    DecisionKind,
    DoseTransfer,
    Family,
    FridgeMove,
    HoldSlots,
    MarkUnusable,
    PreCool,
    ReleaseSlots,
    SendWalkIns,
    SetPoint,
    StaffMove,
    StationChange,
    TellArrivalTime,
    acting_site_id,
    expecting_site_id,
)
from doseflow.domain.orders import OrderReceipt, ReceiptStatus
from doseflow.errors import InputWrong
from doseflow.simulate.draft import WorldDraft, draft_of, world_of
from doseflow.simulate.effects import CARRYING
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import World
from doseflow.units import datetime_from_epoch_minutes

REFUSALS: dict[Family, tuple[str, ...]] = {
    Family.STAFF: ("the person is in the middle of a consent talk", "the person has no way to get there"),
    Family.STATIONS: ("the room is being cleaned", "the screens of that station are down"),
    Family.DOSES: ("the transport box is not cooled yet", "nobody is free to count the vials out"),
    Family.COLD_CHAIN: ("nobody with the key is here", "the fridge is being serviced"),
    Family.ARRIVALS: ("the booking desk is not answering", "nobody is free to speak to people at the door"),
}
"""Why a site refuses though it could; assumed."""

_NEVER_NEGATIVE = ("people", "doses", "open_stations", "travel_minutes", "delay_minutes", "bin_idx")

_ADAPTERS: dict[DecisionKind, TypeAdapter[Any]] = {
    DecisionKind.STAFF_MOVE: TypeAdapter(StaffMove),
    DecisionKind.STATION_CHANGE: TypeAdapter(StationChange),
    DecisionKind.DOSE_TRANSFER: TypeAdapter(DoseTransfer),
    DecisionKind.FRIDGE_MOVE: TypeAdapter(FridgeMove),
    DecisionKind.PRE_COOL: TypeAdapter(PreCool),
    DecisionKind.MARK_UNUSABLE: TypeAdapter(MarkUnusable),
    DecisionKind.SET_POINT: TypeAdapter(SetPoint),
    DecisionKind.RELEASE_SLOTS: TypeAdapter(ReleaseSlots),
    DecisionKind.HOLD_SLOTS: TypeAdapter(HoldSlots),
    DecisionKind.TELL_ARRIVAL_TIME: TypeAdapter(TellArrivalTime),
    DecisionKind.SEND_WALK_INS: TypeAdapter(SendWalkIns),
}


@dataclass(frozen=True, slots=True)
class Errand:
    """An order at its site: the last receipt given for it (None before the answer), and when the next thing happens."""

    order_id: str
    decision: Decision
    status: ReceiptStatus | None
    next_at: float


@dataclass(frozen=True, slots=True)
class GivenReceipt:
    """A receipt and the order it is for."""

    order_id: str
    receipt: OrderReceipt


def decision_from_payload(payload: Any) -> Decision:
    """
    A decision as the orders API gives it: `kind` and the fields of that kind; `why` may be missing.

    Raises
    ------
    InputWrong
    """
    try:
        adapter = _ADAPTERS[DecisionKind(payload["kind"])]
        decision: Decision = adapter.validate_python({"why": {"code": "unknown"}, **payload})
    except (KeyError, TypeError, ValidationError, ValueError) as error:
        raise InputWrong(f"decision: cannot be read: {error}") from error
    return decision


def errands_of(
    orders: Iterable[Any], known: Sequence[Errand], epoch_minutes: float, params: StepParams, rng: np.random.Generator
) -> tuple[Errand, ...]:
    """
    The known errands with the new orders, each to be answered a little later.

    Orders that are no longer listed and not answered were withdrawn, and are dropped.
    """
    listed = {order["order_id"]: order for order in orders}
    kept = [errand for errand in known if errand.status is not None or errand.order_id in listed]
    have = {errand.order_id for errand in kept}
    new = [order for order_id, order in listed.items() if order_id not in have]
    minutes = rng.exponential(params.assumed.answer_minutes, len(new))
    return (
        *kept,
        *(
            Errand(order["order_id"], decision_from_payload(order["decision"]), None, epoch_minutes + after)
            for order, after in zip(new, minutes, strict=True)
        ),
    )


def carry_out(
    world: World, errands: Sequence[Errand], city: City, params: StepParams, rng: np.random.Generator
) -> tuple[World, tuple[Errand, ...], list[GivenReceipt]]:
    """Do what is due at the sites now; the world, the errands that are left, and the receipts given."""
    if not any(errand.next_at <= world.epoch_minutes for errand in errands):
        return world, tuple(errands), []
    draft = draft_of(world, city, params)
    left: list[Errand] = []
    receipts: list[GivenReceipt] = []
    for errand in errands:
        current: Errand | None = errand
        # Several steps may fall into one minute: an order that takes no time is begun and done in it.
        while current is not None and current.next_at <= world.epoch_minutes:
            current, receipt = _go_on(draft, current, rng)
            receipts += [receipt] if receipt else []
        left += [current] if current else []
    return world_of(draft), tuple(left), receipts


def _go_on(draft: WorldDraft, errand: Errand, rng: np.random.Generator) -> tuple[Errand | None, GivenReceipt | None]:
    """The next step of one errand: None when it is over."""
    if errand.status is None:
        return _answer(draft, errand, rng)
    if errand.status is ReceiptStatus.ACKNOWLEDGED:
        return _begin(draft, errand)
    reason = CARRYING[errand.decision.kind].finish(draft, errand.decision, rng)
    status = ReceiptStatus.REFUSED if reason else ReceiptStatus.DONE
    return None, _receipt(draft, errand, status, reason)


def _answer(draft: WorldDraft, errand: Errand, rng: np.random.Generator) -> tuple[Errand | None, GivenReceipt | None]:
    assumed, reasons = draft.params.assumed, REFUSALS[KIND_TO_FAMILY[errand.decision.kind]]
    refuses, which, after = rng.random(), rng.integers(len(reasons)), rng.exponential(assumed.leave_minutes)
    unknown = [
        site_id
        for site_id in (acting_site_id(errand.decision), expecting_site_id(errand.decision))
        if site_id is not None and site_id not in draft.city.site_to_idx
    ]
    if unknown:
        return None, _receipt(draft, errand, ReceiptStatus.REFUSED, f"there is no site {unknown[0]}")
    if any(getattr(errand.decision, name, 0) < 0 for name in _NEVER_NEGATIVE):
        return None, _receipt(draft, errand, ReceiptStatus.REFUSED, "a quantity below 0 cannot be carried out")
    if refuses < assumed.refusal_share:
        return None, _receipt(draft, errand, ReceiptStatus.REFUSED, reasons[which])
    acknowledged = replace(errand, status=ReceiptStatus.ACKNOWLEDGED, next_at=draft.now + after)
    return acknowledged, _receipt(draft, errand, ReceiptStatus.ACKNOWLEDGED, "")


def _begin(draft: WorldDraft, errand: Errand) -> tuple[Errand | None, GivenReceipt | None]:
    outcome = CARRYING[errand.decision.kind].begin(draft, errand.decision)
    if isinstance(outcome, str):
        return None, _receipt(draft, errand, ReceiptStatus.REFUSED, outcome)
    begun = replace(errand, status=ReceiptStatus.UNDER_WAY, next_at=outcome)
    # What takes no time is reported once, as done.
    return begun, _receipt(draft, errand, ReceiptStatus.UNDER_WAY, "") if outcome > draft.now else None


def _receipt(draft: WorldDraft, errand: Errand, status: ReceiptStatus, reason: str) -> GivenReceipt:
    receipt = OrderReceipt(
        status=status,
        at=datetime_from_epoch_minutes(draft.now),
        receipt_id=f"{errand.order_id[:80]}-{status}",
        reason=reason,
    )
    return GivenReceipt(errand.order_id, receipt)
