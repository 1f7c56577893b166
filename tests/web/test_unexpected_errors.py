import pytest
from structlog.testing import capture_logs

from doseflow.errors import StoreUnavailable
from doseflow.web.app import create_app


@pytest.fixture
def broken_client(played, serve):
    app = create_app(played.live)

    @app.get("/breaks")
    def breaks() -> None:
        raise ZeroDivisionError("secret of the house")

    @app.get("/store-gone")
    def store_gone() -> None:
        raise StoreUnavailable("the database does not answer")

    return serve(app)


def test_a_defect_is_recorded_and_answered_with_the_reference_of_its_entry(broken_client):
    with capture_logs() as logs:
        answer = broken_client.get("/breaks")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["reference"] == logs[0]["reference"]
    assert logs[0]["event"] == "request_failed_unexpectedly"
    assert "secret" not in answer.text


def test_the_service_goes_on_after_a_defect(broken_client):
    with capture_logs():
        broken_client.get("/breaks")
    assert broken_client.get("/healthz").status_code == 200


def test_a_store_that_is_gone_is_503_and_in_the_log(broken_client):
    with capture_logs() as logs:
        answer = broken_client.get("/store-gone")
    assert (answer.status_code, answer.json()["detail"]) == (503, "the database does not answer")
    assert [entry["problem"] for entry in logs] == ["store-unavailable"]
