"""The city now as a world of the simulator: queues, people, stations, stock, fridges and vans of the latest state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from doseflow.domain.city import FloatArray, IntArray
from doseflow.domain.roles import NUM_ROLES, OBSERVATION_IDX
from doseflow.domain.state import CityState
from doseflow.simulate.day_plan import DayPlan
from doseflow.simulate.day_profile import draw_coming, draw_walk_ins
from doseflow.simulate.flow import Flow, empty_flow
from doseflow.simulate.opening import LOT_PLACES, initial_world
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import NUM_MOVES, REMEMBERED_MINUTES, Fridges, Lots, Vans, World, with_staff
from doseflow.units import epoch_minutes_from_datetime
from doseflow.what_if.rebuilt_day import shift_slots

IN_USE_LEFT_SHARE = 0.5
"""Of an opened vial's life, what is left: assumed, since no report tells when it was opened."""
LEAST_WAIT_MINUTES = 5.0


def rebuilt_world(state: CityState, day: DayPlan, params: StepParams, rng: np.random.Generator) -> World:
    """The world at the state's moment; those who will come are drawn from the day."""
    city, assumed = state.city, params.assumed
    coming_rng, walk_in_rng, bare_rng = rng.spawn(3)
    bare = initial_world(city, day, params, bare_rng)
    lots, lot_numbers = _lots(state, params)
    now = epoch_minutes_from_datetime(state.as_of)
    minute = int(now - day.midnight)
    coming = draw_coming(coming_rng, _shifted(day), day.habits, assumed).astype(np.int32)
    walk_ins = draw_walk_ins(walk_in_rng, day.walk_ins_per_minute)
    coming[:, :minute] = 0
    walk_ins[:, :minute] = 0
    world = replace(
        bare,
        epoch_minutes=now,
        flow=_flow(state, params),
        coming_people=coming,
        walk_ins_people=walk_ins,
        lots=lots,
        lot_numbers=lot_numbers,
        fridges=_fridges(state, bare.fridges),
        vans=_vans(state, bare.vans),
    )
    return _with_people(world, state, params)


def _shifted(day: DayPlan) -> IntArray:
    """
    Appointments placed so that those who come early come when they are expected, (S, 288): the forecast is of arrivals.
    """
    booked = day.booked_people
    early = np.rint(np.mean(day.habits.early_today_minutes) / 5).astype(int)
    shifted = np.zeros_like(booked)
    if early > 0:
        shifted[:, early:] = booked[:, :-early]
        shifted[:, -1] += booked[:, -early:].sum(axis=-1)
        return shifted
    return booked


def _with_people(world: World, state: CityState, params: StepParams) -> World:
    staff, ends = state.staff, world.day.shift_ends[: len(world.day.shift_ends) // 2]
    people = np.zeros((state.city.num_sites, NUM_ROLES, NUM_ROLES, len(world.day.shift_ends), NUM_MOVES), np.int64)
    moves = np.clip(staff.moves_today, 0, NUM_MOVES - 1)
    np.add.at(people, (staff.site_idx, staff.role_idx, staff.role_idx, shift_slots(state, ends), moves), staff.people)
    on_duty = people.sum(axis=(1, 3, 4))
    told = np.where(np.isfinite(state.stations_open), state.stations_open, on_duty).astype(np.int64)
    return with_staff(replace(world, stations_open=np.minimum(told, params.stations_possible)), people)


def _flow(state: CityState, params: StepParams) -> Flow:
    """
    Everybody waiting where the state counts them, come evenly over the wait that is observed.

    Who is being served is among those waiting in the state's count; seats were taken evenly over the observation.
    """
    steps = round(REMEMBERED_MINUTES / params.assumed.step_minutes) + 1
    empty = empty_flow(np, params.flow, params.lanes, (), steps)
    waiting = np.nan_to_num(state.waiting_people).astype(np.int32)
    queued = waiting[:, :OBSERVATION_IDX]
    told = np.where(np.isfinite(state.observed_wait_minutes), state.observed_wait_minutes, LEAST_WAIT_MINUTES)
    wait_steps = np.maximum(told, LEAST_WAIT_MINUTES)[:, None] / params.assumed.step_minutes
    joined_before = tuple(
        np.floor(queued * np.clip(1 - step / wait_steps, 0, 1)).astype(np.int32)
        for step in range(len(empty.joined_before))
    )
    seated = waiting[:, OBSERVATION_IDX]
    places = np.arange(len(empty.short_before) + 1)[:, None]
    cut = np.floor(seated * places / len(empty.short_before)).astype(np.int32)
    return replace(
        empty,
        queued=queued,
        joined=queued,
        joined_before=joined_before,
        seated=seated,
        short_before=tuple(np.diff(cut, axis=0)),
    )


def _lots(state: CityState, params: StepParams) -> tuple[Lots, tuple[str, ...]]:
    table, num_sites = state.lots, state.city.num_sites
    counts = np.bincount(table.site_idx, minlength=num_sites)
    shape = num_sites, max(LOT_PLACES, 3 * len(state.city.products), int(counts.max(initial=0)) + LOT_PLACES)
    names = tuple(dict.fromkeys(table.lot_number)) or ("none",)
    code_of = {name: code for code, name in enumerate(names)}
    place = _places(table.site_idx)
    now = epoch_minutes_from_datetime(state.as_of)

    def filled(values: FloatArray | IntArray, dtype: type) -> Any:
        column: Any = np.zeros(shape, dtype=dtype)
        column[table.site_idx, place] = values
        return column

    slots = np.array([_slot(state, row) for row in table.fridge_row], dtype=np.int64)
    excursion = np.nan_to_num(state.fridges.excursion_minutes)[np.maximum(table.fridge_row, 0)]
    open_until = now + params.in_use_minutes[table.product_idx] * IN_USE_LEFT_SHARE
    lots = Lots(
        code=filled(np.array([code_of[name] for name in table.lot_number], dtype=np.int64), np.int64),
        product_idx=filled(table.product_idx, np.int64),
        fridge_slot=filled(slots, np.int64),
        unopened_doses=filled(table.unopened_doses, np.int64),
        open_doses=filled(table.open_vial_doses, np.int64),
        open_until=filled(open_until, np.float64),
        expires=filled(np.nan_to_num(table.expires_epoch_minutes, nan=np.inf), np.float64),
        excursion_minutes=filled(excursion, np.float64),
    )
    return lots, names


def _places(site_idx: IntArray) -> IntArray:
    """How many rows of the same site stand before each row, (rows,)."""
    seen: dict[int, int] = {}
    places = []
    for site in site_idx.tolist():
        places.append(seen.get(site, 0))
        seen[site] = places[-1] + 1
    return np.array(places, dtype=np.int64)


def _slot(state: CityState, fridge_row: int) -> int:
    site = state.city.sites[int(state.fridges.site_idx[fridge_row])]
    ids = [fridge.fridge_id for fridge in site.fridges]
    fridge_id = state.fridges.fridge_id[fridge_row]
    return ids.index(fridge_id) if fridge_id in ids else 0


def _fridges(state: CityState, nominal: Fridges) -> Fridges:
    temperature, set_point = nominal.temperature_celsius.copy(), nominal.set_point_celsius.copy()
    for row, site in enumerate(state.fridges.site_idx.tolist()):
        slot = _slot(state, row)
        for column, told in (
            (temperature, state.fridges.temperature_celsius[row]),
            (set_point, state.fridges.set_point_celsius[row]),
        ):
            if np.isfinite(told):
                column[site, slot] = told
    return replace(nominal, temperature_celsius=temperature, set_point_celsius=set_point)


def _vans(state: CityState, at_home: Vans) -> Vans:
    told = state.vans.site_idx
    where = np.where(told >= 0, told, at_home.site_idx)
    free = np.nan_to_num(state.vans.free_epoch_minutes)
    return Vans(site_idx=where, busy_until=free, heading_to_idx=where)
