"""What outside sources need of a living city: where they are noted, loggers' points, and which logger hangs where."""

from __future__ import annotations

from dataclasses import dataclass, field

from doseflow.intake.logger_table import LoggerTable
from doseflow.ports import LoggerPoints, SourceBook


@dataclass(frozen=True, slots=True)
class SourceParams:
    """
    What is known of outside sources.

    `loggers` is the file that says which cold-chain logger hangs in which fridge; minutes outside the band are added up
    over the last `excursion_days`.
    """

    loggers: str | None = None
    excursion_days: int = 30

    def __post_init__(self) -> None:
        if not 1 <= self.excursion_days <= 366:
            raise ValueError(f"excursion_days: must lie in 1..366, got {self.excursion_days}")


@dataclass(frozen=True, slots=True)
class Sources:
    """The parts that readers of outside sources work with."""

    book: SourceBook
    points: LoggerPoints
    loggers: LoggerTable = field(default_factory=LoggerTable)
    params: SourceParams = field(default_factory=SourceParams)
