"""What goes between an engine's process and the one that asks it; the arrays themselves lie in shared memory."""

from __future__ import annotations

from dataclasses import dataclass

from doseflow.serve.array_frame import ArrayPlace


@dataclass(frozen=True, slots=True)
class Question:
    """Inputs in the shared memory; `deadline` is absolute monotonic time, the same for all processes of a machine."""

    places: list[ArrayPlace]
    deadline: float


@dataclass(frozen=True, slots=True)
class Answer:
    """Outputs in the shared memory, or why there are none."""

    places: list[ArrayPlace]
    failure: str = ""
