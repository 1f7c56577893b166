"""
Decision <-> JSON, for all eleven kinds, and back without a difference.

A decision's JSON is its own fields under their names, so that the plan, the orders and the commitments read alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from typing import Any

import orjson

from doseflow.domain.decisions import (
    Decision,
    DecisionKind,
    DoseTransfer,
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
    Why,
)
from doseflow.domain.roles import Role, Stage
from doseflow.store.json_bytes import json_bytes

KIND_TO_CLASS: dict[DecisionKind, type[Decision]] = {
    DecisionKind.STAFF_MOVE: StaffMove,
    DecisionKind.STATION_CHANGE: StationChange,
    DecisionKind.DOSE_TRANSFER: DoseTransfer,
    DecisionKind.FRIDGE_MOVE: FridgeMove,
    DecisionKind.PRE_COOL: PreCool,
    DecisionKind.MARK_UNUSABLE: MarkUnusable,
    DecisionKind.SET_POINT: SetPoint,
    DecisionKind.RELEASE_SLOTS: ReleaseSlots,
    DecisionKind.HOLD_SLOTS: HoldSlots,
    DecisionKind.TELL_ARRIVAL_TIME: TellArrivalTime,
    DecisionKind.SEND_WALK_INS: SendWalkIns,
}

KIND_TO_FIELDS: dict[DecisionKind, tuple[str, ...]] = {
    kind: tuple(one.name for one in fields(cls)) for kind, cls in KIND_TO_CLASS.items()
}


DecisionIdentity = tuple[str, float]
"""Key (as text) and quantity: what a decision and the order for it are matched by."""


def key_text(decision: Decision) -> str:
    """The key of a decision as text."""
    return json_bytes(decision.key).decode()


def identity(decision: Decision) -> DecisionIdentity:
    """Key and quantity of a decision."""
    return key_text(decision), float(decision.quantity)


def decision_to_json(decision: Decision) -> str:
    """The JSON of a decision; a figure that is not known (NaN) is null."""
    return json_bytes(decision).decode()


@lru_cache(maxsize=8192)
def decision_from_json(text: str) -> Decision:
    """The decision of its JSON; an order's is read several times a cycle, and parsed once."""
    return decision_from_dict(orjson.loads(text))


def decision_from_dict(values: dict[str, Any]) -> Decision:
    """The decision of its JSON, already parsed; keys that are no field of it are passed over."""
    kind = DecisionKind(values["kind"])
    return KIND_TO_CLASS[kind](**{name: _read(name, values[name]) for name in KIND_TO_FIELDS[kind]})


def _read(name: str, value: Any) -> Any:
    reader = _READERS.get(name)
    if reader is not None:
        return reader(value)
    return math.nan if value is None else value


def _why(value: dict[str, Any]) -> Why:
    return Why(value["code"], {name: math.nan if fact is None else fact for name, fact in value["facts"].items()})


_READERS: dict[str, Callable[[Any], Any]] = {
    "kind": DecisionKind,
    "role": Role,
    "works_as": Role,
    "stage": Stage,
    "shift_ends_at": datetime.fromisoformat,
    "why": _why,
}
