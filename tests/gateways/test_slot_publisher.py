from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator

import pytest
from slot_server import Published, publishing
from starlette.responses import Response

from doseflow.errors import GatewayFailed, SettingsWrong
from doseflow.gateways.slot_publisher import SlotFeedParams, SlotPublisher

LOCATIONS, SCHEDULES, SLOTS = b'{"l":1}\n', b'{"s":1}', b'{"a":1}\r\n{"b":2}\n\n'


@pytest.fixture(scope="module")
def server() -> Iterator[Published]:
    with publishing() as published:
        yield published


@pytest.fixture
def published(server: Published) -> Published:
    server.instead, server.asked = {}, []
    server.offer(Slot_x=SLOTS, Location_x=LOCATIONS, Schedule_x=SCHEDULES)
    return server


class Sink(list):
    """Lines with their kind, as they come."""

    def __call__(self, kind: str, lines) -> None:
        self.extend((kind, line) for line in lines)

    def drained(self) -> list[tuple[str, bytes]]:
        lines = [(kind, line.strip()) for kind, line in self if line.strip()]
        self.clear()
        return lines


def poll(publisher: SlotPublisher, sink: Sink):
    return asyncio.run(publisher.poll(sink))


def test_everything_is_read_once_places_first_and_then_only_what_changed(published) -> None:
    publisher, sink = SlotPublisher(published.url, SlotFeedParams()), Sink()
    outcome = poll(publisher, sink)
    assert (outcome.read, outcome.unchanged, outcome.failures) == (3, 0, ())
    everything = [("Location", b'{"l":1}'), ("Schedule", b'{"s":1}'), ("Slot", b'{"a":1}'), ("Slot", b'{"b":2}')]
    assert sink.drained() == everything
    outcome = poll(publisher, sink)
    assert (outcome.read, outcome.unchanged) == (0, 3)
    assert set(published.statuses().values()) == {304}
    published.offer(Slot_x=b'{"c":3}', Location_x=LOCATIONS, Schedule_x=SCHEDULES)
    assert poll(publisher, sink).read == 1
    assert sink.drained() == [("Slot", b'{"c":3}')]


def test_slots_are_read_again_when_a_place_is_new(published) -> None:
    publisher, sink = SlotPublisher(published.url, SlotFeedParams()), Sink()
    poll(publisher, sink)
    sink.clear()
    published.offer(Slot_x=SLOTS, Location_x=LOCATIONS + b'{"l":2}', Schedule_x=SCHEDULES)
    assert poll(publisher, sink).read == 2
    assert ("Slot", b'{"a":1}') in sink.drained()


def test_a_file_that_fails_is_told_the_others_are_read_and_it_is_asked_for_again(published) -> None:
    published.instead["/Schedule_x.ndjson"] = Response(status_code=500)
    publisher, sink = SlotPublisher(published.url, SlotFeedParams()), Sink()
    outcome = poll(publisher, sink)
    assert outcome.failures == ("Schedule /Schedule_x.ndjson: answered 500",)
    assert outcome.read == 2
    published.instead.clear()
    sink.clear()
    assert poll(publisher, sink).failures == ()
    # The slots were read without the schedule that places them, so that they are read again with it.
    assert [kind for kind, _ in sink.drained()] == ["Schedule", "Slot", "Slot"]


@pytest.mark.parametrize("status", [404, 500, 302])
def test_a_manifest_that_is_not_there_fails_the_poll(published, status: int) -> None:
    published.instead["/$bulk-publish"] = Response(status_code=status, headers={"location": "http://127.0.0.1:1/"})
    with pytest.raises(GatewayFailed, match=str(status)):
        poll(SlotPublisher(published.url, SlotFeedParams()), Sink())


def test_a_manifest_that_is_no_manifest_fails_the_poll(published) -> None:
    published.bodies["/$bulk-publish"] = b"<html>"
    with pytest.raises(GatewayFailed, match="manifest: must be JSON"):
        poll(SlotPublisher(published.url, SlotFeedParams()), Sink())


def test_a_publisher_that_asks_for_time_is_given_it(published) -> None:
    published.instead["/Slot_x.ndjson"] = Response(status_code=429, headers={"retry-after": "77"})
    with pytest.raises(GatewayFailed) as busy:
        poll(SlotPublisher(published.url, SlotFeedParams()), Sink())
    assert busy.value.retry_after_seconds == 77


def test_changes_are_asked_for_since_the_moment_of_the_last_manifest(published) -> None:
    publisher, sink = SlotPublisher(published.url, SlotFeedParams(since=True)), Sink()
    poll(publisher, sink)
    poll(publisher, sink)
    asked = [query for path, query, _ in published.asked if path == "/$bulk-publish"]
    assert asked == ["", "_since=2026-05-04T08%3A00%3A00Z"]


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [({"max_file_bytes": 2000}, "is over 2000 bytes"), ({"max_line_bytes": 300}, "a line over 300")],
)
def test_a_file_or_a_line_over_the_limit_is_given_up(published, limits, sentence: str) -> None:
    published.offer(Slot_x=b'{"long":"' + b"x" * 3000 + b'"}', Location_x=LOCATIONS)
    [failure] = poll(SlotPublisher(published.url, SlotFeedParams(**limits)), Sink()).failures
    assert sentence in failure


def test_a_file_of_another_host_is_not_asked_for_unless_the_setting_names_it(published) -> None:
    published.bodies["/$bulk-publish"] = published.bodies["/$bulk-publish"].replace(
        b'"/Slot_x',
        published.url.replace("127.0.0.1", "localhost").replace("/$bulk-publish", "/Slot_x").join(['"', ""]).encode(),
    )
    [failure] = poll(SlotPublisher(published.url, SlotFeedParams()), Sink()).failures
    assert "other_hosts" in failure
    port = published.url.split(":")[2].split("/")[0]
    assert not poll(SlotPublisher(published.url, SlotFeedParams(other_hosts=(f"localhost:{port}",))), Sink()).failures


def test_a_body_cut_off_gives_its_whole_lines_and_is_asked_for_again() -> None:
    with cut_off_server() as url:
        publisher, sink = SlotPublisher(url, SlotFeedParams(timeout_seconds=2)), Sink()
        first, second = poll(publisher, sink), poll(publisher, sink)
    assert len(first.failures) == len(second.failures) == 1
    assert sink.drained() in ([], [("Slot", b'{"a":1}')] * 2)


def test_nobody_at_home_fails_the_poll() -> None:
    with pytest.raises(GatewayFailed, match="the manifest cannot be read"):
        poll(SlotPublisher("http://127.0.0.1:1/$bulk-publish", SlotFeedParams(timeout_seconds=1)), Sink())


@pytest.mark.parametrize("url", ["", "ftp://a/b", "https:///x", "file:///etc/passwd"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(SettingsWrong, match=r"slot_feeds\.urls"):
        SlotPublisher(url, SlotFeedParams())


class cut_off_server:  # noqa: N801 - used as a statement
    """Promises 1,000 bytes of slots, gives one line and a half, and hangs up."""

    def __enter__(self) -> str:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()
        return f"{self._url}/$bulk-publish"

    def __exit__(self, *_error: object) -> None:
        self._listener.close()

    def _serve(self) -> None:
        manifest = b'{"output":[{"type":"Slot","url":"/slots"}]}'
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                while request := connection.recv(65536):
                    if b"/slots" in request:
                        head = b'HTTP/1.1 200 OK\r\netag: "1"\r\ncontent-length: 1000\r\n\r\n'
                        connection.sendall(head + b'{"a":1}\n{"b":')
                        break
                    head = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(manifest)
                    connection.sendall(head + manifest)
