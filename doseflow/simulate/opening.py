"""How a world and each of its days begin: stock, fridges, vans, rosters, who is coming, what is delivered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from doseflow.domain.city import City, FloatArray
from doseflow.domain.roles import NUM_ROLES
from doseflow.simulate.cold_store import used_litres
from doseflow.simulate.day_plan import NEVER, DayPlan
from doseflow.simulate.day_profile import DAY_MINUTES, DAY_PERIODS, draw_coming, draw_walk_ins
from doseflow.simulate.duty import with_shifts
from doseflow.simulate.flow import empty_flow
from doseflow.simulate.parameters import SimulationParams
from doseflow.simulate.products import SHELF_DAYS
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.table import Table, table_of
from doseflow.simulate.world import (
    DIVERSION,
    DOSE_TRIP,
    NUM_MOVES,
    NUM_SERVED,
    REMEMBERED_MINUTES,
    STAFF_TRIP,
    Fridges,
    Lots,
    SameDayHabits,
    Totals,
    Vans,
    World,
    with_staff,
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
    remembered = round(REMEMBERED_MINUTES / assumed.step_minutes) + 1
    fridges = _fridges_of(city)
    lots, lot_numbers = _initial_lots(city, day, fridges, params, rng)
    world = World(
        # Nothing stirs before this, and a night of empty steps would only cost time.
        epoch_minutes=max(day.midnight, float(day.opens.min()) - QUIET_UNTIL_MINUTES),
        day=day,
        flow=empty_flow(np, params.flow, params.lanes, (), remembered),
        coming_people=np.zeros((num_sites, DAY_MINUTES), dtype=np.int32),
        walk_ins_people=np.zeros((num_sites, DAY_MINUTES), dtype=np.int32),
        same_day=SameDayHabits(np.zeros((num_sites, DAY_PERIODS)), np.zeros((num_sites, DAY_PERIODS))),
        booked_people=day.booked_people,
        free_slots=day.free_slots,
        staff_people=np.zeros((num_sites, NUM_ROLES, NUM_ROLES, len(day.shift_starts), NUM_MOVES), dtype=np.int64),
        on_duty_people=np.zeros((num_sites, NUM_ROLES, len(day.shift_starts)), dtype=np.int64),
        staff_trips=table_of(STAFF_TRIP),
        stations_open=np.zeros((num_sites, NUM_ROLES), dtype=np.int64),
        lots=lots,
        owed_doses=np.zeros(num_sites, dtype=np.int64),
        fetched_vials=np.zeros(fridges.volume_litres.shape),
        lot_numbers=lot_numbers,
        dose_trips=table_of(DOSE_TRIP),
        fridges=fridges,
        vans=_vans_at_home(city),
        diversions=table_of(DIVERSION),
        totals=_zero_totals(num_sites),
    )
    return begin_day(world, city, day, params, rng)


def begin_day(world: World, city: City, day: DayPlan, params: StepParams, rng: np.random.Generator) -> World:
    """
    The world with a new day: its bookings, its shifts not begun, its deliveries on their way; stock and totals go on.
    """
    # A stream a concern: more walk-ins must not change who else comes, nor the deliveries.
    booked_rng, walk_in_rng, same_day_rng, delivery_rng = rng.spawn(4)
    trips, lot_numbers = _deliveries(world, city, day, params, delivery_rng)
    shape = (*world.staff_people.shape[:3], len(day.shift_starts), NUM_MOVES)
    world = replace(
        world,
        day=day,
        coming_people=draw_coming(booked_rng, day.booked_people, day.habits, params.assumed).astype(np.int32),
        walk_ins_people=draw_walk_ins(walk_in_rng, day.walk_ins_per_minute),
        same_day=same_day_habits(day, params, same_day_rng),
        booked_people=day.booked_people,
        free_slots=day.free_slots,
        staff_trips=table_of(STAFF_TRIP),
        diversions=table_of(DIVERSION),
        dose_trips=world.dose_trips.followed_by(trips),
        lot_numbers=lot_numbers,
    )
    world = with_staff(world, np.zeros(shape, dtype=np.int64))
    is_on = (day.shift_starts <= world.epoch_minutes) & (world.epoch_minutes < day.shift_ends)
    return with_shifts(world, is_on, ~is_on, params)


def same_day_habits(day: DayPlan, params: StepParams, rng: np.random.Generator) -> SameDayHabits:
    """How those will behave who book on the day, drawn before anybody knows whether they do."""
    shape = day.free_slots.shape
    early = rng.normal(day.habits.early_today_minutes[:, None], params.assumed.early_sd_minutes, shape)
    return SameDayHabits(show_chance=rng.random(shape), early_minutes=early)


def _zero_totals(num_sites: int) -> Totals:
    counts = np.zeros(num_sites, dtype=np.int64)
    minutes = np.zeros(num_sites)
    by_stage = np.zeros((num_sites, NUM_SERVED))
    return Totals(
        arrived=counts,
        walked_in=counts,
        diverted=counts,
        balked=counts,
        left=counts,
        turned_away=counts,
        served=counts,
        started=by_stage.astype(np.int64),
        joined=by_stage.astype(np.int64),
        gone=by_stage.astype(np.int64),
        waited_minutes=by_stage,
        busy_minutes=by_stage,
        staffed_minutes=by_stage,
        overtime_minutes=minutes,
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
) -> tuple[Table, tuple[str, ...]]:
    """
    The day's deliveries as trips: whole vials, as many as the emptiest fridge has room for; what is more stays away.
    """
    delivered = day.today.delivered_doses
    site_idx, product_idx = np.nonzero(delivered)
    free_litres = world.fridges.volume_litres - used_litres(world.lots, world.fridges, params)
    # Every site has its draw, so that a delivery that does not come leaves the hours of the others alone.
    comes_at = rng.uniform(DELIVERED_FROM_MINUTES, DELIVERED_UNTIL_MINUTES, delivered.shape)[site_idx, product_idx]
    arrives = day.midnight + comes_at + day.deliveries_late_minutes[site_idx]
    names, trips = list(world.lot_numbers), []
    first_code = len(names)
    names += [f"{product.product_id.upper()[:3]}-{day.today.day_on:%y%m%d}" for product in city.products]
    for site, product, at in zip(site_idx, product_idx, arrives, strict=True):
        slot = int(np.argmax(free_litres[site]))
        vials = int(delivered[site, product] // params.doses_per_vial[product])
        vials = min(vials, int(max(free_litres[site, slot], 0) / params.litres_per_vial[product]))
        free_litres[site, slot] -= vials * params.litres_per_vial[product]
        expires = day.midnight + shelf_days(int(product)) * DAY_MINUTES
        doses = vials * params.doses_per_vial[product]
        if doses:
            trips.append((site, slot, first_code + product, product, doses, expires, 0.0, at))
    return table_of(DOSE_TRIP, trips), tuple(names)
