from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import standardwebhooks
from webhook_receiver import Receiver, receiving

from doseflow.domain.decisions import StaffMove, Why
from doseflow.domain.orders import Order, OrderState
from doseflow.domain.roles import Role
from doseflow.errors import GatewayFailed, SettingsWrong
from doseflow.gateways.site_inbox import SiteInbox
from doseflow.gateways.webhook import Webhook
from doseflow.ports import OutboxEntry

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SECRET = "whsec_" + base64.b64encode(b"twenty-four bytes or more").decode()
MOVE = StaffMove(
    "a", "b", Role.SCREENER, Role.REGISTRAR, START + timedelta(hours=4), 2, 12.5, Why("queue", {"wait_minutes": 17.5})
)


def entry(topic: str = "order", order_id: str = "c1-0a", reason_zh: str = "排队太长") -> OutboxEntry:
    order = Order(
        order_id,
        "c1",
        "a",
        "b",
        MOVE,
        "the queue",
        reason_zh,
        OrderState.PROPOSED,
        START,
        START + timedelta(minutes=27),
    )
    return OutboxEntry(1, topic, order, 0)


def deliver(webhook: Webhook, one: OutboxEntry) -> None:
    asyncio.run(webhook.deliver([one]))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as started:
        yield started


def test_the_site_inbox_takes_everything() -> None:
    assert asyncio.run(SiteInbox().deliver([entry()])) is None
    assert SiteInbox().name == "site_inbox"


def test_an_order_arrives_whole_and_signed(receiver: Receiver) -> None:
    deliver(Webhook(receiver.url, SECRET, 5.0), entry())

    (raw, headers), (body,) = receiver.raw[0], receiver.bodies
    assert standardwebhooks.Webhook(SECRET).verify(raw, headers) == body
    assert headers["webhook-id"] == "c1-0a-order"
    assert headers["content-type"] == "application/json"
    assert body["type"] == "order.made"
    assert abs(datetime.fromisoformat(body["timestamp"]) - datetime.now(UTC)) < timedelta(minutes=1)
    assert body["data"] == {
        "order_id": "c1-0a",
        "cycle_id": "c1",
        "site_id": "a",
        "expecting_site_id": "b",
        "decision": {
            "from_site_id": "a",
            "to_site_id": "b",
            "role": "screener",
            "works_as": "registrar",
            "shift_ends_at": "2026-03-02T13:00:00+00:00",
            "people": 2,
            "travel_minutes": 12.5,
            "why": {"code": "queue", "facts": {"wait_minutes": 17.5}},
            "kind": "staff_move",
        },
        "reason_en": "the queue",
        "reason_zh": "排队太长",
        "state": "proposed",
        "created_at": "2026-03-02T09:00:00+00:00",
        "due_at": "2026-03-02T09:27:00+00:00",
        "refusal_reason": "",
        "approval": "automatic",
        "decide_by": None,
    }


def test_a_changed_body_or_another_secret_does_not_verify(receiver: Receiver) -> None:
    deliver(Webhook(receiver.url, SECRET, 5.0), entry())
    raw, headers = receiver.raw[0]
    other = base64.b64encode(b"another secret of twenty-four bytes").decode()
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(SECRET).verify(raw.replace(b'"people":2', b'"people":9'), headers)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(other).verify(raw, headers)


def test_a_repeat_and_a_withdrawal_can_be_told_apart(receiver: Receiver) -> None:
    webhook = Webhook(receiver.url, SECRET, 5.0)
    for topic in ("order", "order", "withdrawal"):
        deliver(webhook, entry(topic))
    assert [headers["webhook-id"] for _, headers in receiver.raw] == ["c1-0a-order", "c1-0a-order", "c1-0a-withdrawal"]
    assert [body["type"] for body in receiver.bodies] == ["order.made", "order.made", "order.withdrawn"]


@pytest.mark.parametrize("status", [301, 400, 404, 410, 429, 500, 503])
def test_an_answer_other_than_2xx_is_a_failure(receiver: Receiver, status: int) -> None:
    receiver.answers = [status]
    with pytest.raises(GatewayFailed, match=f"^127.0.0.1 answered {status}$"):
        deliver(Webhook(receiver.url, SECRET, 5.0), entry())
    receiver.answers = [204]
    deliver(Webhook(receiver.url, SECRET, 5.0), entry())


def test_no_connection_is_a_failure() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        with pytest.raises(GatewayFailed, match=r"^127.0.0.1 did not answer: ConnectError"):
            deliver(Webhook(url, SECRET, 5.0), entry())


def test_a_receiver_that_never_answers_is_a_failure_after_the_time_limit(receiver: Receiver) -> None:
    receiver.delay_seconds = 1.5
    with pytest.raises(GatewayFailed, match=r"^127.0.0.1 did not answer: ReadTimeout"):
        deliver(Webhook(receiver.url, SECRET, 0.2), entry())


@pytest.mark.parametrize("url", ["ftp://example.org/x", "example.org", "https://", ""])
def test_a_url_that_cannot_be_posted_to_is_refused(url: str) -> None:
    with pytest.raises(SettingsWrong, match=r"webhook.url: must begin with"):
        Webhook(url, SECRET, 5.0)


@pytest.mark.parametrize(
    ("secret", "sentence"),
    [
        ("not base64 !", "be base64"),
        ("", "hold at least 24 bytes"),
        ("whsec_c2hvcnQ=", "hold at least 24 bytes, got 5"),
    ],
)
def test_a_secret_that_protects_nothing_is_refused_without_being_shown(secret: str, sentence: str) -> None:
    with pytest.raises(SettingsWrong, match=f"webhook.secret: must {sentence}") as caught:
        Webhook("https://example.org/x", secret, 5.0)
    assert not secret or secret not in str(caught.value)
