"""Reports by month: partitions on PostgreSQL, so that an old month goes at once."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

# Frozen here: a later change of doseflow.store.columns must not change what this migration makes.
MOMENT = sa.DateTime(timezone=True).with_variant(sa.String(32), "sqlite")
GROWING_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
KEPT = "report_no, site_id, report_id, valid_at, received_at, arrivals_people, cycle_id, raw"
SQLITE_MONTH = "substr(valid_at, 1, 8) || '01'"
POSTGRES_MONTH = "date_trunc('month', valid_at AT TIME ZONE 'UTC')::date"


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    _set_aside()
    _make_table(
        sa.Column("valid_month", sa.Date(), nullable=False),
        sa.PrimaryKeyConstraint("report_no", *([] if is_sqlite else ["valid_month"]), name="pk_reports"),
        sa.UniqueConstraint("report_id", "site_id", "valid_month", name="uq_reports_report_id_site_id_valid_month"),
        postgresql_partition_by="LIST (valid_month)",
    )
    if not is_sqlite:
        op.execute("ALTER TABLE reports ALTER report_no SET DEFAULT nextval('reports_report_no_seq')")
        _make_partitions()
    month = SQLITE_MONTH if is_sqlite else POSTGRES_MONTH
    op.execute(f"INSERT INTO reports ({KEPT}, valid_month) SELECT {KEPT}, {month} FROM old_reports ORDER BY report_no")  # noqa: S608
    _let_go(is_sqlite)


def downgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    _set_aside()
    _make_table(
        sa.PrimaryKeyConstraint("report_no", name="pk_reports"),
        sa.UniqueConstraint("report_id", "site_id", name="uq_reports_report_id_site_id"),
    )
    if not is_sqlite:
        op.execute("ALTER TABLE reports ALTER report_no SET DEFAULT nextval('reports_report_no_seq')")
    # Of a report told in two months under one id the first is kept: the older schema knows only one.
    op.execute(f"INSERT INTO reports ({KEPT}) SELECT {KEPT} FROM old_reports ORDER BY report_no ON CONFLICT DO NOTHING")  # noqa: S608
    _let_go(is_sqlite)


def _set_aside() -> None:
    op.drop_index("ix_reports_arrivals", "reports")
    op.drop_index("ix_reports_pending", "reports")
    if op.get_bind().dialect.name == "postgresql":
        # Names of constraints belong to the schema on PostgreSQL: the old ones must free them.
        for row in op.get_bind().execute(
            sa.text("SELECT conname FROM pg_constraint WHERE conrelid = 'reports'::regclass AND contype <> 'n'")
        ):
            op.execute(f'ALTER TABLE reports RENAME CONSTRAINT "{row.conname}" TO "old_{row.conname}"')
        op.execute("ALTER SEQUENCE reports_report_no_seq OWNED BY NONE")
    op.rename_table("reports", "old_reports")


def _make_table(*parts: sa.schema.SchemaItem, **options: Any) -> None:
    op.create_table(
        "reports",
        sa.Column("report_no", GROWING_KEY, autoincrement=False, nullable=False),
        sa.Column("site_id", sa.String(length=100), nullable=False),
        sa.Column("report_id", sa.String(100), nullable=False),
        sa.Column("valid_at", MOMENT, nullable=False),
        sa.Column("received_at", MOMENT, nullable=False),
        sa.Column("arrivals_people", sa.Integer(), nullable=True),
        sa.Column("cycle_id", sa.String(length=100), nullable=True),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["cycle_id"], ["cycles.cycle_id"], name="fk_reports_cycle_id_cycles"),
        *parts,
        **options,
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


def _make_partitions() -> None:
    months = op.get_bind().execute(sa.text(f"SELECT DISTINCT {POSTGRES_MONTH} AS month FROM old_reports"))  # noqa: S608
    for month in months.scalars().all():
        op.execute(f"CREATE TABLE reports_{month:%Y_%m} PARTITION OF reports FOR VALUES IN ('{month:%Y-%m-%d}')")


def _let_go(is_sqlite: bool) -> None:
    op.drop_table("old_reports")
    if not is_sqlite:
        op.execute("ALTER SEQUENCE reports_report_no_seq OWNED BY reports.report_no")
