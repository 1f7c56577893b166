"""A vaccine product: what a vial holds and what it tolerates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VaccineProduct:
    """
    A vaccine product.

    `excursion_budget_minutes` is the time a lot may spend outside the storage band before it must not be used.
    """

    product_id: str
    name: str
    doses_per_vial: int
    litres_per_vial: float
    in_use_hours: float
    storage_low_celsius: float
    storage_high_celsius: float
    excursion_budget_minutes: float
    source: str = "assumed"

    def __post_init__(self) -> None:
        if self.doses_per_vial < 1:
            raise ValueError(f"doses_per_vial: must be at least 1, got {self.doses_per_vial}")
        if self.litres_per_vial <= 0:
            raise ValueError(f"litres_per_vial: must be above 0, got {self.litres_per_vial}")
        if self.storage_low_celsius >= self.storage_high_celsius:
            raise ValueError("storage_low_celsius: must be below storage_high_celsius")
