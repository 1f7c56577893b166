"""Progress in lines."""

from __future__ import annotations

from doseflow.train.spoken_tenths import tenths


def test_a_hundred_steps_are_eleven_lines_and_the_last_says_that_all_are_done():
    lines = []
    say = tenths(lines.append)
    for done in range(101):
        say("steps", done, 100)
    assert len(lines) == 11
    assert lines[0] == "steps: 0 of 100"
    assert lines[-1] == "steps: 100 of 100"


def test_two_pieces_of_work_have_lines_of_their_own():
    lines = []
    say = tenths(lines.append)
    say("days", 1, 2)
    say("steps", 1, 2)
    say("days", 1, 2)
    assert lines == ["days: 1 of 2", "steps: 1 of 2"]
