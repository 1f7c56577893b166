import sqlite3
from datetime import timedelta

import pytest

from doseflow.errors import StoreUnavailable


def checks(client):
    answer = client.get("/readyz")
    return answer.status_code, {one["name"]: (one["ok"], one["reason"]) for one in answer.json()["checks"]}


def test_healthy_while_cycles_run_and_not_when_none_has_for_three_periods(played, client):
    assert client.get("/healthz").json() == {"status": "ok"}
    played.play()
    played.clock.set(played.clock.now() + timedelta(minutes=14))
    assert client.get("/healthz").status_code == 200
    played.clock.set(played.clock.now() + timedelta(minutes=2))
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["detail"] == "no cycle has completed for 16 minutes"


def test_a_first_cycle_that_never_comes_is_as_bad_as_one_that_stops(played, client):
    played.clock.set(played.clock.now() + timedelta(minutes=16))
    assert client.get("/healthz").status_code == 503
    # A report is safe all the same.
    assert client.get("/readyz").json()["ready"] is True


def test_not_ready_while_the_store_can_be_read_and_not_written(played, client, tmp_path):
    played.play()
    assert checks(client)[0] == 200
    blocking = sqlite3.connect(played.opened.settings.store.url.removeprefix("sqlite:///"), isolation_level=None)
    blocking.execute("BEGIN EXCLUSIVE")
    status, found = checks(client)
    blocking.execute("ROLLBACK")
    blocking.close()
    assert status == 503
    assert found["store"][0] is False
    assert checks(client)[0] == 200


def test_asking_whether_it_can_be_written_changes_nothing(played):
    played.play()
    before = played.live.plans.latest_cycle()
    played.live.plans.check_writable()
    assert played.live.plans.latest_cycle() == before


def test_a_fallback_that_answered_is_told_with_its_reason_and_reports_are_taken_all_the_same(played, client):
    class Failing:
        name = "failing"

        def __call__(self, state, forecast):
            raise RuntimeError("no weights")

    from dataclasses import replace

    played.live._planner = replace(played.live._planner, policy=Failing())
    played.play()
    status, found = checks(client)
    assert status == 200
    assert found["planner"] == (False, "failing failed: RuntimeError: no weights")
    assert found["forecaster"] == (True, "")


def test_what_is_closed_cannot_be_written(played):
    played.opened.store.close()
    path = played.opened.settings.store.url.removeprefix("sqlite:///")
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE alembic_version")
    with pytest.raises(StoreUnavailable):
        played.live.plans.check_writable()


def test_the_drift_door_tells_the_recommendation_with_all_its_evidence(played, client):
    played.play()
    told = client.get("/api/v1/drift").json()
    assert told["training_recommended"] is False
    assert told["recommendation"] == "Nothing to do."
    assert [one["kind"] for one in told["evidence"]] == ["forecast_error", "wait_error", "features"]
    assert (told["reference_days"], told["reference_days_needed"]) == (0, 7)
