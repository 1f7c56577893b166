"""What a site answers binds the next plan whatever way it comes, and no late answer moves an order back."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient

sys.path.append(str(Path(__file__).parents[2] / "tools"))

from fuzz_doors import make_orders
from kill_trial import city_where_it_is_morning

from doseflow.bootstrap import open_city
from doseflow.dispatch.fhir_order import order_system, task_of
from doseflow.domain.orders import OrderState
from doseflow.gateways.way_back import receipt_taker, take_task
from doseflow.live.receipt_desk import ReceiptDesk
from doseflow.settings import Settings, StoreSettings
from doseflow.web.app import create_app

BASE = "urn:doseflow"


class City:
    """A city with orders that were told, and the ways by which its sites answer."""

    def __init__(self, opened) -> None:
        self.opened, self.live = opened, opened.live
        self.client = TestClient(create_app(self.live, allowed_hosts=("*",)))
        make_orders(opened)
        now = self.live.clock.now()
        due = opened.store.outbox.due(now, 1000)
        opened.store.outbox.mark_delivered([entry.entry_id for entry in due], now)
        self.order = next(one for one in self.live.plans.orders() if one.state is OrderState.SENT)

    def receipt(self, status, reason=""):
        return {"status": status, "at": self.live.clock.now().isoformat(), "reason": reason}

    def by_our_door(self, status, reason=""):
        path = f"/api/v1/orders/{self.order.order_id}/receipts"
        return self.client.post(path, json=self.receipt(status, reason)).status_code

    def by_mqtt(self, status, reason=""):
        take = receipt_taker(ReceiptDesk(self.live), "mqtt", self.live.clock)
        body = json.dumps(self.receipt(status, reason) | {"order_id": self.order.order_id})
        take(self.order.site_id, body.encode())

    def task(self, status, reason):
        task = task_of(self.order, BASE, self.live.clock.now()) | {"status": status}
        return task | ({"statusReason": {"text": reason}} if reason else {})

    def by_pushed_task(self, status, reason=""):
        return self.client.post("/api/v1/fhir/Task", json=self.task(status, reason)).status_code

    def by_polled_task(self, status, reason=""):
        desk, now = ReceiptDesk(self.live), self.live.clock.now()
        take_task(desk, "fhir", self.task(status, reason), order_system(BASE), now)

    @property
    def state(self):
        return self.live.plans.order(self.order.order_id).state


@pytest.fixture
def city(tmp_path):
    store = StoreSettings(url=f"sqlite:///{tmp_path / 'store.sqlite'}")
    settings = Settings(city=str(city_where_it_is_morning(tmp_path)), store=store)
    with contextlib.closing(open_city(settings)) as opened:
        yield City(opened)


WAYS = {
    "our door": lambda city: city.by_our_door("refused", "the road is closed"),
    "MQTT": lambda city: city.by_mqtt("refused", "the road is closed"),
    "a pushed Task": lambda city: city.by_pushed_task("rejected", "the road is closed"),
    "a polled Task": lambda city: city.by_polled_task("rejected", "the road is closed"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_refusal_binds_the_very_next_plan(city, way):
    before = city.live.run_cycle()
    assert city.order.decision.key in {one.decision.key for one in before.plan.decisions}

    WAYS[way](city)

    refused = city.live.plans.order(city.order.order_id)
    assert (refused.state, refused.refusal_reason) == (OrderState.REFUSED, "the road is closed")
    after = city.live.run_cycle()
    assert city.order.decision.key in {one.key for one in after.state.commitments.refused}
    assert city.order.decision.key not in {one.decision.key for one in after.plan.decisions}


def test_answers_that_come_late_or_twice_by_other_ways_move_nothing_back(city):
    city.by_mqtt("acknowledged")
    assert city.state is OrderState.ACKNOWLEDGED
    assert city.by_pushed_task("in-progress") == 200
    assert city.state is OrderState.UNDER_WAY
    city.by_mqtt("acknowledged")
    city.by_polled_task("accepted")
    assert city.state is OrderState.UNDER_WAY
    city.by_polled_task("completed")
    assert city.state is OrderState.DONE
    for late in (city.by_mqtt, city.by_our_door):
        late("under_way")
    city.by_pushed_task("rejected", "too late")
    assert city.state is OrderState.DONE
    assert city.live.plans.order(city.order.order_id).refusal_reason == ""


def test_a_status_that_fhir_does_not_have_is_kept_for_people_and_moves_nothing(city):
    before = city.state
    assert city.by_pushed_task("on-its-way") == 200
    assert city.state is before
    codes = [code for source in city.live.sources.book.states() for code in source.unknown_codes]
    assert [(code.code, code.count) for code in codes] == [("on-its-way", 1)]


def test_an_answer_for_an_order_of_another_site_is_not_taken(city):
    take = receipt_taker(ReceiptDesk(city.live), "mqtt", city.live.clock)
    body = json.dumps(city.receipt("done") | {"order_id": city.order.order_id})
    other = next(site.site_id for site in city.live.city.sites if site.site_id != city.order.site_id)
    take(other, body.encode())
    assert city.state is OrderState.SENT
