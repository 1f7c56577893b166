"""The ways out that the settings name, each with its line and, where it has one, its way back."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from doseflow.dispatch.gateway_line import GatewayLine
from doseflow.domain.city import City
from doseflow.errors import SettingsWrong
from doseflow.gateways.fhir_tasks import FhirTasks
from doseflow.gateways.messages import Address, Messages
from doseflow.gateways.mqtt_orders import MqttOrders, broker_of
from doseflow.gateways.site_inbox import SiteInbox
from doseflow.gateways.way_back import Positions, run_fhir_poll, run_mqtt_receipts
from doseflow.gateways.web_push import Subscriptions, WebPush
from doseflow.gateways.webhook import Webhook
from doseflow.live.live_city import LiveCity
from doseflow.live.receipt_desk import ReceiptDesk
from doseflow.ports import Clock, Gateway
from doseflow.settings import Settings


def make_webhooks(settings: Settings) -> tuple[Webhook, ...]:
    """
    The webhook of the section `webhook`, and those of `gateways.webhooks`.

    Raises
    ------
    SettingsWrong
        A webhook has a URL and no secret, or two have one name.
    """
    one = settings.webhook
    if one.url is not None and not one.secret:
        raise SettingsWrong("webhook.secret: must be given with webhook.url, since every call is signed")
    first = () if one.url is None else (Webhook(one.url, one.secret or "", one.timeout_seconds),)
    others = settings.gateways.webhooks
    if len({each.name for each in others}) < len(others):
        raise SettingsWrong("gateways.webhooks: must each have a name of its own")
    return first + tuple(
        Webhook(
            each.url,
            [secret.get_secret_value() for secret in each.secrets],
            each.timeout_seconds,
            name=f"webhook:{each.name}",
            event_types=each.event_types,
        )
        for each in others
    )


def make_fhir(settings: Settings) -> FhirTasks | None:
    """
    The FHIR server, where one is set.

    Raises
    ------
    SettingsWrong
    """
    fhir = settings.gateways.fhir
    if fhir.url is None:
        return None
    token = None if fhir.token is None else fhir.token.get_secret_value()
    return FhirTasks(fhir.url, token, fhir.timeout_seconds, fhir.system_base)


def make_mqtt(settings: Settings, city: City, clock: Clock) -> MqttOrders | None:
    """
    The broker, where one is set.

    Raises
    ------
    SettingsWrong, EnvironmentUnfit
    """
    mqtt = settings.gateways.mqtt
    if mqtt.url is None:
        return None
    password = None if mqtt.password is None else mqtt.password.get_secret_value()
    broker = broker_of(mqtt.url, username=mqtt.username, password=password, timeout_seconds=mqtt.timeout_seconds)
    return MqttOrders(broker, city.city_id, clock)


def make_messages(settings: Settings, city: City, clock: Clock) -> Messages | None:
    """
    Messages to people, where somebody has an address.

    Raises
    ------
    SettingsWrong, EnvironmentUnfit
    """
    params = settings.gateways.messages
    if not params.addresses:
        return None
    names = _site_names(city)
    for one in params.addresses:
        if one.site_id != "*" and one.site_id not in names:
            raise SettingsWrong(f"gateways.messages.addresses: must name sites of the city, got {one.site_id!r}")
    addresses = [Address(one.site_id, one.url.get_secret_value(), one.language) for one in params.addresses]
    gap = params.min_gap_seconds
    return Messages(addresses, min_gap_seconds=gap, site_names=names, timezone=city.timezone, clock=clock)


def make_push(settings: Settings, city: City, subscriptions: Subscriptions, clock: Clock) -> WebPush | None:
    """
    Web Push, where there is a key.

    Raises
    ------
    SettingsWrong, EnvironmentUnfit
    """
    push = settings.gateways.push
    if push.private_key is None:
        return None
    return WebPush(
        push.private_key.get_secret_value(),
        push.contact,
        subscriptions,
        timeout_seconds=push.timeout_seconds,
        site_names=_site_names(city),
        timezone=city.timezone,
        clock=clock,
    )


def make_lines(settings: Settings, city: City, subscriptions: Subscriptions, clock: Clock) -> tuple[GatewayLine, ...]:
    """
    A line for each gateway that the settings name.

    Raises
    ------
    SettingsWrong
        A gateway is set wrongly, or a site is reached by none.
    EnvironmentUnfit
        A library is missing.
    """
    optional: tuple[Gateway | None, ...] = (
        make_fhir(settings),
        make_mqtt(settings, city, clock),
        make_messages(settings, city, clock),
        make_push(settings, city, subscriptions, clock),
    )
    inbox = (SiteInbox(),) if settings.gateways.site_inbox else ()
    gateways: list[Gateway] = [*inbox, *make_webhooks(settings), *(one for one in optional if one is not None)]
    _require_reach(gateways, city)
    relay = settings.relay
    return tuple(
        GatewayLine(gateway, clock, failures_to_open=relay.failures_to_open, cool_down_seconds=relay.cool_down_seconds)
        for gateway in gateways
    )


def ways_back(
    lines: Sequence[GatewayLine], live: LiveCity, positions: Positions, settings: Settings, stop: asyncio.Event
) -> list[Coroutine[Any, Any, None]]:
    """The loops that bring answers back, to be run beside the doors."""
    desk = ReceiptDesk(live)
    loops: list[Coroutine[Any, Any, None]] = []
    for line in lines:
        if isinstance(line.gateway, FhirTasks):
            poll_seconds = settings.gateways.fhir.poll_seconds
            loops.append(run_fhir_poll(line.gateway, desk, positions, live.clock, poll_seconds, stop))
        elif isinstance(line.gateway, MqttOrders):
            loops.append(run_mqtt_receipts(line.gateway, desk, live.clock, stop))
    return loops


def _require_reach(gateways: Sequence[Gateway], city: City) -> None:
    for site in city.sites:
        if not any(gateway.reaches(site.site_id) for gateway in gateways):
            raise SettingsWrong(f"gateways: must reach every site, but none reaches {site.site_id}")


def _site_names(city: City) -> dict[str, str]:
    return {site.site_id: site.name for site in city.sites}
