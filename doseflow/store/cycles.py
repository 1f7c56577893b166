"""Cycles: the record of each, its plan as sent, and the state it was planned on."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import Connection, delete, select, update

from doseflow.domain.audit import AuditHead
from doseflow.domain.cycle import Cycle
from doseflow.errors import CycleNotFound, PlanNotFound
from doseflow.store.audit import head_of
from doseflow.store.columns import AnyRow
from doseflow.store.insert_new import insert_new
from doseflow.store.json_bytes import json_bytes
from doseflow.store.plan_digest import plan_digest
from doseflow.store.state_codec import CODEC, READABLE_CODECS
from doseflow.store.tables import cycle_inputs, cycles, plans

CycleRecord = dict[str, Any]


def insert_cycle(connection: Connection, cycle: Cycle, city_digest: str, num_reports: int) -> bool:
    """Keep the record of a cycle; False where it is there already."""
    plan, head = cycle.plan, head_of(connection)
    total = timedelta(milliseconds=sum(cycle.stage_milliseconds.values()))
    row = {
        "cycle_id": cycle.cycle_id,
        "city_digest": city_digest,
        "started_at": cycle.started_at,
        "completed_at": cycle.started_at + total,
        "planner": plan.planner,
        "why_this_planner": plan.why_this_planner,
        "forecaster": cycle.forecast.forecaster,
        "repair_path": plan.repair_path.value,
        "num_sites": cycle.state.city.num_sites,
        "num_reports": num_reports,
        "num_orders": len(cycle.new_orders),
        "num_withdrawn": len(cycle.withdrawn_order_ids),
        "plan_digest": plan_digest(plan),
        "infeasible": None if cycle.infeasible is None else json_bytes(cycle.infeasible).decode(),
        "stage_milliseconds": json_bytes(cycle.stage_milliseconds).decode(),
        "audit_entry_no": head.entry_no,
        "audit_digest": head.digest,
    }
    statement = insert_new(connection, cycles).returning(cycles.c.cycle_id)
    return connection.execute(statement, row).one_or_none() is not None


def insert_plan(connection: Connection, cycle_id: str, plan: bytes, state: bytes) -> None:
    """Keep a cycle's plan and the state it was planned on."""
    connection.execute(cycle_inputs.insert(), {"cycle_id": cycle_id, "codec": CODEC, "state": state})
    connection.execute(plans.insert(), {"cycle_id": cycle_id, "plan": plan})


def correct_counts(connection: Connection, cycle_id: str, num_orders: int, num_withdrawn: int) -> None:
    """Put the numbers that were really made where an answer of a site came in between."""
    counts = {"num_orders": num_orders, "num_withdrawn": num_withdrawn}
    connection.execute(update(cycles).where(cycles.c.cycle_id == cycle_id).values(counts))


def latest_record(connection: Connection) -> CycleRecord | None:
    """The record of the cycle that was kept last."""
    row = connection.execute(select(cycles).order_by(cycles.c.cycle_no.desc()).limit(1)).one_or_none()
    return None if row is None else _record(row)


def read_record(connection: Connection, cycle_id: str) -> CycleRecord:
    """
    The record of a cycle.

    Raises
    ------
    CycleNotFound
    """
    row = connection.execute(select(cycles).where(cycles.c.cycle_id == cycle_id)).one_or_none()
    if row is None:
        raise CycleNotFound(f"no cycle has the id {cycle_id!r}")
    return _record(row)


def ids_with_inputs(connection: Connection, city_digest: str, start: datetime, end: datetime) -> list[str]:
    """Ids of a city's cycles from `start` to before `end` whose inputs are kept, oldest first."""
    statement = (
        select(cycles.c.cycle_id)
        .join(cycle_inputs, cycle_inputs.c.cycle_id == cycles.c.cycle_id)
        .where(cycles.c.city_digest == city_digest, cycles.c.started_at >= start, cycles.c.started_at < end)
        .where(cycle_inputs.c.codec.in_(READABLE_CODECS))
        .order_by(cycles.c.cycle_no)
    )
    return list(connection.execute(statement).scalars())


def read_inputs(connection: Connection, cycle_id: str) -> bytes:
    """
    The state of a cycle, as bytes.

    Raises
    ------
    CycleNotFound
        The inputs are no longer kept, or another version has written them.
    """
    table = cycle_inputs.c
    row = connection.execute(select(table.codec, table.state).where(table.cycle_id == cycle_id)).one_or_none()
    if row is None:
        raise CycleNotFound(f"the inputs of cycle {cycle_id} are no longer kept; only its plan is")
    if row.codec not in READABLE_CODECS:
        readable = " and ".join(READABLE_CODECS)
        raise CycleNotFound(f"the inputs of cycle {cycle_id} are written as {row.codec}; this version reads {readable}")
    state: bytes = row.state
    return state


def latest_inputs(connection: Connection, city_digest: str | None) -> tuple[str, bytes] | None:
    """City digest and state of the latest cycle whose inputs are kept, of one city or of any."""
    statement = (
        select(cycles.c.city_digest, cycle_inputs.c.state)
        .join(cycle_inputs, cycle_inputs.c.cycle_id == cycles.c.cycle_id)
        .where(cycle_inputs.c.codec.in_(READABLE_CODECS))
        .order_by(cycles.c.cycle_no.desc())
        .limit(1)
    )
    if city_digest is not None:
        statement = statement.where(cycles.c.city_digest == city_digest)
    row = connection.execute(statement).one_or_none()
    return None if row is None else (row.city_digest, row.state)


def read_plan(connection: Connection, plan_id: str) -> dict[str, Any]:
    """
    A plan as it was sent.

    Raises
    ------
    PlanNotFound
    """
    data = connection.execute(select(plans.c.plan).where(plans.c.cycle_id == plan_id)).scalar_one_or_none()
    if data is None:
        raise PlanNotFound(f"no plan has the id {plan_id!r}")
    plan: dict[str, Any] = orjson.loads(data)
    return plan


def forget_inputs_before(connection: Connection, moment: datetime) -> int:
    """Drop the inputs of cycles that started before a moment; how many."""
    old = select(cycles.c.cycle_id).where(cycles.c.started_at < moment)
    return connection.execute(delete(cycle_inputs).where(cycle_inputs.c.cycle_id.in_(old))).rowcount


def _record(row: AnyRow) -> CycleRecord:
    return {
        "cycle_id": row.cycle_id,
        "started_at": row.started_at.isoformat(),
        "completed_at": row.completed_at.isoformat(),
        "planner": row.planner,
        "why_this_planner": row.why_this_planner,
        "forecaster": row.forecaster,
        "repair_path": row.repair_path,
        "sites": row.num_sites,
        "reports": row.num_reports,
        "orders": row.num_orders,
        "withdrawn": row.num_withdrawn,
        "city_digest": row.city_digest,
        "plan_digest": row.plan_digest,
        "infeasible": None if row.infeasible is None else orjson.loads(row.infeasible),
        "stage_milliseconds": orjson.loads(row.stage_milliseconds),
        "audit_head": None if row.audit_digest is None else str(AuditHead(row.audit_entry_no, row.audit_digest)),
    }
