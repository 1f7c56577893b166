"""How appointments of other systems are taken into the city's picture."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AppointmentParams:
    """Names of sites in other systems, and when what these tell is trusted."""

    key_file: str = "var/appointment_ids.key"
    """File of the key under which ids of appointments are hashed; made when a door is on and it is missing."""
    locations: dict[str, str] = field(default_factory=dict)
    """Site by its name elsewhere: `"system|value"`, `"vtrcks|RA1000116"`, `"Location/7"`, `"AIL-3.4|North clinic"`."""
    nearest_within_metres: float = 0.0
    """How far the nearest site may be from a place that nobody has named but whose position is told; 0 is never."""
    warm_up_hours: float = 0.0
    """Hours from a source's first word of a site until its bookings count, where older ones cannot be loaded first."""
    silent_after_hours: float = 24.0
    """After so many hours without a word of a source its sites' bookings are unknown again, not 0."""
    keep_days: int = 7
    """Days for which appointments and slots are kept after they ended, and messages remembered."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("nearest_within_metres", 0, 50_000),
            ("warm_up_hours", 0, 24 * 60),
            ("silent_after_hours", 0.25, 24 * 60),
            ("keep_days", 1, 366),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f"{name}: must lie in {low}..{high}, got {value}")
