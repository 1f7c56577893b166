"""How each way out is set up; everything but the site inbox is off until it has an address."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel, ConfigDict, Field, SecretStr

_STRICT = ConfigDict(extra="forbid", frozen=True)
Seconds = Annotated[float, Ge(0.1), Le(60)]
EventType = Literal["order.made", "order.withdrawn"]


class WebhookParams(BaseModel):
    """One more system that orders are posted to, signed."""

    model_config = _STRICT
    name: Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,40}$")]
    """What the outbox calls it: `webhook:NAME`."""
    url: Annotated[str, MinLen(1)]
    """Where orders are posted to."""
    secrets: Annotated[tuple[SecretStr, ...], MinLen(1)]
    """Keys of the Standard Webhooks signature, the newest first; two while one takes the place of the other."""
    event_types: tuple[EventType, ...] = ("order.made", "order.withdrawn")
    """What is told."""
    timeout_seconds: Seconds = 5.0
    """How long one delivery may take before it is tried again."""


class FhirParams(BaseModel):
    """A FHIR R4 server that orders go to as Tasks."""

    model_config = _STRICT
    url: str | None = None
    """Service base of the server; not set is no FHIR."""
    token: SecretStr | None = None
    """Bearer token."""
    system_base: Annotated[str, MinLen(1)] = "urn:doseflow"
    """What the systems of our codes and identifiers begin with."""
    poll_seconds: Annotated[float, Ge(0.1), Le(3600)] = 15.0
    """Time between two looks for answers."""
    timeout_seconds: Seconds = 5.0
    """How long one call may take."""


class MqttParams(BaseModel):
    """A broker that orders go to and receipts come from."""

    model_config = _STRICT
    url: str | None = None
    """`mqtt://host:1883` or `mqtts://host:8883`; not set is no MQTT. `doseflow[mqtt]`."""
    username: str | None = None
    """Name at the broker."""
    password: SecretStr | None = None
    """Password at the broker."""
    timeout_seconds: Seconds = 5.0
    """How long one call may take."""


class AddressParams(BaseModel):
    """Where somebody is told of a site by a message."""

    model_config = _STRICT
    site_id: Annotated[str, MinLen(1)]
    """A site, or `*` for all of them."""
    role: Annotated[str, MinLen(1)] = "site_head"
    """Whose address it is: a role, never a name."""
    url: SecretStr
    """Address in Apprise's form."""
    language: Literal["en", "zh"] = "en"
    """Language of the messages."""


class MessageParams(BaseModel):
    """Messages to people."""

    model_config = _STRICT
    addresses: tuple[AddressParams, ...] = ()
    """Who is told of which site; none is no messages. `doseflow[messages]`."""
    min_gap_seconds: Annotated[float, Ge(0), Le(86_400)] = 120.0
    """Time between two messages about one site; what comes in between is told together."""


class PushParams(BaseModel):
    """Web Push to the browsers of site heads."""

    model_config = _STRICT
    private_key: SecretStr | None = None
    """VAPID key, from `doseflow orders push-keys`; not set is no push. `doseflow[messages]`."""
    contact: Annotated[str, MinLen(1)] = "mailto:admin@example.org"
    """Address that a push service may turn to."""
    timeout_seconds: Seconds = 5.0
    """How long one call may take."""


class GatewayParams(BaseModel):
    """The ways out."""

    model_config = _STRICT
    site_inbox: bool = True
    """Whether sites fetch their orders by `GET /api/v1/orders`: an order is `sent` then as soon as it is made."""
    webhooks: tuple[WebhookParams, ...] = ()
    """Systems that orders are posted to, beside the one of `webhook`."""
    fhir: FhirParams = Field(default_factory=FhirParams)
    """A FHIR server."""
    mqtt: MqttParams = Field(default_factory=MqttParams)
    """A broker."""
    messages: MessageParams = Field(default_factory=MessageParams)
    """Messages to people."""
    push: PushParams = Field(default_factory=PushParams)
    """Web Push."""
