"""The audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

# Frozen here: a later change of doseflow.store.columns must not change what this migration makes.
MOMENT = sa.DateTime(timezone=True).with_variant(sa.String(32), "sqlite")
GROWING_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "audit_log",
        sa.Column("entry_no", GROWING_KEY, autoincrement=False, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("previous_digest", sa.String(length=64), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("entry_no", name="pk_audit_log"),
        sa.UniqueConstraint("digest", name="uq_audit_log_digest"),
    )


def downgrade() -> None:
    op.drop_table("audit_log")
