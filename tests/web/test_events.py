import contextlib
import json
import threading

import httpx
import pytest
from structlog.testing import capture_logs

TIMEOUT_SECONDS = 20


class Listener:
    """Reads an event stream in a thread of its own."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._news = threading.Condition()
        self.events: list[dict[str, str]] = []
        self.has_ended = threading.Event()
        self.headers: httpx.Headers | None = None
        threading.Thread(target=self._read, daemon=True).start()

    def wait_for(self, name: str, count: int = 1) -> list[dict[str, str]]:
        def found() -> list[dict[str, str]]:
            return [event for event in self.events if event.get("event") == name]

        with self._news:
            assert self._news.wait_for(lambda: len(found()) >= count, TIMEOUT_SECONDS), f"no {name}: {self.events}"
            return found()

    def _read(self) -> None:
        # The server may go before the listener when a test ends.
        with (
            contextlib.suppress(httpx.HTTPError),
            self._client.stream("GET", "/api/v1/events", timeout=TIMEOUT_SECONDS) as response,
        ):
            self.headers = response.headers
            event: dict[str, str] = {}
            for line in response.iter_lines():
                if line:
                    key, _, value = line.partition(": ")
                    event[key] = value
                else:
                    with self._news:
                        self.events.append(event)
                        self._news.notify_all()
                    event = {}
            self.has_ended.set()


@pytest.fixture
def listener(client):
    listener = Listener(client)
    listener.wait_for("connected")
    return listener


def test_a_cycle_is_told_with_its_id_and_a_rising_number(played, listener):
    cycles = [played.play(), played.play()]
    told = listener.wait_for("cycle_completed", 2)
    assert [json.loads(event["data"])["cycle_id"] for event in told] == [cycle.cycle_id for cycle in cycles]
    numbers = [int(event["id"]) for event in told]
    assert numbers == sorted(set(numbers))
    assert listener.headers["content-type"].startswith("text/event-stream")


def test_reports_and_commands_come_over_the_same_stream(played, client, listener):
    client.post("/api/v1/reports", content=played.live_on()[0])
    assert json.loads(listener.wait_for("reports_received")[0]["data"]) == {"accepted": 1, "refused": 0}
    site_id = played.city.city.sites[0].site_id
    client.post("/api/v1/commands/freeze", json={"site_id": site_id, "reason": "a drill"})
    told = json.loads(listener.wait_for("site_commanded")[0]["data"])
    assert told == {"command": "freeze", "site_id": site_id}


def test_every_listener_hears_everything(played, client):
    listeners = [Listener(client) for _ in range(3)]
    for each in listeners:
        each.wait_for("connected")
    cycle = played.play()
    for each in listeners:
        assert cycle.cycle_id in each.wait_for("cycle_completed")[0]["data"]


def test_the_stream_ends_without_an_error_when_the_city_stops(played, client, listener):
    with capture_logs() as logs:
        played.live.feed.close()
        assert listener.has_ended.wait(TIMEOUT_SECONDS)
        client.get("/healthz")
    assert logs == []


def test_a_listener_that_leaves_is_forgotten(played, client):
    with client.stream("GET", "/api/v1/events") as response:
        lines = response.iter_lines()
        next(lines)
        assert "doseflow_event_listeners 1.0" in client.get("/metrics").text
    for _ in range(100):
        if "doseflow_event_listeners 0.0" in client.get("/metrics").text:
            return
        played.live.feed.publish("reports_received", {"accepted": 0, "refused": 0})
    pytest.fail("the listener is still counted")
