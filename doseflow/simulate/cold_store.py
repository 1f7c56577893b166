"""Fridges: temperature, failing compressors, power cuts, and the time that lots spend outside their band."""

from __future__ import annotations

import math
from dataclasses import replace

from array_api_compat import device

from doseflow.simulate.arrays import namespace, where
from doseflow.simulate.draws import Array, Draws, standard_normal
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.table import added_at
from doseflow.simulate.world import Fridges, Lots, World


def power_is_on(world: World) -> Array:
    """Whether a site has power, (S,)."""
    day = world.day
    return ~((day.power_off_from <= world.epoch_minutes) & (world.epoch_minutes < day.power_off_until))


def cooled(world: World, lots: Lots, opened_vials: Array, draws: Draws, params: StepParams) -> tuple[Fridges, Lots]:
    """
    One step later: the fridges, and the lots in them with their time outside their band.

    A running fridge falls back to its set-point with a time constant and a first-order noise; one that stands still
    drifts to the room. Each vial fetched, by lot place (S, L), lets warm air into its fridge.
    """
    assumed, fridges, xp = params.assumed, world.fridges, namespace(world.fridges.volume_litres)
    runs = power_is_on(world)[..., None] & (world.epoch_minutes < world.day.fridge_fails_at)
    pre_cooled = world.epoch_minutes < fridges.pre_cool_until
    aim = xp.where(pre_cooled, fridges.pre_cool_celsius, fridges.set_point_celsius)
    aim = xp.where(runs, aim, xp.full_like(aim, assumed.ambient_celsius))
    running, standing = (math.exp(-assumed.step_minutes / minutes) for minutes in _time_constants(params))
    kept = standing + (running - standing) * runs
    spread = noise_of_step(standing, assumed.fridge_noise_celsius)
    spread = spread + (noise_of_step(running, assumed.fridge_noise_celsius) - spread) * runs
    noise = standard_normal(xp, draws, tuple(aim.shape)) * spread
    kick = assumed.door_kick_celsius * _fetched_by_fridge(opened_vials, lots, fridges)
    temperature = aim + (fridges.temperature_celsius - aim) * kept + noise + kick
    return replace(fridges, temperature_celsius=temperature), _with_excursions(lots, temperature, params)


def noise_of_step(kept: float, noise_celsius: float) -> float:
    """Noise of one step that keeps the noise of a first-order process at its standard deviation."""
    return noise_celsius * math.sqrt(1 - kept**2)


def _time_constants(params: StepParams) -> tuple[float, float]:
    return params.assumed.cooling_minutes, params.assumed.warming_minutes


def _fetched_by_fridge(opened_vials: Array, lots: Lots, fridges: Fridges) -> Array:
    """Vials fetched from each fridge, (S, F): a handful in a step, so they are added one by one."""
    xp = namespace(opened_vials)
    flat = xp.reshape(opened_vials, (-1,))
    at = xp.nonzero(flat)[0]
    slots = fridges.volume_litres.shape[-1]
    fridge = at // opened_vials.shape[-1] * slots + xp.reshape(lots.fridge_slot, (-1,))[at]
    return added_at(xp.zeros_like(fridges.volume_litres), fridge, flat[at])


def _with_excursions(lots: Lots, temperature_celsius: Array, params: StepParams) -> Lots:
    xp = namespace(lots.excursion_minutes)
    at_lot = xp.take_along_axis(temperature_celsius, lots.fridge_slot, axis=-1)
    low, high = params.storage_low_celsius[lots.product_idx], params.storage_high_celsius[lots.product_idx]
    outside = (at_lot < low) | (at_lot > high)
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
    slots = xp.arange(fridges.volume_litres.shape[-1], device=device(of_lot))
    belongs = lots.fridge_slot[..., None, :] == slots[:, None]
    return xp.astype(belongs, of_lot.dtype) * of_lot[..., None, :]
