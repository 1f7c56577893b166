"""Fridges: temperature, failing compressors, power cuts, and the time that lots spend outside their band."""

from __future__ import annotations

import math
from dataclasses import replace

from doseflow.simulate.arrays import added_at, device_of, flat, namespace, where
from doseflow.simulate.draws import Array, Draws, standard_normal
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import Fridges, Lots, World
from doseflow.units import PERIOD_MINUTES


def power_is_on(world: World) -> Array:
    """Whether a site has power, (S,)."""
    day = world.day
    return ~((day.power_off_from <= world.epoch_minutes) & (world.epoch_minutes < day.power_off_until))


def cooled(world: World, lots: Lots, draws: Draws, params: StepParams) -> tuple[Fridges, Lots]:
    """
    The fridges a period later, minute by minute, and the lots in them with their time outside their band.

    A running fridge falls back to its set-point with a time constant and a first-order noise; one that stands still
    drifts to the room. The vials fetched in the period have let warm air in. Switches and set-points count from the
    beginning of the next period.
    """
    assumed, fridges, xp = params.assumed, world.fridges, namespace(world.fridges.volume_litres)
    runs = power_is_on(world)[..., None] & (world.epoch_minutes < world.day.fridge_fails_at)
    pre_cooled = world.epoch_minutes < fridges.pre_cool_until
    aim = xp.where(pre_cooled, fridges.pre_cool_celsius, fridges.set_point_celsius)
    aim = xp.where(runs, aim, xp.full_like(aim, assumed.ambient_celsius))
    running, standing = (math.exp(-assumed.step_minutes / minutes) for minutes in _time_constants(params))
    kept = standing + (running - standing) * runs
    quiet = noise_of_step(standing, assumed.fridge_noise_celsius)
    spread = quiet + (noise_of_step(running, assumed.fridge_noise_celsius) - quiet) * runs
    num_steps = round(PERIOD_MINUTES / assumed.step_minutes)
    noise = standard_normal(xp, draws, (num_steps, *aim.shape)) * spread
    above = fridges.temperature_celsius - aim + assumed.door_kick_celsius * world.fetched_vials
    path = []
    for step in range(num_steps):
        above = above * kept + noise[step, ...]
        path.append(aim + above)
    return replace(fridges, temperature_celsius=path[-1]), _with_excursions(lots, xp.stack(path), params)


def noise_of_step(kept: float, noise_celsius: float) -> float:
    """Noise of one step that keeps the noise of a first-order process at its standard deviation."""
    return noise_celsius * math.sqrt(1 - kept**2)


def _time_constants(params: StepParams) -> tuple[float, float]:
    return params.assumed.cooling_minutes, params.assumed.warming_minutes


def fetched_by_fridge(opened_vials: Array, lots: Lots, fridges: Fridges) -> Array:
    """Vials fetched from each fridge, (S, F), by lot place, (S, L): a handful in a step, so they are added singly."""
    xp = namespace(opened_vials)
    vials = flat(opened_vials)
    at = xp.nonzero(vials)[0]
    slots = fridges.volume_litres.shape[-1]
    fridge = at // opened_vials.shape[-1] * slots + flat(lots.fridge_slot)[at]
    return added_at(xp.zeros_like(fridges.volume_litres), fridge, vials[at])


def _with_excursions(lots: Lots, temperature_celsius: Array, params: StepParams) -> Lots:
    """Count the steps outside the band along a path of temperatures, (steps, S, F)."""
    xp = namespace(lots.excursion_minutes)
    slot = xp.broadcast_to(lots.fridge_slot, (temperature_celsius.shape[0], *lots.fridge_slot.shape))
    at_lot = xp.take_along_axis(temperature_celsius, slot, axis=-1)
    low, high = params.storage_low_celsius[lots.product_idx], params.storage_high_celsius[lots.product_idx]
    outside = xp.sum((at_lot < low) | (at_lot > high), axis=0)
    return replace(lots, excursion_minutes=lots.excursion_minutes + outside * params.assumed.step_minutes)


def used_litres(lots: Lots, fridges: Fridges, params: StepParams) -> Array:
    """Volume in use of each fridge, (S, F): unopened vials, and one vial where doses of it are open."""
    xp = namespace(lots.open_doses)
    opened = xp.astype(lots.open_doses > 0, params.litres_per_vial.dtype)
    vials = lots.unopened_doses / params.doses_per_vial[lots.product_idx] + opened
    return by_fridge(vials * params.litres_per_vial[lots.product_idx], lots, fridges)


def fridge_excursion_minutes(lots: Lots, fridges: Fridges) -> Array:
    """Longest excursion among the lots of each fridge, (S, F); 0 where it holds none."""
    xp = namespace(lots.excursion_minutes)
    spent = where(~lots.is_free, lots.excursion_minutes)
    return xp.max(_of_fridge(spent, lots, fridges), axis=-1)


def by_fridge(of_lot: Array, lots: Lots, fridges: Fridges) -> Array:
    """Sum over the lots of each fridge, (S, F), in float64."""
    xp = namespace(of_lot)
    return xp.sum(_of_fridge(xp.astype(of_lot, xp.float64), lots, fridges), axis=-1)


def _of_fridge(of_lot: Array, lots: Lots, fridges: Fridges) -> Array:
    """What is of each lot place where it belongs to each fridge, else 0, (S, F, L)."""
    xp = namespace(of_lot)
    slots = xp.arange(fridges.volume_litres.shape[-1], device=device_of(of_lot))
    belongs = lots.fridge_slot[..., None, :] == slots[:, None]
    return xp.astype(belongs, of_lot.dtype) * of_lot[..., None, :]
