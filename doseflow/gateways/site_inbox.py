"""The site inbox: orders lie in the store until the site fetches them."""

from __future__ import annotations

from doseflow.ports import OutboxEntry


class SiteInbox:
    """
    Tells nobody: a site asks for its orders with `GET /api/v1/orders`.

    It exists so that a city works without one outgoing connection. An order is `sent` as soon as it can be fetched.
    """

    name = "site_inbox"

    async def deliver(self, entry: OutboxEntry) -> None:
        """Nothing more to do: the entry's order is in the store."""
