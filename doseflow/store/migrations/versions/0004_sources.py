"""Outside sources: where each stands, and codes that nobody here knows; the points of cold-chain loggers."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

# Frozen here: a later change of doseflow.store.columns must not change what this migration makes.
MOMENT = sa.DateTime(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    op.create_table(
        "sources",
        sa.Column("source", sa.String(100), nullable=False),
        sa.Column("last_ok_at", MOMENT),
        sa.Column("last_failed_at", MOMENT),
        sa.Column("last_error", sa.Text(), nullable=False),
        sa.Column("num_ok", sa.Integer(), nullable=False),
        sa.Column("num_failed", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("source", name="pk_sources"),
    )
    op.create_table(
        "unknown_codes",
        sa.Column("source", sa.String(100), nullable=False),
        sa.Column("system", sa.String(100), nullable=False),
        sa.Column("code", sa.String(100), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("first_seen_at", MOMENT, nullable=False),
        sa.Column("last_seen_at", MOMENT, nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("source", "system", "code", name="pk_unknown_codes"),
    )
    op.create_table(
        "unmapped_ids",
        sa.Column("source", sa.String(100), nullable=False),
        sa.Column("outside_id", sa.String(100), nullable=False),
        sa.Column("first_seen_at", MOMENT, nullable=False),
        sa.Column("last_seen_at", MOMENT, nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("source", "outside_id", name="pk_unmapped_ids"),
    )
    op.create_table(
        "logger_points",
        sa.Column("logger_id", sa.String(100), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("temperature_celsius", sa.Float()),
        sa.PrimaryKeyConstraint("logger_id", "at", name="pk_logger_points"),
    )


def downgrade() -> None:
    for table in ("logger_points", "unmapped_ids", "unknown_codes", "sources"):
        op.drop_table(table)
