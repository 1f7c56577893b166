"""Sessions and keys."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

# Frozen here: a later change of doseflow.store.columns must not change what this migration makes.
MOMENT = sa.DateTime(timezone=True).with_variant(sa.String(32), "sqlite")


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("token_digest", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("roles", sa.Text(), nullable=False),
        sa.Column("site_ids", sa.Text(), nullable=True),
        sa.Column("way", sa.String(length=20), nullable=False),
        sa.Column("began_at", MOMENT, nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.Column("ends_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("token_digest", name="pk_sessions"),
    )
    op.create_index("ix_sessions_name", "sessions", ["name"])
    op.create_table(
        "api_keys",
        sa.Column("prefix", sa.String(length=20), nullable=False),
        sa.Column("secret_digest", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("roles", sa.Text(), nullable=False),
        sa.Column("site_ids", sa.Text(), nullable=True),
        sa.Column("made_at", MOMENT, nullable=False),
        sa.Column("ends_at", MOMENT, nullable=True),
        sa.Column("revoked_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("prefix", name="pk_api_keys"),
    )


def downgrade() -> None:
    op.drop_table("api_keys")
    op.drop_table("sessions")
