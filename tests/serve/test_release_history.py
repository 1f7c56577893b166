"""The history of releases on a disk that tears lines: what is lost, what is told, and what stays."""

from datetime import UTC, datetime

import pytest

from doseflow.serve.aliases import Aliases
from doseflow.serve.release_history import ReleaseEvent, appended, next_line, read_trail

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)


def append(path, why):
    line, _ = next_line(path, ReleaseEvent(NOW, "policy", "canary", "a test", why, Aliases()))
    with appended(path, line):
        pass


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "history.jsonl"
    for why in ("first", "second"):
        append(path, why)
    return path


def test_an_event_after_a_torn_line_begins_a_line_of_its_own(path):
    path.write_bytes(path.read_bytes()[:-20])
    append(path, "third")
    append(path, "fourth")
    trail = read_trail(path)
    assert [one["why"] for one in trail.events] == ["first", "third", "fourth"]
    assert trail.damage == ["history.jsonl: line 2 is no event"]


def test_a_line_that_lost_only_its_end_is_whole_again_with_the_next_event(path):
    path.write_bytes(path.read_bytes()[:-1])
    append(path, "third")
    trail = read_trail(path)
    assert [one["why"] for one in trail.events] == ["first", "second", "third"]
    assert trail.damage == []


@pytest.mark.parametrize("line", [b"[1]", b"7", b"{}", b"", b"\xff", b'{"net": 1}'])
def test_whatever_a_line_holds_it_is_damage_and_the_rest_is_read(path, line):
    path.write_bytes(path.read_bytes() + line + b"\n")
    append(path, "third")
    trail = read_trail(path)
    assert [one["why"] for one in trail.events] == ["first", "second", "third"]
    assert trail.damage == ["history.jsonl: line 3 is no event"]


def test_a_line_that_was_taken_out_is_told_beside_the_events_that_are_left(path):
    append(path, "third")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2])
    trail = read_trail(path)
    assert [one["why"] for one in trail.events] == ["first", "third"]
    assert trail.damage == ["history.jsonl: the line before line 2 was changed or taken out"]
