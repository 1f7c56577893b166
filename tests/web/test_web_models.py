"""Models over HTTP: who answers, and the steps that a person may order of a release."""

from datetime import UTC, datetime, timedelta

import pytest

from doseflow.nets import open_model_store
from doseflow.serve.opened_model import PACKAGED_BUNDLES
from doseflow.web.app import create_app


@pytest.fixture
def learned(make_city, tmp_path):
    """A city planned by the learned policy, with a model store."""
    return make_city(
        planner="learned",
        models={"folder": str(tmp_path / "models"), "allow_unsigned": True},
        breaker={"deadline_milliseconds": 5000},
        engines={"deadline_milliseconds": 60_000},
    )


def order(client, step, **body):
    return client.post(f"/api/v1/models/{step}", json={"net": "policy", **body})


def test_a_model_is_let_in_promoted_and_taken_back_over_http_and_the_next_cycle_follows(learned, serve):
    began_at = datetime.now(UTC)
    client = serve(create_app(learned.live))
    slot = learned.live.releases["policy"].slot
    digest = open_model_store(learned.opened.settings).add(PACKAGED_BUNDLES / "policy").digest
    before = client.get("/api/v1/models").json()
    assert (before["has_store"], before["events"]) == (True, [])
    assert [(one["net"], one["answering"], one["breaker"]) for one in before["nets"]] == [
        ("policy", "policy packaged", "closed")
    ]

    answer = order(client, "canary", model=digest[:8], share_percent=10, why="to see")
    assert answer.status_code == 200
    assert answer.json()["aliases"]["challenger"] == digest
    assert answer.json()["aliases"]["share_permille"] == 100
    refused = order(client, "promote")
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:doseflow:problem:refused-release")
    assert order(client, "promote", force=True, by="releases").json()["aliases"]["champion"] == digest
    slot.refresh()
    slot.settle()
    cycle = learned.play()
    assert cycle.plan.made_by == f"learned, which the settings choose, with policy {digest[:12]}, champion"
    # The watch over the models knows that another one answers, and forgets the errors of the one before.
    assert learned.live.models._champions == {"policy": digest}
    assert client.get("/api/v1/cycles/latest").json()["made_by"] == cycle.plan.made_by
    plan = client.get(f"/api/v1/plans/{cycle.cycle_id}").json()
    assert plan["made_by"] == cycle.plan.made_by

    assert order(client, "rollback").json()["aliases"]["champion"] == "packaged"
    assert "policy packaged, champion" in learned.play().plan.made_by
    events = client.get("/api/v1/models").json()["events"]
    assert [(one["event"], one["by"]) for one in events] == [
        ("rolled_back", "dashboard"),
        ("promoted_by_force", "releases"),
        ("canary", "dashboard"),
    ]
    # By the machine's clock, as from the command line; the day of the city is another.
    for one in events:
        assert began_at <= datetime.fromisoformat(one["at"]) <= datetime.now(UTC)
        assert began_at - datetime.fromisoformat(one["city_at"]) > timedelta(days=1)
    learned.live.feed.close()


def test_a_damaged_model_is_refused_over_http_and_nothing_changes(learned, serve):
    client = serve(create_app(learned.live))
    store = open_model_store(learned.opened.settings)
    digest = store.add(PACKAGED_BUNDLES / "policy").digest
    (store.folder / "objects" / digest / "model.onnx").write_bytes(b"damaged")
    answer = order(client, "canary", model=digest)
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:doseflow:problem:wrong-model")
    assert store.history() == []
    learned.live.feed.close()


@pytest.mark.parametrize(
    ("step", "body", "status"),
    [
        ("canary", {"model": "abcdef"}, 404),
        ("canary", {"net": "weather"}, 404),
        ("rollback", {}, 409),
        ("canary", {"share_percent": 100}, 422),
        ("canary", {"share_percent": 0.04}, 422),
        ("canary", {"share_percent": 99.96}, 422),
        ("canary", {"colour": "red"}, 422),
        ("dance", {}, 422),
    ],
)
def test_what_cannot_be_ordered_is_a_problem(learned, serve, step, body, status):
    client = serve(create_app(learned.live))
    answer = order(client, step, **body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    learned.live.feed.close()


def test_a_torn_history_is_told_and_takes_neither_the_metrics_nor_the_models_down(learned, serve):
    client = serve(create_app(learned.live))
    digest = open_model_store(learned.opened.settings).add(PACKAGED_BUNDLES / "policy").digest
    assert order(client, "canary", model=digest[:8], share_percent=10).status_code == 200
    assert order(client, "rollback").status_code == 200
    rolled_back = 'doseflow_canary_rollbacks_total{by="people",net="policy"} 1.0'
    assert rolled_back in client.get("/metrics").text
    path = open_model_store(learned.opened.settings).folder / "history.jsonl"
    path.write_bytes(path.read_bytes() + b'{"at": "2026-')
    told = client.get("/metrics")
    assert told.status_code == 200
    assert rolled_back in told.text
    assert "doseflow_release_history_damaged_lines 1.0" in told.text
    answer = client.get("/api/v1/models").json()
    assert answer["history_damage"] == ["history.jsonl: line 3 is no event"]
    assert [one["event"] for one in answer["events"]] == ["rolled_back", "canary"]
    path.unlink()
    path.mkdir()
    assert rolled_back in client.get("/metrics").text
    learned.live.feed.close()


def test_a_city_without_nets_says_so(client):
    answer = client.get("/api/v1/models").json()
    assert (answer["has_store"], answer["nets"], answer["events"]) == (False, [], [])
    assert order(client, "rollback").status_code == 404
