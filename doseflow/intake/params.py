"""What the door lets in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IntakeParams:
    """
    Bounds of what is taken from outside.

    `max_future_minutes` allows for a site's clock that runs ahead; a report older than `max_age_hours` tells nothing
    that a plan could use. `max_quarantine_bytes` is how much is kept of a body that cannot be read.
    """

    max_body_bytes: int = 8 * 2**20
    max_report_bytes: int = 2**18
    max_future_minutes: float = 10.0
    max_age_hours: float = 72.0
    max_quarantine_bytes: int = 65_536
    max_reports: int = 10_000

    def __post_init__(self) -> None:
        for name, low, high in (
            ("max_body_bytes", 1024, 2**30),
            ("max_report_bytes", 1024, self.max_body_bytes),
            ("max_future_minutes", 0, 24 * 60),
            ("max_age_hours", 1, 24 * 366),
            ("max_quarantine_bytes", 0, self.max_body_bytes),
            ("max_reports", 1, 10**6),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {value}")
