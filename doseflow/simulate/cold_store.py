"""Fridges: temperature, failing compressors, power cuts, and the time that lots spend outside their band."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from doseflow.domain.city import BoolArray, FloatArray, IntArray
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import Fridges, Lots, World


def power_is_on(world: World) -> BoolArray:
    """Whether a site has power, (S,)."""
    day = world.day
    return ~((day.power_off_from <= world.epoch_minutes) & (world.epoch_minutes < day.power_off_until))


def cool(world: World, opened_vials: FloatArray, rng: np.random.Generator, params: StepParams) -> World:
    """
    Let one step pass in every fridge.

    A running fridge falls back to its set-point with a time constant and a first-order noise; one that stands still
    drifts to the room. Each vial fetched, by fridge (S, F), lets warm air in.
    """
    assumed, fridges = params.assumed, world.fridges
    runs = power_is_on(world)[:, None] & (world.epoch_minutes < world.day.fridge_fails_at)
    pre_cooled = world.epoch_minutes < fridges.pre_cool_until
    aim = np.where(pre_cooled, fridges.pre_cool_celsius, fridges.set_point_celsius)
    aim = np.where(runs, aim, assumed.ambient_celsius)
    minutes = np.where(runs, assumed.cooling_minutes, assumed.warming_minutes)
    kept = np.exp(-assumed.step_minutes / minutes)
    noise = assumed.fridge_noise_celsius * np.sqrt(1 - kept**2) * rng.standard_normal(aim.shape)
    temperature = aim + (fridges.temperature_celsius - aim) * kept + noise + assumed.door_kick_celsius * opened_vials
    fridges = replace(fridges, temperature_celsius=temperature)
    return replace(world, fridges=fridges, lots=_with_excursions(world.lots, temperature, params))


def _with_excursions(lots: Lots, temperature_celsius: FloatArray, params: StepParams) -> Lots:
    at_lot = np.take_along_axis(temperature_celsius, lots.fridge_slot, axis=-1)
    low, high = params.storage_low_celsius[lots.product_idx], params.storage_high_celsius[lots.product_idx]
    outside = (at_lot < low) | (at_lot > high)
    return replace(lots, excursion_minutes=lots.excursion_minutes + outside * params.assumed.step_minutes)


def used_litres(lots: Lots, fridges: Fridges, params: StepParams) -> FloatArray:
    """Volume in use of each fridge, (S, F): unopened vials, and one vial where doses of it are open."""
    vials = lots.unopened_doses / params.doses_per_vial[lots.product_idx] + (lots.open_doses > 0)
    return by_fridge(vials * params.litres_per_vial[lots.product_idx], lots, fridges)


def fridge_excursion_minutes(lots: Lots, fridges: Fridges) -> FloatArray:
    """Longest excursion among the lots of each fridge, (S, F); 0 where it holds none."""
    spent = np.where(lots.is_free, 0.0, lots.excursion_minutes)
    longest: FloatArray = np.where(_in_fridge(lots, fridges), spent[..., None, :], 0.0).max(axis=-1)
    return longest


def by_fridge(of_lot: IntArray | FloatArray, lots: Lots, fridges: Fridges) -> FloatArray:
    """Sum over the lots of each fridge, (S, F)."""
    total: FloatArray = np.where(_in_fridge(lots, fridges), of_lot[..., None, :], 0.0).sum(axis=-1)
    return total


def _in_fridge(lots: Lots, fridges: Fridges) -> BoolArray:
    """Whether each lot place belongs to each fridge, (S, F, L)."""
    slots = np.arange(fridges.volume_litres.shape[-1])
    belongs: BoolArray = lots.fridge_slot[..., None, :] == slots[:, None]
    return belongs
