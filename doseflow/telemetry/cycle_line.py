"""The line of a cycle in the log: what a person on duty wants to know of it."""

from __future__ import annotations

from collections.abc import Mapping


def cycle_line(
    *,
    planner: str,
    num_reported: int,
    num_sites: int,
    num_new_orders: int,
    num_withdrawn: int,
    stage_milliseconds: Mapping[str, float],
    why: str,
) -> str:
    """One sentence: how long it took and what took longest, what came in, what goes out, and who planned if unusual."""
    total = sum(stage_milliseconds.values())
    slowest = max(stage_milliseconds, key=lambda stage: stage_milliseconds[stage], default="")
    longest = f", of it {slowest} {stage_milliseconds[slowest]:.0f}" if slowest else ""
    line = (
        f"{total:.0f} ms{longest}: {num_reported:,} of {_counted(num_sites, 'site')} reported, "
        f"{_counted(num_new_orders, 'new order')}, {num_withdrawn} withdrawn, planned by {planner}"
    )
    return f"{line}, since {why}" if why else line


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
