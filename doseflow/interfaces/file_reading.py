"""What was made of a file of another system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from doseflow.domain.appointment import UnknownCode


@dataclass(frozen=True, slots=True)
class FileReading:
    """
    A file as a door would read it.

    Parameters
    ----------
    format
        Name and version of the format, in words.
    understood
        A sentence for each thing that was understood.
    kept
        What would be stored, a row a line; never anything of anybody.
    problems
        A sentence for each thing that would be refused.
    """

    format: str
    understood: Sequence[str] = ()
    kept: Sequence[str] = ()
    unknown_codes: Sequence[UnknownCode] = field(default_factory=tuple)
    problems: Sequence[str] = ()
