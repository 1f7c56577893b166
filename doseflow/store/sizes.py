"""What a database holds: rows of each table, and from when to when."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Table, func, select

from doseflow.store.columns import Moment
from doseflow.store.connect import make_engine, read_url
from doseflow.store.migrate import require_newest
from doseflow.store.tables import metadata
from doseflow.store.transactions import Transactions


@dataclass(frozen=True, slots=True)
class TableSize:
    """Rows of a table; `first` and `last` are the moments of its oldest and newest row, empty where it has none."""

    name: str
    num_rows: int
    first: str
    last: str


def table_sizes(url: str) -> list[TableSize]:
    """
    Size of every table of a database.

    Raises
    ------
    StoreUnavailable, EnvironmentUnfit, SettingsWrong
    """
    engine = make_engine(read_url(url), must_exist=True, survive_power_cut=False)
    try:
        transactions = Transactions(engine)
        require_newest(transactions)
        return [_size(transactions, table) for table in metadata.sorted_tables]
    finally:
        engine.dispose()


def _size(transactions: Transactions, table: Table) -> TableSize:
    dated = next((column for column in table.columns if isinstance(column.type, Moment) and not column.nullable), None)
    wanted = [func.count()] if dated is None else [func.count(), func.min(dated), func.max(dated)]
    with transactions.read() as connection:
        num_rows, *ends = connection.execute(select(*wanted).select_from(table)).one()
    first, last = (f"{end:%Y-%m-%d %H:%M}" if end else "" for end in ends or (None, None))
    return TableSize(table.name, num_rows, first, last)
