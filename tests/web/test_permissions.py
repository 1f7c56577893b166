"""Roles by actions against the real application, every cell; sites; what is open; and that no route is forgotten."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest

from doseflow.access.secret_text import new_key
from doseflow.domain.audit import AuditEntry
from doseflow.domain.caller import Caller, CallerRole
from doseflow.domain.permissions import ACTION_TO_ROLES, CITY_WIDE_ACTIONS
from doseflow.domain.sign_ins import ApiKey
from doseflow.web.actions import OPEN, action_of, named_routes
from doseflow.web.app import create_app

OPEN_PATHS = {
    "/",
    "/docs",
    "/sign-in",
    "/static",
    "/healthz",
    "/readyz",
    "/sign-in/away",
    "/sign-in/back",
    "/api/v1/sign-in",
    "/room",
    "/room/{path:path}",
    "/site",
    "/site/{path:path}",
}
PLACES = {"order_id": "o-1", "plan_id": "p-1", "entry_id": "1"}


@pytest.fixture(scope="module")
def closed_city(tmp_path_factory, module_city):
    return module_city(tmp_path_factory.mktemp("closed"))


def key_of(opened, roles, site_ids=None, ends_at=None):
    text, prefix, digest = new_key()
    caller = Caller("tester", frozenset(roles), site_ids, is_machine=True)
    now = datetime.now(UTC)
    opened.store.keys.add(ApiKey(prefix, digest, caller, now, ends_at), AuditEntry(now, "test", "key.make", prefix))
    return {"authorization": f"Bearer {text}"}


def routes_and_methods(app):
    for route in named_routes(app):
        for method in route.methods - {"HEAD"}:
            yield route, method


def asked_for(app):
    """(method, path, action) of every route that is not open, each value of an action's own part filled in."""
    for route, method in routes_and_methods(app):
        if route.action == OPEN:
            continue
        family = (route.action or "").partition("{")[0]
        actions = (
            [name for name in ACTION_TO_ROLES if name.startswith(family)] if "{" in route.action else [route.action]
        )
        for action in actions:
            path = route.path
            for name in route.pattern.groupindex:
                path = path.replace(f"{{{name}}}", PLACES.get(name, action.rpartition(".")[2]))
            yield method, path, action


def test_every_route_names_an_action_of_the_table_or_is_one_of_the_open_ones(closed_city):
    for route, method in routes_and_methods(closed_city.app):
        if route.action == OPEN:
            assert route.path in OPEN_PATHS, route.path
        elif route.action and "{" in route.action:
            assert any(name.startswith(route.action.partition("{")[0]) for name in ACTION_TO_ROLES)
        else:
            assert route.action in ACTION_TO_ROLES, f"{method} {route.path} names {route.action}"
    assert set(ACTION_TO_ROLES) >= CITY_WIDE_ACTIONS


def test_each_role_is_let_through_to_its_actions_and_refused_at_all_others(closed_city):
    keys = {role: key_of(closed_city.opened, {role}) for role in CallerRole}
    asked = list(asked_for(closed_city.app))
    assert len(asked) > 18
    for (method, path, action), role in itertools.product(asked, CallerRole):
        if path == "/api/v1/events" and role in ACTION_TO_ROLES[action]:
            continue  # it does not end
        answer = closed_city.client.request(method, path, headers=keys[role])
        is_refused = answer.status_code == 403 and answer.json()["type"].endswith("not-allowed")
        assert is_refused == (role not in ACTION_TO_ROLES[action]), (method, path, action, role, answer.text)
        assert answer.status_code != 401
        assert answer.status_code < 500, answer.text


def test_without_a_caller_everything_but_the_open_is_401_with_a_challenge(closed_city):
    for method, path, _action in asked_for(closed_city.app):
        answer = closed_city.client.request(method, path)
        assert (answer.status_code, answer.headers["www-authenticate"][:6]) == (401, "Bearer")
        assert answer.headers["content-type"] == "application/problem+json"
    for path in ("/", "/docs", "/sign-in", "/healthz", "/readyz", "/static/main.js", "/api/v1/sign-in"):
        assert closed_city.client.get(path).status_code == 200, path


def test_a_route_that_names_no_action_is_closed_to_everybody(module_city, tmp_path):
    city = module_city(tmp_path)
    city.app.get("/forgotten")(lambda: "secret")
    assert action_of(named_routes(city.app), "GET", "/forgotten") is None
    everything = key_of(city.opened, set(CallerRole))
    assert city.client.get("/forgotten", headers=everything).status_code == 403


def test_a_caller_of_one_site_sees_and_touches_it_alone(module_city, tmp_path):
    city = module_city(tmp_path)
    own, other = (site.site_id for site in city.opened.live.city.sites[:2])
    key = key_of(city.opened, {CallerRole.SITE_HEAD, CallerRole.DUTY_OFFICER}, frozenset({own}))
    ask = lambda path, **more: city.client.request(more.pop("method", "GET"), path, headers=key, **more)  # noqa: E731
    assert [site["site_id"] for site in ask("/api/v1/sites").json()["sites"]] == [own]
    assert ask(f"/api/v1/sites/{own}").status_code == 200
    foreign, nowhere = ask(f"/api/v1/sites/{other}"), ask("/api/v1/sites/nowhere")
    assert (foreign.status_code, nowhere.status_code) == (404, 404)
    assert foreign.json()["detail"].replace(other, "X") == nowhere.json()["detail"].replace("nowhere", "X")
    assert ask("/api/v1/anomalies", params={"site_id": other}).status_code == 404
    assert ask("/api/v1/orders", params={"site_id": other}).json()["orders"] == []
    assert (
        ask("/api/v1/commands/freeze", method="POST", json={"site_id": other, "reason": "a drill"}).status_code == 404
    )
    assert ask("/api/v1/commands/freeze", method="POST", json={"site_id": own, "reason": "a drill"}).status_code == 200
    for action in ("/api/v1/drift", "/api/v1/models", "/api/v1/plans/x", "/metrics"):
        assert ask(action).status_code == 403, action
    valid_at = city.opened.live.clock.now().isoformat()
    reports = [{"site_id": own, "valid_at": valid_at}, {"site_id": other, "valid_at": valid_at}]
    sent = ask("/api/v1/reports", method="POST", json=reports)
    assert (sent.json()["accepted"], [each["site_id"] for each in sent.json()["refused"]]) == (1, [other])
    assert [one.report.site_id for one in city.opened.live.reports.pending()] == [own]
    assert ask("/api/v1/quarantine").json()["quarantined"] == []


def test_orders_of_others_are_as_if_they_were_not_there(make_city, serve, signed_city):
    city = signed_city(make_city())
    for _ in range(8):
        city.played.play()
    orders = city.opened.live.plans.orders()
    assert orders, "eight cycles make an order"
    theirs = orders[0]
    other = next(site.site_id for site in city.opened.live.city.sites if site.site_id != theirs.site_id)
    stranger = key_of(city.opened, {CallerRole.SITE_HEAD}, frozenset({other}))
    head = key_of(city.opened, {CallerRole.SITE_HEAD}, frozenset({theirs.site_id}))
    path = f"/api/v1/orders/{theirs.order_id}"
    assert city.client.get(path, headers=stranger).json()["detail"] == f"no order has the id {theirs.order_id!r}"
    assert city.client.post(f"{path}/receipts", headers=stranger, json={"status": "acknowledged"}).status_code == 404
    assert city.client.get(path, headers=head).status_code == 200
    mine = city.client.get("/api/v1/orders", headers=head).json()["orders"]
    assert [one["order_id"] for one in mine] == [one.order_id for one in orders if one.site_id == theirs.site_id]


def test_a_key_that_is_revoked_or_over_opens_nothing_from_the_next_request_on(module_city, tmp_path):
    city = module_city(tmp_path)
    key = key_of(city.opened, {CallerRole.MACHINE})
    assert city.client.get("/api/v1/sites", headers=key).status_code == 200
    prefix = key["authorization"].split("_")[1]
    now = datetime.now(UTC)
    city.opened.store.keys.revoke(prefix, now, AuditEntry(now, "test", "key.revoke", prefix))
    refused = city.client.get("/api/v1/sites", headers=key)
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    over = key_of(city.opened, {CallerRole.MACHINE}, ends_at=now)
    assert city.client.get("/api/v1/sites", headers=over).status_code == 401


def test_without_sign_in_the_local_caller_may_do_everything(client):
    me = client.get("/api/v1/me").json()
    assert (me["name"], me["is_signed_in"], me["site_ids"]) == ("local", False, None)
    assert set(me["actions"]) == set(ACTION_TO_ROLES)
    assert client.get("/api/v1/sign-in").json() == {"is_needed": False, "by_password": False, "provider": None}
    assert client.post("/api/v1/sign-in", json={"name": "a", "password": "b"}).status_code == 404


def test_the_outer_application_without_sign_in_has_no_door(played):
    assert create_app(played.live).state.sign_in_door is None
