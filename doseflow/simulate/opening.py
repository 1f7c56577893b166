"""How a world and each of its days begin: stock, fridges, vans, rosters, who is coming, what is delivered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from doseflow.domain.city import City, FloatArray
from doseflow.domain.roles import NUM_ROLES
from doseflow.simulate.cold_store import used_litres
from doseflow.simulate.day_plan import NEVER, DayPlan
from doseflow.simulate.day_profile import DAY_MINUTES, draw_coming
from doseflow.simulate.duty import with_shifts
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.products import SHELF_DAYS
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import (
    DIVERSION,
    DOSE_TRIP,
    NUM_MOVES,
    NUM_SERVED,
    OLDEST_MINUTES,
    STAFF_TRIP,
    Fridges,
    Lots,
    Totals,
    Vans,
    World,
)

LOT_PLACES = 12
LOTS_OF_PRODUCT = 6
"""Lots of each product that the city holds at the beginning."""
SHORT_LOT_SHARE = 0.04
"""Sites that hold a lot which expires during the day; assumed."""
SHORT_LOT_MINUTES = 14 * 60.0
DEFAULT_SHELF_DAYS = 30
QUIET_UNTIL_MINUTES = 120.0
"""So long before the first site opens the world begins."""
DELIVERED_FROM_MINUTES, DELIVERED_UNTIL_MINUTES = 8 * 60.0, 14 * 60.0


def initial_world(city: City, day: DayPlan, params: StepParams, rng: np.random.Generator) -> World:
    """
    The city in the morning before the first shift: nobody there, stock in the fridges, vans at home, deliveries on
    their way.
    """
    assumed, num_sites = params.assumed, city.num_sites
    ages = round(OLDEST_MINUTES / assumed.step_minutes)
    fridges = _fridges_of(city)
    lots, lot_numbers = _initial_lots(city, day, fridges, params, rng)
    world = World(
        # Nothing stirs before this, and a night of empty steps would only cost time.
        epoch_minutes=max(day.midnight, float(day.opens.min()) - QUIET_UNTIL_MINUTES),
        day=day,
        waiting_people=np.zeros((num_sites, NUM_ROLES, ages), dtype=np.int32),
        in_fixed_service=np.zeros((num_sites, NUM_SERVED, max(1, int(params.fixed_steps.max()))), dtype=np.int64),
        in_random_service=np.zeros((num_sites, NUM_SERVED), dtype=np.int64),
        seated_people=np.zeros((num_sites, max(1, params.stay_steps, params.long_stay_steps)), dtype=np.int64),
        coming_people=np.zeros((num_sites, DAY_MINUTES), dtype=np.int32),
        booked_people=day.booked_people,
        free_slots=day.free_slots,
        staff_people=np.zeros((num_sites, NUM_ROLES, NUM_ROLES, len(day.shift_starts), NUM_MOVES), dtype=np.int64),
        staff_trips=np.zeros(0, STAFF_TRIP),
        stations_open=np.zeros((num_sites, NUM_ROLES), dtype=np.int64),
        lots=lots,
        lot_numbers=lot_numbers,
        dose_trips=np.zeros(0, DOSE_TRIP),
        fridges=fridges,
        vans=_vans_at_home(city),
        diversions=np.zeros(0, DIVERSION),
        totals=_zero_totals(num_sites),
    )
    return begin_day(world, city, day, params, rng)


def begin_day(world: World, city: City, day: DayPlan, params: StepParams, rng: np.random.Generator) -> World:
    """
    The world with a new day: its bookings, its shifts not begun, its deliveries on their way; stock and totals go on.
    """
    trips, lot_numbers = _deliveries(world, city, day, params, rng)
    shape = (*world.staff_people.shape[:3], len(day.shift_starts), NUM_MOVES)
    world = replace(
        world,
        day=day,
        coming_people=draw_coming(rng, day.booked_people, day.habits, params.assumed).astype(np.int32),
        booked_people=day.booked_people,
        free_slots=day.free_slots,
        staff_people=np.zeros(shape, dtype=np.int64),
        staff_trips=np.zeros(0, STAFF_TRIP),
        diversions=np.zeros(0, DIVERSION),
        dose_trips=np.concatenate([world.dose_trips, trips]),
        lot_numbers=lot_numbers,
    )
    is_on = (day.shift_starts <= world.epoch_minutes) & (world.epoch_minutes < day.shift_ends)
    return with_shifts(world, np.flatnonzero(is_on), np.flatnonzero(~is_on), params)


def _zero_totals(num_sites: int) -> Totals:
    counts = np.zeros(num_sites, dtype=np.int64)
    minutes = np.zeros(num_sites)
    by_stage = np.zeros((num_sites, NUM_ROLES))
    return Totals(
        arrived=counts,
        walked_in=counts,
        diverted=counts,
        balked=counts,
        left=counts,
        turned_away=counts,
        served=counts,
        started=by_stage.astype(np.int64),
        waited_minutes=by_stage,
        waited_started_minutes=by_stage,
        busy_minutes=minutes,
        staffed_minutes=minutes,
        doses_given=counts,
        doses_wasted=counts,
        doses_expired=counts,
        doses_discarded=counts,
    )


def _vans_at_home(city: City) -> Vans:
    home_idx = np.array([city.site_to_idx[van.home_site_id] for van in city.vans], dtype=np.int64)
    return Vans(site_idx=home_idx, busy_until=np.zeros(len(home_idx)), heading_to_idx=home_idx)


def _fridges_of(city: City) -> Fridges:
    shape = city.num_sites, max(1, *(len(site.fridges) for site in city.sites))
    volume, set_point = np.zeros(shape), np.full(shape, 5.0)
    for position, site in enumerate(city.sites):
        volume[position, : len(site.fridges)] = [fridge.volume_litres for fridge in site.fridges]
        set_point[position, : len(site.fridges)] = [fridge.set_point_celsius for fridge in site.fridges]
    return Fridges(
        volume_litres=volume,
        temperature_celsius=set_point.copy(),
        set_point_celsius=set_point,
        pre_cool_celsius=np.full(shape, np.nan),
        pre_cool_until=np.full(shape, -NEVER),
    )


def _initial_lots(
    city: City, day: DayPlan, fridges: Fridges, params: StepParams, rng: np.random.Generator
) -> tuple[Lots, tuple[str, ...]]:
    """Stock of `stock_days` days of bookings, of the products the site uses, in up to two lots a product."""
    shape = city.num_sites, max(LOT_PLACES, 3 * len(city.products))
    whole, real = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    lots = Lots(
        code=whole.copy(),
        product_idx=whole.copy(),
        fridge_slot=whole.copy(),
        unopened_doses=whole.copy(),
        open_doses=whole,
        open_until=real,
        expires=real.copy(),
        excursion_minutes=real,
    )
    expires, lot_numbers = _city_lots(city, day)
    wanted = _wanted_doses(city, day, params.assumed, rng)
    free_litres = fridges.volume_litres.copy()
    for site_idx in range(city.num_sites):
        place = 0
        for product_idx in np.flatnonzero(wanted[site_idx]):
            for part in (0.6, 0.4):
                lot = int(rng.integers(1, LOTS_OF_PRODUCT)) if part > 0.5 or rng.random() > SHORT_LOT_SHARE else 0
                slot = int(np.argmax(free_litres[site_idx]))
                litres_per_vial = params.litres_per_vial[product_idx]
                vials = round(wanted[site_idx, product_idx] * part / params.doses_per_vial[product_idx])
                vials = min(vials, int(free_litres[site_idx, slot] / litres_per_vial))
                free_litres[site_idx, slot] -= vials * litres_per_vial
                lots.code[site_idx, place] = product_idx * LOTS_OF_PRODUCT + lot
                lots.product_idx[site_idx, place] = product_idx
                lots.fridge_slot[site_idx, place] = slot
                lots.unopened_doses[site_idx, place] = vials * params.doses_per_vial[product_idx]
                lots.expires[site_idx, place] = expires[product_idx, lot]
                place += 1
    return lots, lot_numbers


def _city_lots(city: City, day: DayPlan) -> tuple[FloatArray, tuple[str, ...]]:
    """Expiry of each product's lots, (K, lots), the first during the day, and the name of each code."""
    expires = np.zeros((len(city.products), LOTS_OF_PRODUCT))
    names = []
    for product_idx, product in enumerate(city.products):
        days = shelf_days(product_idx) * np.arange(LOTS_OF_PRODUCT) / LOTS_OF_PRODUCT
        expires[product_idx] = day.midnight + (np.ceil(days) + 1) * DAY_MINUTES
        expires[product_idx, 0] = day.midnight + SHORT_LOT_MINUTES
        names += [f"{product.product_id.upper()[:3]}-{k + 1:03}" for k in range(LOTS_OF_PRODUCT)]
    return expires, tuple(names)


def shelf_days(product_idx: int) -> int:
    """Longest life of a product's lots in days."""
    return SHELF_DAYS[product_idx] if product_idx < len(SHELF_DAYS) else DEFAULT_SHELF_DAYS


def _wanted_doses(city: City, day: DayPlan, assumed: SimulationParams, rng: np.random.Generator) -> FloatArray:
    """Doses each site holds, by product, (S, K)."""
    capacity = np.array([site.daily_capacity_people for site in city.sites])
    days = assumed.stock_days * np.exp(rng.normal(0, assumed.stock_days_sd, city.num_sites))
    doses = np.maximum(day.today.booked_people, 0.2 * capacity) * days
    may_hold = np.array([[p.product_id in site.products for p in city.products] for site in city.sites])
    used = np.where(may_hold, day.today.used_doses, 0).astype(float)
    unknown = used.sum(axis=-1) == 0
    used[unknown, np.argmax(may_hold[unknown], axis=-1)] = 1
    wanted: FloatArray = doses[:, None] * used / used.sum(axis=-1, keepdims=True) * may_hold
    return wanted


def _deliveries(
    world: World, city: City, day: DayPlan, params: StepParams, rng: np.random.Generator
) -> tuple[NDArray[np.void], tuple[str, ...]]:
    """
    The day's deliveries as trips: whole vials, as many as the emptiest fridge has room for; what is more stays away.
    """
    site_idx, product_idx = np.nonzero(day.today.delivered_doses)
    free_litres = world.fridges.volume_litres - used_litres(world.lots, world.fridges, params)
    arrives = day.midnight + rng.uniform(DELIVERED_FROM_MINUTES, DELIVERED_UNTIL_MINUTES, len(site_idx))
    names, trips = list(world.lot_numbers), []
    first_code = len(names)
    names += [f"{product.product_id.upper()[:3]}-{day.today.day_on:%y%m%d}" for product in city.products]
    for site, product, at in zip(site_idx, product_idx, arrives, strict=True):
        slot = int(np.argmax(free_litres[site]))
        vials = int(day.today.delivered_doses[site, product] // params.doses_per_vial[product])
        vials = min(vials, int(max(free_litres[site, slot], 0) / params.litres_per_vial[product]))
        free_litres[site, slot] -= vials * params.litres_per_vial[product]
        expires = day.midnight + shelf_days(int(product)) * DAY_MINUTES
        doses = vials * params.doses_per_vial[product]
        if doses:
            trips.append((site, slot, first_code + product, product, doses, expires, 0.0, at))
    return np.array(trips, dtype=DOSE_TRIP), tuple(names)
