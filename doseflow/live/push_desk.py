"""What browsers need to be told by Web Push: the key that they trust, and where their subscriptions are kept."""

from __future__ import annotations

from dataclasses import dataclass

from doseflow.ports import PushSubscriptions


@dataclass(frozen=True, slots=True)
class PushDesk:
    """`public_key` is the VAPID key in base64url, which a browser subscribes with (RFC 8292)."""

    public_key: str
    subscriptions: PushSubscriptions
