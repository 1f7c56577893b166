"""The outbox tells each gateway by itself."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

# Frozen here: a later change of doseflow.store.columns must not change what this migration makes.
MOMENT = sa.DateTime(timezone=True).with_variant(sa.String(32), "sqlite")
GROWING_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WAITING = sa.text("delivered_at IS NULL AND dead_at IS NULL")
DEAD = sa.text("delivered_at IS NULL AND dead_at IS NOT NULL")


def upgrade() -> None:
    op.create_table(
        "gateways",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("set_up_at", MOMENT, nullable=False),
        sa.Column("position", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_gateways"),
    )
    op.create_table(
        "push_subscriptions",
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("site_id", sa.String(length=100), nullable=False),
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("public_key", sa.String(length=200), nullable=False),
        sa.Column("auth", sa.String(length=100), nullable=False),
        sa.Column("language", sa.String(length=2), nullable=False),
        sa.Column("set_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("endpoint", "site_id", name="pk_push_subscriptions"),
    )
    op.create_index("ix_push_subscriptions_site", "push_subscriptions", ["site_id"], unique=False)
    _drop_indexes()
    # Ids are never used twice: whoever has begun to tell an entry must not mark another one.
    with op.batch_alter_table("outbox", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.add_column(sa.Column("gateway", sa.String(length=100), nullable=True))
        batch.add_column(sa.Column("put_at", MOMENT, nullable=True))
    _carry_over()
    with op.batch_alter_table("outbox", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.alter_column("gateway", existing_type=sa.String(length=100), nullable=False)
        batch.alter_column("put_at", existing_type=MOMENT, nullable=False)
    op.create_index("ix_outbox_order", "outbox", ["order_id"], unique=False)
    for name, columns, condition in (
        ("ix_outbox_waiting", ["gateway", "site_id", "entry_id"], WAITING),
        ("ix_outbox_dead", ["entry_id"], DEAD),
    ):
        op.create_index(name, "outbox", columns, unique=False, sqlite_where=condition, postgresql_where=condition)


def downgrade() -> None:
    _drop_indexes()
    # Waiting for one gateway was waiting for all: of each change one row stays, a waiting one where there is one.
    op.execute(
        "DELETE FROM outbox WHERE EXISTS (SELECT 1 FROM outbox AS other WHERE other.order_id = outbox.order_id"
        " AND other.topic = outbox.topic AND other.entry_id <> outbox.entry_id"
        " AND other.delivered_at IS NULL AND outbox.delivered_at IS NOT NULL)"
    )
    op.execute("DELETE FROM outbox WHERE entry_id NOT IN (SELECT min(entry_id) FROM outbox GROUP BY order_id, topic)")
    with op.batch_alter_table("outbox") as batch:
        batch.drop_column("gateway")
        batch.drop_column("put_at")
    op.create_index("ix_outbox_order", "outbox", ["order_id"], unique=False)
    for name, condition in (("ix_outbox_waiting", WAITING), ("ix_outbox_dead", DEAD)):
        op.create_index(name, "outbox", ["entry_id"], unique=False, sqlite_where=condition, postgresql_where=condition)
    op.drop_index("ix_push_subscriptions_site", table_name="push_subscriptions")
    op.drop_table("push_subscriptions")
    op.drop_table("gateways")


def _drop_indexes() -> None:
    for name in ("ix_outbox_order", "ix_outbox_waiting", "ix_outbox_dead"):
        op.drop_index(name, table_name="outbox")


def _carry_over() -> None:
    """Until now there were the site inbox, which always took an order, and perhaps one webhook."""
    op.execute(
        "UPDATE outbox SET gateway = CASE WHEN delivered_at IS NULL AND dead_at IS NOT NULL THEN 'webhook'"
        " ELSE 'site_inbox' END, put_at = (SELECT CASE WHEN outbox.topic = 'order' THEN orders.created_at"
        " ELSE orders.changed_at END FROM orders WHERE orders.order_id = outbox.order_id)"
    )
    op.execute(
        "INSERT INTO outbox (order_id, topic, site_id, attempts, next_attempt_at, last_error, gateway, put_at)"
        " SELECT order_id, topic, site_id, attempts, next_attempt_at, last_error, 'webhook', put_at FROM outbox"
        " WHERE delivered_at IS NULL AND dead_at IS NULL ORDER BY entry_id"
    )
    for name in ("site_inbox", "webhook"):
        op.execute(
            f"INSERT INTO gateways (name, set_up_at) SELECT '{name}', min(put_at) FROM outbox"  # noqa: S608 - our words
            f" WHERE gateway = '{name}' HAVING count(*) > 0"
        )
