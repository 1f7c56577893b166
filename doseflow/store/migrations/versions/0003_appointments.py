"""Appointments as booked elsewhere."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

# Frozen here: a later change of doseflow.store.columns must not change what this migration makes.
MOMENT = sa.DateTime(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    op.create_table(
        "appointments",
        sa.Column("source", sa.String(length=100), nullable=False),
        sa.Column("id_hash", sa.String(length=32), nullable=False),
        sa.Column("site_id", sa.String(length=100)),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("starts_at", MOMENT),
        sa.Column("ends_at", MOMENT),
        sa.Column("people", sa.Integer()),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("received_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("source", "id_hash", name="pk_appointments"),
    )
    op.create_index("ix_appointments_booked", "appointments", ["status", "starts_at", "site_id", "people"])
    op.create_table(
        "appointment_slots",
        sa.Column("source", sa.String(length=100), nullable=False),
        sa.Column("slot_key", sa.String(length=200), nullable=False),
        sa.Column("site_id", sa.String(length=100)),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("starts_at", MOMENT, nullable=False),
        sa.Column("ends_at", MOMENT, nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("capacity_left", sa.Integer()),
        sa.Column("received_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("source", "slot_key", name="pk_appointment_slots"),
    )
    op.create_index("ix_appointment_slots_ends", "appointment_slots", ["ends_at"])
    op.create_table(
        "appointment_messages",
        sa.Column("source", sa.String(length=100), nullable=False),
        sa.Column("message_hash", sa.String(length=32), nullable=False),
        sa.Column("received_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("source", "message_hash", name="pk_appointment_messages"),
    )
    op.create_table(
        "appointment_sites",
        sa.Column("source", sa.String(length=100), nullable=False),
        sa.Column("site_id", sa.String(length=100), nullable=False),
        sa.Column("first_told_at", MOMENT, nullable=False),
        sa.Column("told_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("source", "site_id", name="pk_appointment_sites"),
    )
    op.create_table(
        "booking_reports",
        sa.Column("site_id", sa.String(length=100), nullable=False),
        sa.Column("report_id", sa.String(length=100), nullable=False),
        sa.PrimaryKeyConstraint("site_id", name="pk_booking_reports"),
    )
    op.create_table(
        "doses_told",
        sa.Column("source", sa.String(length=100), nullable=False),
        sa.Column("site_id", sa.String(length=100), nullable=False),
        sa.Column("given_on", sa.Date(), nullable=False),
        sa.Column("doses", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("source", "site_id", "given_on", name="pk_doses_told"),
    )


def downgrade() -> None:
    for name in (
        "doses_told",
        "booking_reports",
        "appointment_sites",
        "appointment_messages",
        "appointment_slots",
        "appointments",
    ):
        op.drop_table(name)
