"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# Frozen here: a later change of doseflow.store.columns must not change what this migration makes.
MOMENT = sa.DateTime(timezone=True).with_variant(sa.String(32), "sqlite")
GROWING_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "arrival_days",
        sa.Column("day_on", sa.Date(), nullable=False),
        sa.Column("site_id", sa.String(length=100), nullable=False),
        sa.Column("people", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("day_on", "site_id", name="pk_arrival_days"),
    )
    op.create_table(
        "cities",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("city_id", sa.String(length=100), nullable=False),
        sa.Column("city", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_cities"),
    )
    op.create_table(
        "commands",
        sa.Column("command_no", GROWING_KEY, nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.Column("set_at", MOMENT, nullable=False),
        sa.Column("lifted_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("command_no", name="pk_commands"),
    )
    op.create_index(
        "ix_commands_in_force",
        "commands",
        ["kind", "subject"],
        unique=True,
        sqlite_where=sa.text("lifted_at IS NULL"),
        postgresql_where=sa.text("lifted_at IS NULL"),
    )
    op.create_table(
        "quarantine",
        sa.Column("quarantine_id", GROWING_KEY, nullable=False),
        sa.Column("received_at", MOMENT, nullable=False),
        sa.Column("site_id", sa.Text(), nullable=True),
        sa.Column("field", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.Column("num_bytes", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("quarantine_id", name="pk_quarantine"),
    )
    op.create_table(
        "cycles",
        sa.Column("cycle_no", GROWING_KEY, nullable=False),
        sa.Column("cycle_id", sa.String(length=100), nullable=False),
        sa.Column("city_digest", sa.String(length=64), nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("completed_at", MOMENT, nullable=False),
        sa.Column("planner", sa.String(length=100), nullable=False),
        sa.Column("why_this_planner", sa.Text(), nullable=False),
        sa.Column("forecaster", sa.String(length=100), nullable=False),
        sa.Column("repair_path", sa.String(length=20), nullable=False),
        sa.Column("num_sites", sa.Integer(), nullable=False),
        sa.Column("num_reports", sa.Integer(), nullable=False),
        sa.Column("num_orders", sa.Integer(), nullable=False),
        sa.Column("num_withdrawn", sa.Integer(), nullable=False),
        sa.Column("plan_digest", sa.String(length=64), nullable=False),
        sa.Column("infeasible", sa.Text(), nullable=True),
        sa.Column("stage_milliseconds", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["city_digest"], ["cities.digest"], name="fk_cycles_city_digest_cities"),
        sa.PrimaryKeyConstraint("cycle_no", name="pk_cycles"),
        sa.UniqueConstraint("cycle_id", name="uq_cycles_cycle_id"),
    )
    op.create_index("ix_cycles_started_at", "cycles", ["started_at"], unique=False)
    op.create_table(
        "cycle_inputs",
        sa.Column("cycle_id", sa.String(length=100), nullable=False),
        sa.Column("codec", sa.String(length=20), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["cycle_id"], ["cycles.cycle_id"], name="fk_cycle_inputs_cycle_id_cycles"),
        sa.PrimaryKeyConstraint("cycle_id", name="pk_cycle_inputs"),
    )
    op.create_table(
        "orders",
        sa.Column("order_no", GROWING_KEY, nullable=False),
        sa.Column("order_id", sa.String(length=100), nullable=False),
        sa.Column("cycle_id", sa.String(length=100), nullable=False),
        sa.Column("site_id", sa.String(length=100), nullable=False),
        sa.Column("expecting_site_id", sa.String(length=100), nullable=True),
        sa.Column("decision_key", sa.Text(), nullable=False),
        sa.Column("quantity", sa.Float(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.Column("reason_en", sa.Text(), nullable=False),
        sa.Column("reason_zh", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("due_at", MOMENT, nullable=False),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.Column("refusal_reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["cycle_id"], ["cycles.cycle_id"], name="fk_orders_cycle_id_cycles"),
        sa.PrimaryKeyConstraint("order_no", name="pk_orders"),
        sa.UniqueConstraint("order_id", name="uq_orders_order_id"),
    )
    op.create_index("ix_orders_site", "orders", ["site_id", "order_no"], unique=False)
    op.create_index("ix_orders_state", "orders", ["state", "order_no"], unique=False)
    op.create_index(
        "ix_orders_refused",
        "orders",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("state = 'refused'"),
        postgresql_where=sa.text("state = 'refused'"),
    )
    op.create_table(
        "plans",
        sa.Column("cycle_id", sa.String(length=100), nullable=False),
        sa.Column("plan", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["cycle_id"], ["cycles.cycle_id"], name="fk_plans_cycle_id_cycles"),
        sa.PrimaryKeyConstraint("cycle_id", name="pk_plans"),
    )
    op.create_table(
        "reports",
        sa.Column("report_no", GROWING_KEY, nullable=False),
        sa.Column("site_id", sa.String(length=100), nullable=False),
        sa.Column("report_id", sa.String(100), nullable=False),
        sa.Column("valid_at", MOMENT, nullable=False),
        sa.Column("received_at", MOMENT, nullable=False),
        sa.Column("arrivals_people", sa.Integer(), nullable=True),
        sa.Column("cycle_id", sa.String(length=100), nullable=True),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["cycle_id"], ["cycles.cycle_id"], name="fk_reports_cycle_id_cycles"),
        sa.PrimaryKeyConstraint("report_no", name="pk_reports"),
        sa.UniqueConstraint("report_id", "site_id", name="uq_reports_report_id_site_id"),
    )
    op.create_index(
        "ix_reports_arrivals", "reports", ["valid_at", "report_no", "site_id", "arrivals_people"], unique=False
    )
    op.create_index(
        "ix_reports_pending",
        "reports",
        ["report_no"],
        unique=False,
        sqlite_where=sa.text("cycle_id IS NULL"),
        postgresql_where=sa.text("cycle_id IS NULL"),
    )
    op.create_table(
        "outbox",
        sa.Column("entry_id", GROWING_KEY, nullable=False),
        sa.Column("order_id", sa.String(length=100), nullable=False),
        sa.Column("topic", sa.String(length=20), nullable=False),
        sa.Column("site_id", sa.String(length=100), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_attempt_at", MOMENT, nullable=False),
        sa.Column("delivered_at", MOMENT, nullable=True),
        sa.Column("dead_at", MOMENT, nullable=True),
        sa.Column("last_error", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["order_id"], ["orders.order_id"], name="fk_outbox_order_id_orders"),
        sa.PrimaryKeyConstraint("entry_id", name="pk_outbox"),
    )
    op.create_index("ix_outbox_order", "outbox", ["order_id"], unique=False)
    op.create_index(
        "ix_outbox_waiting",
        "outbox",
        ["entry_id"],
        unique=False,
        sqlite_where=sa.text("delivered_at IS NULL AND dead_at IS NULL"),
        postgresql_where=sa.text("delivered_at IS NULL AND dead_at IS NULL"),
    )
    op.create_index(
        "ix_outbox_dead",
        "outbox",
        ["entry_id"],
        unique=False,
        sqlite_where=sa.text("delivered_at IS NULL AND dead_at IS NOT NULL"),
        postgresql_where=sa.text("delivered_at IS NULL AND dead_at IS NOT NULL"),
    )
    op.create_table(
        "receipts",
        sa.Column("order_id", sa.String(length=100), nullable=False),
        sa.Column("receipt_key", sa.String(110), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["order_id"], ["orders.order_id"], name="fk_receipts_order_id_orders"),
        sa.PrimaryKeyConstraint("order_id", "receipt_key", name="pk_receipts"),
    )


def downgrade() -> None:
    for table in (
        "receipts",
        "outbox",
        "reports",
        "plans",
        "orders",
        "cycle_inputs",
        "cycles",
        "quarantine",
        "commands",
        "cities",
        "arrival_days",
    ):
        op.drop_table(table)
