"""A browser subscribes to a site, with the key of the settings."""

from __future__ import annotations

import contextlib

import pytest
from starlette.testclient import TestClient

from doseflow.bootstrap import open_city
from doseflow.domain.caller import Caller, CallerRole
from doseflow.gateways.web_push import make_push_keys
from doseflow.settings import Settings, StoreSettings
from doseflow.web.app import create_app
from doseflow.web.callers import caller_of

KEYS = {"p256dh": "B" * 87, "auth": "a" * 22}
ENDPOINT = "https://push.example.org/abc"


@pytest.fixture
def city(tmp_path):
    private_key, public_key = make_push_keys()
    store = StoreSettings(url=f"sqlite:///{tmp_path / 'push.sqlite'}")
    settings = Settings(city="synthetic:3", store=store, gateways={"push": {"private_key": private_key}})
    with contextlib.closing(open_city(settings)) as opened:
        yield opened, TestClient(create_app(opened.live, allowed_hosts=("*",))), public_key


def subscription(site_id, **changed):
    return {"endpoint": ENDPOINT, "keys": KEYS, "site_id": site_id, "language": "zh"} | changed


def test_a_browser_subscribes_with_the_key_of_the_settings_and_ends_it(city):
    opened, client, public_key = city
    site_id = opened.live.city.sites[0].site_id
    assert client.get("/api/v1/push/key").json() == {"public_key": public_key}
    for _ in range(2):
        assert client.post("/api/v1/push/subscriptions", json=subscription(site_id)).json() == {"is_subscribed": True}
    kept = opened.store.push.of_site(site_id)
    assert [(one.endpoint, one.language) for one in kept] == [(ENDPOINT, "zh")]
    ended = client.request("DELETE", "/api/v1/push/subscriptions", json={"endpoint": ENDPOINT})
    assert ended.json() == {"is_subscribed": False}
    assert opened.store.push.of_site(site_id) == []


def test_what_is_no_subscription_is_refused_by_its_field(city):
    opened, client, _ = city
    site_id = opened.live.city.sites[0].site_id
    for changed, field in (
        ({"endpoint": "http://10.0.0.1/admin"}, "endpoint"),
        ({"endpoint": "file:///etc/passwd"}, "endpoint"),
        ({"keys": KEYS | {"auth": "short"}}, "keys.auth"),
        ({"language": "fr"}, "language"),
    ):
        answer = client.post("/api/v1/push/subscriptions", json=subscription(site_id, **changed))
        assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert opened.store.push.of_site(site_id) == []


def test_a_site_head_subscribes_to_the_own_site_alone(city):
    opened, client, _ = city
    own, other = (site.site_id for site in opened.live.city.sites[:2])
    head = Caller("head", frozenset({CallerRole.SITE_HEAD}), frozenset({own}))
    client.app.dependency_overrides[caller_of] = lambda: head
    assert client.post("/api/v1/push/subscriptions", json=subscription(other)).status_code == 404
    assert client.post("/api/v1/push/subscriptions", json=subscription(own)).status_code == 200


def test_without_a_key_there_is_no_push(tmp_path):
    store = StoreSettings(url=f"sqlite:///{tmp_path / 'none.sqlite'}")
    with contextlib.closing(open_city(Settings(city="synthetic:3", store=store))) as opened:
        client = TestClient(create_app(opened.live, allowed_hosts=("*",)))
        answer = client.get("/api/v1/push/key")
        assert answer.status_code == 404
        assert "gateways.push.private_key" in answer.json()["detail"]
