"""Approvals, presses that are answered once, hand-over, playbooks, and the audit log's head with each cycle."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

# Frozen here: a later change of doseflow.store.columns must not change what this migration makes.
MOMENT = sa.DateTime(timezone=True).with_variant(sa.String(32), "sqlite")
GROWING_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def order_columns() -> "list[sa.Column[Any]]":
    return [
        sa.Column("approval", sa.String(length=20), nullable=False, server_default="automatic"),
        sa.Column("decide_by", MOMENT, nullable=True),
        sa.Column("may_be_undone", sa.Integer(), nullable=False, server_default="0"),
    ]


def cycle_columns() -> "list[sa.Column[Any]]":
    return [
        sa.Column("audit_entry_no", GROWING_KEY, nullable=True),
        sa.Column("audit_digest", sa.String(length=64), nullable=True),
    ]


def upgrade() -> None:
    for column in order_columns():
        op.add_column("orders", column)
    for column in cycle_columns():
        op.add_column("cycles", column)
    op.create_table(
        "presses",
        sa.Column("pressed_by", sa.Text(), nullable=False),
        sa.Column("client_key", sa.Text(), nullable=False),
        sa.Column("wish_digest", sa.String(length=64), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("pressed_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("pressed_by", "client_key", name="pk_presses"),
    )
    op.create_table(
        "handovers",
        sa.Column("handover_id", GROWING_KEY, nullable=False),
        sa.Column("from_officer", sa.Text(), nullable=False),
        sa.Column("to_officer", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("open_items", sa.Text(), nullable=False),
        sa.Column("given_by", sa.Text(), nullable=False),
        sa.Column("given_at", MOMENT, nullable=False),
        sa.Column("confirmed_by", sa.Text(), nullable=True),
        sa.Column("confirmed_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("handover_id", name="pk_handovers"),
    )
    op.create_table(
        "playbooks",
        sa.Column("playbook_no", GROWING_KEY, nullable=False),
        sa.Column("playbook_id", sa.String(length=100), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("ended_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("playbook_no", name="pk_playbooks"),
        sa.UniqueConstraint("playbook_id", name="uq_playbooks_playbook_id"),
    )


def downgrade() -> None:
    for table in ("playbooks", "handovers", "presses"):
        op.drop_table(table)
    for name in ("audit_digest", "audit_entry_no"):
        op.drop_column("cycles", name)
    for name in ("may_be_undone", "decide_by", "approval"):
        op.drop_column("orders", name)
