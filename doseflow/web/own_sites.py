"""
Sites of a caller: what is shown and done is theirs alone.

A site that is not among them is answered as one that the city does not have (404), alone as in lists: whoever is let in
for one site cannot find out by asking which others there are, or which orders they have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from doseflow.domain.audit import AuditEntry
from doseflow.domain.caller import LOCAL_CALLER, Caller
from doseflow.domain.orders import Order
from doseflow.errors import OrderNotFound, SiteUnknown
from doseflow.live.live_city import LiveCity

Row = TypeVar("Row")


def require_own_site(live: LiveCity, caller: Caller, site_id: str) -> None:
    """
    Check that the city has the site and that it is among the caller's; where a person asks for another, that is noted.

    Raises
    ------
    SiteUnknown
    """
    is_there = site_id in live.city.site_to_idx
    if is_there and caller.may_touch(site_id):
        return
    if is_there:
        note_foreign_site(live, caller, site_id)
    raise SiteUnknown("site_id", f"must be one of {sites_in_words(live, caller)}, got {site_id!r}")


def own_order(live: LiveCity, caller: Caller, order_id: str) -> Order:
    """
    The order, where the site that must act is the caller's; another one is as if it were not there.

    Raises
    ------
    OrderNotFound
    """
    order = live.plans.order(order_id)
    if not caller.may_touch(order.site_id):
        note_foreign_site(live, caller, order_id)
        raise OrderNotFound(f"no order has the id {order_id!r}")
    return order


def note_foreign_site(live: LiveCity, caller: Caller, subject: str) -> None:
    """Note that a person asked for what belongs to a site that is not theirs."""
    if not caller.is_machine and caller is not LOCAL_CALLER:
        why = "not one of the sites of this caller"
        live.audit.append(AuditEntry(live.clock.now(), caller.name, "action.refuse", subject, why))


def own(rows: Iterable[Row], caller: Caller, site_of: Callable[[Row], str | None]) -> list[Row]:
    """Rows of the caller's sites; whoever answers for all also sees those of no site."""
    if caller.site_ids is None:
        return list(rows)
    return [row for row in rows if site_of(row) in caller.site_ids]


def sites_in_words(live: LiveCity, caller: Caller) -> str:
    """`the 200 sites of Prague`, or how many of them the caller has."""
    if caller.site_ids is None:
        return f"the {live.city.num_sites} sites of {live.city.name}"
    return f"your {len(caller.site_ids)} sites of {live.city.name}"
