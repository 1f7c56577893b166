"""StaffingRule: where planners differ. Stations, doses, cold chain and arrivals are the rules' for all of them."""

from __future__ import annotations

from typing import Protocol

from doseflow.domain.decisions import StaffMove
from doseflow.policy.situation import Situation


class StaffingRule(Protocol):
    """Says who should go where."""

    def __call__(self, situation: Situation) -> list[StaffMove]:
        """Moves for the whole city, those that stand from earlier cycles first."""
