"""The operating limits of a city: what no plan may exceed. Each has its reason; a city may set its own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OperatingLimits:
    """Limits that the policy should respect and the referee enforces. Assumed defaults; a city sets its own."""

    max_travel_minutes: float = 60.0
    """Longest one-way trip of a member of staff, and longest way a walk-in is sent is half of it."""
    min_stay_minutes: float = 60.0
    """Shift time that must be left after arriving, so that a move is worth its travel."""
    max_moves_per_shift: int = 1
    """Moves a person may be asked to make in one shift."""
    max_moved_share: float = 0.5
    """Share of a site's people of one role that may leave in one cycle (at least one person may)."""
    max_city_moved_people: int = 60
    """People that may be sent travelling in one cycle, city-wide."""
    max_station_changes: int = 4
    """Stations of one stage at one site that one cycle may open or close."""
    max_report_age_minutes: float = 30.0
    """Age of the staff, station or stock reading past which a site neither gives nor receives."""
    min_lot_life_minutes: float = 240.0
    """Life a lot must have left when it arrives elsewhere."""
    safety_stock_share: float = 0.25
    """Share of the people still booked today for whom a giving site keeps doses beyond the booked ones."""
    max_walk_ins_sent_share: float = 0.5
    """Share of the expected walk-ins of the next half hour that may be sent to a neighbour."""
    max_slot_change_share: float = 0.3
    """Share of a booking bin's people that release or hold may change."""

    def __post_init__(self) -> None:
        for name in ("max_moved_share", "safety_stock_share", "max_walk_ins_sent_share", "max_slot_change_share"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"{name}: must lie in 0..1, got {value}")
        for name in ("max_travel_minutes", "min_stay_minutes", "max_report_age_minutes", "min_lot_life_minutes"):
            value = getattr(self, name)
            if value < 0:
                raise ValueError(f"{name}: must be at least 0, got {value}")
        for name in ("max_moves_per_shift", "max_city_moved_people", "max_station_changes"):
            value = getattr(self, name)
            if value < 0:
                raise ValueError(f"{name}: must be at least 0, got {value}")
