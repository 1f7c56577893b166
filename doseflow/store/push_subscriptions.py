"""Browsers that asked to be told of a site's orders by Web Push (RFC 8030)."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select

from doseflow.ports import PushSubscription
from doseflow.store.tables import push_subscriptions as table
from doseflow.store.transactions import Transactions


class SqlPushSubscriptions:
    """Subscriptions on SQLite or PostgreSQL; thread-safe. Who they belong to is the name of a caller, no more."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def keep(self, site_id: str, caller: str, subscription: PushSubscription, now: datetime) -> None:
        """Keep a browser's subscription to a site; a later one of the same browser replaces it."""
        row = {
            "endpoint": subscription.endpoint,
            "site_id": site_id,
            "caller": caller,
            "public_key": subscription.public_key,
            "auth": subscription.auth,
            "language": subscription.language,
            "set_at": now,
        }
        one = (table.c.endpoint == subscription.endpoint) & (table.c.site_id == site_id)
        with self._transactions.write() as connection:
            connection.execute(delete(table).where(one))
            connection.execute(table.insert(), row)

    def of_site(self, site_id: str) -> list[PushSubscription]:
        """The subscriptions to a site, oldest first."""
        columns = (table.c.endpoint, table.c.public_key, table.c.auth, table.c.language)
        statement = select(*columns).where(table.c.site_id == site_id).order_by(table.c.set_at, table.c.endpoint)
        with self._transactions.read() as connection:
            return [PushSubscription(*row) for row in connection.execute(statement)]

    def forget(self, endpoint: str) -> None:
        """Forget a browser: it has ended its subscription."""
        with self._transactions.write() as connection:
            connection.execute(delete(table).where(table.c.endpoint == endpoint))
