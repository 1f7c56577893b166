"""The vaccine products of the Czech programme in spring 2021."""

from __future__ import annotations

from doseflow.domain.products import VaccineProduct

COMIRNATY = VaccineProduct(
    product_id="comirnaty",
    name="Comirnaty (Pfizer-BioNTech)",
    doses_per_vial=6,
    litres_per_vial=0.0108,
    in_use_hours=6,
    storage_low_celsius=2,
    storage_high_celsius=8,
    excursion_budget_minutes=240,
    source="6 doses a vial in the packaged data; in use 6 h; 4 h at 8 to 30 degrees (SmPC); 195 vials a 2.1 L tray",
)
MODERNA = VaccineProduct(
    product_id="moderna",
    name="COVID-19 Vaccine Moderna",
    doses_per_vial=10,
    litres_per_vial=0.03,
    in_use_hours=6,
    storage_low_celsius=2,
    storage_high_celsius=8,
    excursion_budget_minutes=720,
    source="10 doses a vial in the packaged data; in use 6 h (March 2021); excursion budget and volume assumed",
)
VAXZEVRIA = VaccineProduct(
    product_id="vaxzevria",
    name="Vaxzevria (AstraZeneca)",
    doses_per_vial=10,
    litres_per_vial=0.022,
    in_use_hours=6,
    storage_low_celsius=2,
    storage_high_celsius=8,
    excursion_budget_minutes=360,
    source="10 doses a vial in the packaged data; in-use life, excursion budget and volume assumed",
)
PRODUCTS = (COMIRNATY, MODERNA, VAXZEVRIA)
SHELF_DAYS = (31, 30, 120)
"""
Longest life left of a lot at 2 to 8 degrees, by product (Comirnaty 31 d from May 2021, Moderna 30 d; Vaxzevria
assumed).
"""
