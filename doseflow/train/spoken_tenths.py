"""Progress in lines: for a log, where a bar would be one line that nobody sees move."""

from __future__ import annotations

from collections.abc import Callable


def tenths(print_line: Callable[[str], None]) -> Callable[[str, int, int], None]:
    """What is told of every step prints a line at each tenth of the way, and at the first step."""
    reached: dict[str, int] = {}

    def say(what: str, done: int, total: int) -> None:
        tenth = 10 * done // max(total, 1)
        if tenth > reached.get(what, -1):
            reached[what] = tenth
            print_line(f"{what}: {done} of {total}")

    return say
