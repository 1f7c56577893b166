"""
Messages to people through the services that Apprise knows (github.com/caronc/apprise): chat, mail, SMS.

One message a site for all that changed at once, in the language of whoever reads it, and no two to a site within
`min_gap_seconds`: what comes in between waits and is told together. It tells that there is something to do, by when,
and why; it cannot tell whether anybody read it. No person is named, neither in the text nor here: an address is a URL
that the city's administrator has set for a site and a role.

Trap: Apprise says only whether a service took a message, not why it did not. So no refusal counts as one for good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import ModuleType

from doseflow.dispatch.quiet_words import LANGUAGES, QuietMessage, quiet_message
from doseflow.errors import EnvironmentUnfit, GatewayFailed, GatewayHeldBack, SettingsWrong
from doseflow.ports import Clock, OutboxEntry

EVERY_SITE = "*"


@dataclass(frozen=True, slots=True)
class Address:
    """Where somebody is told of a site, or of every site (`*`); `url` is one of Apprise's, and a secret."""

    site_id: str
    url: str
    language: str = "en"


class Messages:
    """
    Tells people.

    Parameters
    ----------
    site_names
        By id, as people call the sites.
    timezone
        Of the city, an IANA name.

    Raises
    ------
    EnvironmentUnfit
        The library is missing.
    SettingsWrong
        Apprise does not know such an address, or there are no words in the language.
    """

    name = "messages"
    group_size = 100

    def __init__(
        self,
        addresses: Sequence[Address],
        *,
        min_gap_seconds: float,
        site_names: Mapping[str, str],
        timezone: str,
        clock: Clock,
    ) -> None:
        self._apprise = _library()
        for position, address in enumerate(addresses):
            self._check(position, address)
        self._addresses = tuple(addresses)
        self._gap = timedelta(seconds=min_gap_seconds)
        self._site_names = site_names
        self._timezone = timezone
        self._clock = clock
        self._last_at: dict[str, datetime] = {}
        self._told: dict[str, set[tuple[Address, int]]] = {}

    def reaches(self, site_id: str) -> bool:
        """Whether somebody is to be told of the site."""
        return bool(self._addresses_of(site_id))

    async def deliver(self, entries: Sequence[OutboxEntry]) -> None:
        """
        Tell everybody of the site all changes in one message; whoever has been told is not told again.

        Raises
        ------
        GatewayHeldBack
            The last message to the site is too fresh.
        GatewayFailed
            Somebody could not be told.
        """
        site_id = entries[0].order.site_id
        told = self._told.setdefault(site_id, set())
        if not told:
            self._require_gap(site_id)
        for address in self._addresses_of(site_id):
            fresh = [entry for entry in entries if (address, entry.entry_id) not in told]
            if fresh:
                await self._send(address, self._message(fresh, address.language))
                told.update((address, entry.entry_id) for entry in fresh)
        self._told[site_id] = set()
        self._last_at[site_id] = self._clock.now()

    def _require_gap(self, site_id: str) -> None:
        last_at = self._last_at.get(site_id)
        if last_at is not None and (left := last_at + self._gap - self._clock.now()) > timedelta(0):
            raise GatewayHeldBack("the last message is too fresh", left.total_seconds())

    def _message(self, entries: Sequence[OutboxEntry], language: str) -> QuietMessage:
        site_id = entries[0].order.site_id
        return quiet_message(entries, self._site_names.get(site_id, site_id), self._timezone, language)

    async def _send(self, address: Address, message: QuietMessage) -> None:
        service = self._apprise.Apprise()
        service.add(address.url)
        if not await asyncio.to_thread(service.notify, body=message.body, title=message.title):
            # The address is a secret; its scheme is enough to know which service it was.
            raise GatewayFailed(f"the service {address.url.partition('://')[0]} did not take a message")

    def _addresses_of(self, site_id: str) -> list[Address]:
        return [one for one in self._addresses if one.site_id in (site_id, EVERY_SITE)]

    def _check(self, position: int, address: Address) -> None:
        where = f"gateways.messages.{position}"
        if address.language not in LANGUAGES:
            raise SettingsWrong(f"{where}.language: must be one of {', '.join(LANGUAGES)}, got {address.language!r}")
        if not self._apprise.Apprise().add(address.url):
            scheme = address.url.partition("://")[0]
            raise SettingsWrong(f"{where}.url: must be an address that Apprise knows, got one of {scheme!r}")


def _library() -> ModuleType:
    try:
        import apprise
    except ImportError as error:
        raise EnvironmentUnfit(
            f"gateways.messages: needs the libraries of `pip install 'doseflow[messages]'`; {error.name} is missing"
        ) from error
    return apprise
