from __future__ import annotations

import orjson
import pytest
from starlette.testclient import TestClient

from doseflow.domain.approvals import Approval, ApprovalParams, ApprovalRule
from doseflow.domain.decisions import StationChange
from doseflow.web.app import create_app

ALWAYS = ApprovalParams((ApprovalRule(Approval.ALWAYS_ASK),))


class Officer:
    """Somebody at the doors of a small city in which every order waits."""

    def __init__(self, played) -> None:
        self.played, self.live = played, played.live
        self.http = TestClient(create_app(played.live), base_url="http://127.0.0.1")

    def post(self, path: str, status: int = 200, **body):
        answer = self.http.post(f"/api/v1/{path}", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def get(self, path: str, **query):
        answer = self.http.get(f"/api/v1/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def waiting(self) -> list[dict]:
        for _ in range(24):
            found = [order for order in self.get("orders", state="proposed")["orders"] if order["is_waiting"]]
            if len(found) > 1:
                return found
            self.played.play()
        raise AssertionError("no cycle ordered anything")


@pytest.fixture
def officer(make_city) -> Officer:
    return Officer(make_city("synthetic:12", approvals=ALWAYS))


def test_a_waiting_order_is_told_to_nobody_until_it_is_approved_and_then_undone_in_time(officer):
    order, other = officer.waiting()[:2]
    assert officer.live.outbox.due(officer.live.clock.now()) == []
    approved = officer.post(f"orders/{order['order_id']}/approve", client_key="k1")
    assert approved["state"] == "approved"
    assert officer.post(f"orders/{order['order_id']}/approve", client_key="k1")["state"] == "approved"
    assert officer.post(f"orders/{order['order_id']}/approve", 409)["type"].endswith("refused-command")
    assert officer.post(f"orders/{order['order_id']}/undo")["is_waiting"]
    rejected = officer.post(f"orders/{other['order_id']}/reject", reason="the road is closed")
    assert (rejected["state"], rejected["refusal_reason"]) == ("refused", "the road is closed")
    actions = [entry["action"] for entry in officer.get("audit", action="order")["entries"]]
    assert actions == ["order.approve", "order.undo", "order.reject"]


def test_what_needs_a_reason_is_refused_without_one(officer):
    order_id = officer.waiting()[0]["order_id"]
    for action in ("reject", "withdraw", "pin", "unpin"):
        assert officer.post(f"orders/{order_id}/{action}", 422)["field"] == "reason"
        assert officer.post(f"orders/{order_id}/{action}", 422, reason="  ")["field"] == "reason"
    officer.post(f"orders/{order_id}/override", 422, quantity=1)
    officer.post("commands/freeze", 422, site_id=officer.live.city.sites[0].site_id)
    assert officer.get("audit")["entries"] == []


def test_many_orders_are_answered_each_by_itself_or_all_or_none(officer):
    ids = [order["order_id"] for order in officer.waiting()[:2]]
    wishes = [{"order_id": one, "action": "approve"} for one in (*ids, "nothing")]
    officer.post("orders/decide", 404, mode="all", wishes=wishes)
    assert len(officer.waiting()) >= 2
    answers = officer.post("orders/decide", mode="each", wishes=wishes, client_key="k")["answers"]
    assert [one["state"] for one in answers] == ["approved", "approved", None]
    assert "nothing" in answers[2]["refused"]
    assert officer.post("orders/decide", mode="each", wishes=wishes, client_key="k")["answers"] == answers


def test_the_next_plan_keeps_the_clock_of_what_it_still_wants_and_withdraws_the_rest(make_city):
    rule = ApprovalRule(Approval.LAPSES, minutes=30)
    officer = Officer(make_city("synthetic:12", approvals=ApprovalParams((rule,))))
    before = {order["order_id"]: order for order in officer.waiting()}
    cycle = officer.played.play()
    planned = {(one.decision.key, one.decision.quantity) for one in cycle.plan.decisions}
    for order in officer.live.plans.orders(limit=10_000):
        if order.order_id in before:
            is_wanted = (order.decision.key, order.decision.quantity) in planned
            assert order.state == ("proposed" if is_wanted else "withdrawn")
            assert officer.get(f"orders/{order.order_id}")["decide_by"] == before[order.order_id]["decide_by"]


def test_an_override_that_breaks_a_rule_is_refused_in_words_and_one_that_does_not_holds_in_the_next_plan(officer):
    order = next(one for one in officer.waiting() if one["kind"] == "station_change")
    refused = officer.post(f"orders/{order['order_id']}/override", 409, quantity=900, reason="more")
    assert "station" in refused["detail"]
    officer.post(f"orders/{order['order_id']}/override", 409, quantity=1.5, reason="more")
    same = order["decision"]["open_stations"]
    new = officer.post(f"orders/{order['order_id']}/override", quantity=same, reason="just so")
    assert new["order_id"] != order["order_id"]
    assert not new["is_waiting"]
    cycle = officer.played.play()
    decisions = [one.decision for one in cycle.plan.decisions if isinstance(one.decision, StationChange)]
    place = (order["decision"]["site_id"], order["decision"]["stage"])
    held = {(one.site_id, one.stage): one.open_stations for one in decisions}
    now_open = cycle.state.stations_open[officer.live.city.site_to_idx[place[0]]]
    assert held.get(place, same) == same
    assert place in held or same in now_open


def test_a_hand_over_is_given_and_confirmed(officer):
    officer.waiting()
    made = officer.post("handover", **{"from": "Ann", "to": "Bob", "note": "the north is slow"})
    assert made["open_items"]["waiting_order_ids"]
    assert officer.post(f"handover/{made['handover_id']}/confirm")["confirmed_by"] == "local"
    officer.post("handover/77/confirm", 404)
    assert officer.get("handover")["handovers"][0]["note"] == "the north is slow"


def test_every_playbook_starts_says_what_holds_in_both_languages_and_ends(officer):
    state = officer.played.play().state
    site = officer.live.city.sites[0]
    bodies = [
        {"kind": "suspend_site", "site_ids": [site.site_id]},
        {"kind": "fridge_failure", "site_ids": [site.site_id], "fridge_id": site.fridges[0].fridge_id},
        {"kind": "recall_lot", "lot_number": state.lots.lot_number[0]},
        {"kind": "surge", "factor": 1.5},
        {"kind": "power_cut", "site_ids": [site.site_id]},
    ]
    started = [officer.post("playbooks", **body, reason="a drill", client_key=body["kind"]) for body in bodies]
    again = officer.post("playbooks", **bodies[0], reason="a drill", client_key="suspend_site")
    assert again["playbook"]["playbook_id"] == started[0]["playbook"]["playbook_id"]
    assert all(one["briefing"]["text_en"] and one["briefing"]["text_zh"] for one in started)
    assert started[0]["briefing"]["neighbours"]
    assert started[0]["briefing"]["lots"]
    assert started[1]["briefing"]["rescue"]["lots"]
    assert {lot["lot_number"] for lot in started[2]["briefing"]["lots"]} == {bodies[2]["lot_number"]}
    minutes = [lot["minutes_to_loss"] for lot in started[4]["briefing"]["rescue"]["lots"]]
    assert minutes == sorted(minutes)
    assert len(officer.get("playbooks")["running"]) == len(bodies)
    for one in started:
        playbook_id = one["playbook"]["playbook_id"]
        assert officer.post(f"playbooks/{playbook_id}/end", reason="over")["ended_by"] == "local"
    assert officer.get("playbooks")["running"] == []
    assert len(officer.get("audit", action="playbook")["entries"]) == 2 * len(bodies)


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({"kind": "suspend_site"}, 409, "site_ids"),
        ({"kind": "suspend_site", "site_ids": ["nowhere"]}, 404, "nowhere"),
        ({"kind": "surge", "factor": 3}, 422, "factor"),
        ({"kind": "surge"}, 409, "factor"),
        ({"kind": "recall_lot", "lot_number": "L", "factor": 1.5}, 409, "factor"),
        ({"kind": "flood"}, 422, "kind"),
    ],
)
def test_a_playbook_that_says_too_little_or_too_much_is_refused(officer, body, status, word):
    assert word in officer.post("playbooks", status, **body, reason="a drill")["detail"]


def test_a_flag_in_a_report_suggests_a_playbook_and_starts_none(officer):
    report = officer.played.live_on()[0]
    value = orjson.loads(report)
    value["surroundings"] = {**value["surroundings"], "incidents": ["adverse_event_cluster"]}
    officer.live.submit(orjson.dumps(value))
    cycle = officer.live.run_cycle()
    listed = officer.get("playbooks")
    assert [(one["kind"], one["site_ids"]) for one in listed["proposed"]] == [("suspend_site", [value["site_id"]])]
    assert listed["running"] == []
    assert cycle.state.commitments.suspended_site_ids == frozenset()
