"""GET /api/v1/push/key, POST and DELETE /api/v1/push/subscriptions: a browser asks to be told of a site's orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, field_validator

from doseflow.errors import NotFound, SiteUnknown
from doseflow.live.push_desk import PushDesk
from doseflow.ports import PushSubscription
from doseflow.web.actions import needs
from doseflow.web.callers import AskCaller
from doseflow.web.error_responses import (
    ERROR_TO_PROBLEM,
    FOREIGN_ORIGIN,
    MALFORMED_REQUEST,
    STORE_UNAVAILABLE,
    documented,
)
from doseflow.web.json_answer import JsonAnswer
from doseflow.web.living import AskLiving, Living
from doseflow.web.own_sites import require_own_site

HOSTS_OF_THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "::1"})
NO_PUSH = ERROR_TO_PROBLEM[NotFound]
router = APIRouter(prefix="/api/v1/push", tags=["orders"])

Endpoint = Annotated[str, Field(min_length=1, max_length=2000)]
POINT = r"^[A-Za-z0-9_-]{87}=?$"
AUTHENTICATION = r"^[A-Za-z0-9_-]{22}(==)?$"


class SubscriptionKeys(BaseModel):
    """The browser's keys (RFC 8291): a point on P-256 of 65 bytes, and a secret of 16, in base64url."""

    model_config = ConfigDict(extra="forbid")
    p256dh: Annotated[str, Field(pattern=POINT)]
    auth: Annotated[str, Field(pattern=AUTHENTICATION)]


class Subscribing(BaseModel):
    """A browser's subscription, as `PushSubscription.toJSON()` gives it, with the site and the language."""

    model_config = ConfigDict(extra="forbid")
    endpoint: Endpoint
    keys: SubscriptionKeys
    site_id: Annotated[str, Field(min_length=1, max_length=100)]
    language: Literal["en", "zh"] = "en"

    @field_validator("endpoint")
    @classmethod
    def _is_pushable(cls, endpoint: str) -> str:
        """Only https, but on this machine itself: the address comes from a browser, and we shall call it."""
        parts = urlsplit(endpoint)
        if parts.scheme == "https" and parts.hostname:
            return endpoint
        if parts.scheme == "http" and parts.hostname in HOSTS_OF_THIS_MACHINE:
            return endpoint
        raise ValueError("must begin with https:// and name a host")


class Unsubscribing(BaseModel):
    """The browser that must not be told any more, of any site."""

    model_config = ConfigDict(extra="forbid")
    endpoint: Endpoint


@dataclass(frozen=True, slots=True)
class PushKeyAnswer:
    """The key that a browser subscribes with."""

    public_key: str


@dataclass(frozen=True, slots=True)
class SubscriptionAnswer:
    """Whether the browser is told now."""

    is_subscribed: bool


@router.get("/key", responses={200: {"model": PushKeyAnswer}, **documented(NO_PUSH)})
@needs("push.subscribe")
def get_key(living: AskLiving) -> JsonAnswer:
    """The key to subscribe with; 404 where nobody is told by push."""
    return JsonAnswer(PushKeyAnswer(_desk(living).public_key))


@router.post(
    "/subscriptions",
    responses={
        200: {"model": SubscriptionAnswer},
        **documented(NO_PUSH, ERROR_TO_PROBLEM[SiteUnknown], MALFORMED_REQUEST, FOREIGN_ORIGIN, STORE_UNAVAILABLE),
    },
)
@needs("push.subscribe")
def post_subscription(asked: Subscribing, living: AskLiving, caller: AskCaller) -> JsonAnswer:
    """Tell this browser of a site's orders from now on; again replaces."""
    desk, live = _desk(living), living.live
    require_own_site(live, caller, asked.site_id)
    subscription = PushSubscription(asked.endpoint, asked.keys.p256dh, asked.keys.auth, asked.language)
    desk.subscriptions.keep(asked.site_id, caller.name, subscription, live.clock.now())
    return JsonAnswer(SubscriptionAnswer(is_subscribed=True))


@router.delete(
    "/subscriptions",
    responses={
        200: {"model": SubscriptionAnswer},
        **documented(NO_PUSH, MALFORMED_REQUEST, FOREIGN_ORIGIN, STORE_UNAVAILABLE),
    },
)
@needs("push.subscribe")
def delete_subscription(asked: Unsubscribing, living: AskLiving) -> JsonAnswer:
    """Do not tell this browser any more; whoever knows its address is that browser."""
    _desk(living).subscriptions.forget(asked.endpoint)
    return JsonAnswer(SubscriptionAnswer(is_subscribed=False))


def _desk(living: Living) -> PushDesk:
    if living.live.push is None:
        raise NotFound("nobody is told by push here; an operator sets gateways.push.private_key")
    return living.live.push
