"""The nearest fridges that could take a product in: by travel time, band, free volume and licence."""

from __future__ import annotations

from dataclasses import dataclass

from doseflow.domain.state import CityState


@dataclass(frozen=True, slots=True)
class SpareVolume:
    """A fridge with room; `travel_minutes` is 0 at the same site, `doses` how many of the product fit."""

    site_id: str
    fridge_id: str
    travel_minutes: float
    free_litres: float
    doses: int


def nearest_spare_volume(state: CityState, site_idx: int, product_idx: int) -> list[SpareVolume]:
    """
    Fridges for a product of a site, the nearest first and of those the roomiest.

    A fridge is known to have power and to be in the product's band; no playbook says that it fails; its site may store
    the product and is neither suspended nor frozen.
    """
    found = [
        SpareVolume(site_id, state.fridges.fridge_id[row], travel, free, doses)
        for row in range(len(state.fridges.fridge_id))
        if (travel := _travel_minutes(state, site_idx, int(state.fridges.site_idx[row]))) is not None
        and _may_take(state, site_idx, row, product_idx)
        and (doses := doses_that_fit(state, product_idx, free := _free_litres(state, row))) > 0
        and (site_id := state.city.sites[int(state.fridges.site_idx[row])].site_id)
    ]
    return sorted(found, key=lambda spare: (spare.travel_minutes, -spare.free_litres, spare.site_id, spare.fridge_id))


def doses_that_fit(state: CityState, product_idx: int, litres: float) -> int:
    """Doses of whole vials that a volume holds; 0 where it is unknown."""
    product = state.city.products[product_idx]
    return 0 if not litres > 0 else int(litres / product.litres_per_vial + 1e-9) * product.doses_per_vial


def _free_litres(state: CityState, row: int) -> float:
    return float(state.fridges.volume_possible_litres[row] - state.fridges.volume_used_litres[row])


def _travel_minutes(state: CityState, from_idx: int, to_idx: int) -> float | None:
    return 0.0 if from_idx == to_idx else state.city.travel_by_pair.get((from_idx, to_idx))


def _may_take(state: CityState, from_idx: int, row: int, product_idx: int) -> bool:
    fridges, wishes, product = state.fridges, state.commitments, state.city.products[product_idx]
    site_idx = int(fridges.site_idx[row])
    site = state.city.sites[site_idx]
    is_closed = site.site_id in wishes.frozen_site_ids | wishes.suspended_site_ids and site_idx != from_idx
    return bool(
        not is_closed
        and not wishes.incidents.is_failed(site.site_id, fridges.fridge_id[row])
        and fridges.power_on[row] == 1
        and product.storage_low_celsius <= fridges.temperature_celsius[row] <= product.storage_high_celsius
        and product.product_id in site.products
    )
