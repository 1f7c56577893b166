"""The one schema. What each table keeps, and for how long, stands in docs/reference/store.md."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Date,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from doseflow.store.columns import GrowingKey, Moment, OutsideText

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_NOT_TAKEN = text("cycle_id IS NULL")
_WAITING = text("delivered_at IS NULL AND dead_at IS NULL")
_DEAD = text("delivered_at IS NULL AND dead_at IS NOT NULL")
_REFUSED = text("state = 'refused'")
_IN_FORCE = text("lifted_at IS NULL")

cities = Table(
    "cities",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("city_id", String(100), nullable=False),
    Column("city", LargeBinary, nullable=False),
)

cycles = Table(
    "cycles",
    metadata,
    Column("cycle_no", GrowingKey, primary_key=True),
    Column("cycle_id", String(100), nullable=False, unique=True),
    Column("city_digest", ForeignKey("cities.digest"), nullable=False),
    Column("started_at", Moment, nullable=False, index=True),
    Column("completed_at", Moment, nullable=False),
    Column("planner", String(100), nullable=False),
    Column("why_this_planner", Text, nullable=False),
    Column("forecaster", String(100), nullable=False),
    Column("repair_path", String(20), nullable=False),
    Column("num_sites", Integer, nullable=False),
    Column("num_reports", Integer, nullable=False),
    Column("num_orders", Integer, nullable=False),
    Column("num_withdrawn", Integer, nullable=False),
    Column("plan_digest", String(64), nullable=False),
    Column("infeasible", Text),
    Column("stage_milliseconds", Text, nullable=False),
    Column("audit_entry_no", GrowingKey),
    Column("audit_digest", String(64)),
)

cycle_inputs = Table(
    "cycle_inputs",
    metadata,
    Column("cycle_id", ForeignKey("cycles.cycle_id"), primary_key=True),
    Column("codec", String(20), nullable=False),
    Column("state", LargeBinary, nullable=False),
)

plans = Table(
    "plans",
    metadata,
    Column("cycle_id", ForeignKey("cycles.cycle_id"), primary_key=True),
    Column("plan", LargeBinary, nullable=False),
)

reports = Table(
    "reports",
    metadata,
    Column("report_no", GrowingKey, primary_key=True),
    Column("site_id", String(100), nullable=False),
    Column("report_id", OutsideText(100), nullable=False),
    Column("valid_at", Moment, nullable=False),
    Column("received_at", Moment, nullable=False),
    Column("arrivals_people", Integer),
    Column("cycle_id", ForeignKey("cycles.cycle_id")),
    Column("raw", LargeBinary, nullable=False),
    # What PostgreSQL partitions by, and so must stand in every key of the table.
    Column("valid_month", Date, nullable=False),
    # The report's id leads: ids that grow with time keep the pages being written few.
    UniqueConstraint("report_id", "site_id", "valid_month"),
    Index("ix_reports_pending", "report_no", sqlite_where=_NOT_TAKEN, postgresql_where=_NOT_TAKEN),
    # Holds all that the arrival history reads, in the order in which later readings win.
    Index("ix_reports_arrivals", "valid_at", "report_no", "site_id", "arrivals_people"),
)

quarantine = Table(
    "quarantine",
    metadata,
    Column("quarantine_id", GrowingKey, primary_key=True),
    Column("received_at", Moment, nullable=False),
    Column("site_id", OutsideText),
    Column("field", OutsideText, nullable=False),
    Column("reason", OutsideText, nullable=False),
    Column("raw", LargeBinary, nullable=False),
    Column("num_bytes", Integer, nullable=False),
)

arrival_days = Table(
    "arrival_days",
    metadata,
    Column("day_on", Date, primary_key=True),
    Column("site_id", String(100), primary_key=True),
    Column("people", LargeBinary, nullable=False),
)

orders = Table(
    "orders",
    metadata,
    Column("order_no", GrowingKey, primary_key=True),
    Column("order_id", String(100), nullable=False, unique=True),
    Column("cycle_id", ForeignKey("cycles.cycle_id"), nullable=False),
    Column("site_id", String(100), nullable=False),
    Column("expecting_site_id", String(100)),
    Column("decision_key", Text, nullable=False),
    Column("quantity", Float, nullable=False),
    Column("decision", Text, nullable=False),
    Column("reason_en", Text, nullable=False),
    Column("reason_zh", Text, nullable=False),
    Column("state", String(20), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("due_at", Moment, nullable=False),
    Column("changed_at", Moment, nullable=False),
    Column("refusal_reason", OutsideText, nullable=False),
    Column("approval", String(20), nullable=False, server_default="automatic"),
    Column("decide_by", Moment),
    Column("may_be_undone", Integer, nullable=False, server_default="0"),
    Index("ix_orders_state", "state", "order_no"),
    Index("ix_orders_refused", "due_at", sqlite_where=_REFUSED, postgresql_where=_REFUSED),
    Index("ix_orders_site", "site_id", "order_no"),
)

receipts = Table(
    "receipts",
    metadata,
    Column("order_id", ForeignKey("orders.order_id"), primary_key=True),
    Column("receipt_key", OutsideText(110), primary_key=True),
    Column("status", String(20), nullable=False),
    Column("at", Moment, nullable=False),
    Column("reason", OutsideText, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("entry_id", GrowingKey, primary_key=True),
    Column("order_id", ForeignKey("orders.order_id"), nullable=False),
    Column("topic", String(20), nullable=False),
    Column("site_id", String(100), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_attempt_at", Moment, nullable=False),
    Column("delivered_at", Moment),
    Column("dead_at", Moment),
    Column("last_error", OutsideText, nullable=False),
    Column("gateway", String(100), nullable=False),
    Column("put_at", Moment, nullable=False),
    Index("ix_outbox_order", "order_id"),
    Index("ix_outbox_waiting", "gateway", "site_id", "entry_id", sqlite_where=_WAITING, postgresql_where=_WAITING),
    Index("ix_outbox_dead", "entry_id", sqlite_where=_DEAD, postgresql_where=_DEAD),
    # A row that was deleted must not leave its number to another: somebody may be telling it just now.
    sqlite_autoincrement=True,
)

commands = Table(
    "commands",
    metadata,
    Column("command_no", GrowingKey, primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("subject", Text, nullable=False),
    Column("decision", Text),
    Column("set_at", Moment, nullable=False),
    Column("lifted_at", Moment),
    Index("ix_commands_in_force", "kind", "subject", unique=True, sqlite_where=_IN_FORCE, postgresql_where=_IN_FORCE),
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("entry_no", GrowingKey, primary_key=True, autoincrement=False),
    Column("at", Moment, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("previous_digest", String(64), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
)

presses = Table(
    "presses",
    metadata,
    Column("pressed_by", OutsideText, primary_key=True),
    Column("client_key", OutsideText, primary_key=True),
    Column("wish_digest", String(64), nullable=False),
    Column("answer", Text, nullable=False),
    Column("pressed_at", Moment, nullable=False),
)

handovers = Table(
    "handovers",
    metadata,
    Column("handover_id", GrowingKey, primary_key=True),
    Column("from_officer", OutsideText, nullable=False),
    Column("to_officer", OutsideText, nullable=False),
    Column("note", OutsideText, nullable=False),
    Column("open_items", Text, nullable=False),
    Column("given_by", OutsideText, nullable=False),
    Column("given_at", Moment, nullable=False),
    Column("confirmed_by", OutsideText),
    Column("confirmed_at", Moment),
)

playbooks = Table(
    "playbooks",
    metadata,
    Column("playbook_no", GrowingKey, primary_key=True),
    Column("playbook_id", String(100), nullable=False, unique=True),
    Column("content", Text, nullable=False),
    Column("started_at", Moment, nullable=False),
    Column("ended_at", Moment),
)

appointments = Table(
    "appointments",
    metadata,
    Column("source", String(100), primary_key=True),
    Column("id_hash", String(32), primary_key=True),
    Column("site_id", String(100)),
    Column("place", OutsideText, nullable=False),
    Column("starts_at", Moment),
    Column("ends_at", Moment),
    Column("people", Integer),
    Column("status", String(20), nullable=False),
    Column("changed_at", Moment, nullable=False),
    Column("version", Integer, nullable=False),
    Column("received_at", Moment, nullable=False),
    # Holds all that the counting of the coming two hours reads.
    Index("ix_appointments_booked", "status", "starts_at", "site_id", "people"),
)

appointment_slots = Table(
    "appointment_slots",
    metadata,
    Column("source", String(100), primary_key=True),
    Column("slot_key", OutsideText(200), primary_key=True),
    Column("site_id", String(100)),
    Column("place", OutsideText, nullable=False),
    Column("starts_at", Moment, nullable=False),
    Column("ends_at", Moment, nullable=False),
    Column("status", String(20), nullable=False),
    Column("capacity_left", Integer),
    Column("received_at", Moment, nullable=False),
    Index("ix_appointment_slots_ends", "ends_at"),
)

appointment_messages = Table(
    "appointment_messages",
    metadata,
    Column("source", String(100), primary_key=True),
    Column("message_hash", String(32), primary_key=True),
    Column("received_at", Moment, nullable=False),
)

appointment_sites = Table(
    "appointment_sites",
    metadata,
    Column("source", String(100), primary_key=True),
    Column("site_id", String(100), primary_key=True),
    Column("first_told_at", Moment, nullable=False),
    Column("told_at", Moment, nullable=False),
)

booking_reports = Table(
    "booking_reports",
    metadata,
    Column("site_id", String(100), primary_key=True),
    Column("report_id", String(100), nullable=False),
)

doses_told = Table(
    "doses_told",
    metadata,
    Column("source", String(100), primary_key=True),
    Column("site_id", String(100), primary_key=True),
    Column("given_on", Date, primary_key=True),
    Column("doses", Integer, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_digest", String(64), primary_key=True),
    Column("name", OutsideText(200), nullable=False, index=True),
    Column("roles", Text, nullable=False),
    Column("site_ids", OutsideText),
    Column("way", String(20), nullable=False),
    Column("began_at", Moment, nullable=False),
    Column("seen_at", Moment, nullable=False),
    Column("ends_at", Moment, nullable=False),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("prefix", String(20), primary_key=True),
    Column("secret_digest", String(64), nullable=False),
    Column("name", OutsideText(200), nullable=False),
    Column("roles", Text, nullable=False),
    Column("site_ids", OutsideText),
    Column("made_at", Moment, nullable=False),
    Column("ends_at", Moment),
    Column("revoked_at", Moment),
)

gateways = Table(
    "gateways",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("set_up_at", Moment, nullable=False),
    Column("position", OutsideText),
)

push_subscriptions = Table(
    "push_subscriptions",
    metadata,
    Column("endpoint", OutsideText, primary_key=True),
    Column("site_id", String(100), primary_key=True),
    Column("caller", OutsideText, nullable=False),
    Column("public_key", String(200), nullable=False),
    Column("auth", String(100), nullable=False),
    Column("language", String(2), nullable=False),
    Column("set_at", Moment, nullable=False),
    Index("ix_push_subscriptions_site", "site_id"),
)

sources = Table(
    "sources",
    metadata,
    Column("source", OutsideText(100), primary_key=True),
    Column("last_ok_at", Moment),
    Column("last_failed_at", Moment),
    Column("last_error", OutsideText, nullable=False),
    Column("num_ok", Integer, nullable=False),
    Column("num_failed", Integer, nullable=False),
)

unknown_codes = Table(
    "unknown_codes",
    metadata,
    Column("source", OutsideText(100), primary_key=True),
    Column("system", OutsideText(100), primary_key=True),
    Column("code", OutsideText(100), primary_key=True),
    Column("text", OutsideText, nullable=False),
    Column("first_seen_at", Moment, nullable=False),
    Column("last_seen_at", Moment, nullable=False),
    Column("count", Integer, nullable=False),
)

unmapped_ids = Table(
    "unmapped_ids",
    metadata,
    Column("source", OutsideText(100), primary_key=True),
    Column("outside_id", OutsideText(100), primary_key=True),
    Column("first_seen_at", Moment, nullable=False),
    Column("last_seen_at", Moment, nullable=False),
    Column("count", Integer, nullable=False),
)

logger_points = Table(
    "logger_points",
    metadata,
    Column("logger_id", OutsideText(100), primary_key=True),
    Column("at", Moment, primary_key=True),
    Column("temperature_celsius", Float),
)
