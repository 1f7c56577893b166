"""The site inbox: orders lie in the store until the site fetches them."""

from __future__ import annotations

from collections.abc import Sequence

from doseflow.ports import OutboxEntry


class SiteInbox:
    """
    Tells nobody: a site asks for its orders with `GET /api/v1/orders`.

    It exists so that a city works without one outgoing connection. An order is `sent` as soon as it can be fetched.
    """

    name = "site_inbox"
    group_size = 500

    def reaches(self, site_id: str) -> bool:  # noqa: ARG002 - all of them
        """Every site can ask."""
        return True

    async def deliver(self, entries: Sequence[OutboxEntry]) -> None:
        """Nothing more to do: the orders are in the store."""
