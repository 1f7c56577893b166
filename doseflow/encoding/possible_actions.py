"""Which actions a site can be given now, as far as its own reading tells; the referee judges whole plans."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.city import BoolArray, City, FloatArray, IntArray
from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.roles import NUM_ROLES
from doseflow.domain.state import CityState
from doseflow.encoding.action_layout import ActionLayout
from doseflow.encoding.axes import PRODUCT_SLOTS
from doseflow.units import epoch_minutes_from_datetime


@dataclass(frozen=True)
class _Sites:
    """
    What the rules ask of sites and pairs.

    `may_act` and `may_receive` are (S,); `reaches` (S, N) says whether a neighbour exists and may receive.
    """

    may_act: BoolArray
    may_receive: BoolArray
    reaches: BoolArray
    travel_minutes: FloatArray
    age_minutes: FloatArray


def possible_actions(state: CityState, layout: ActionLayout) -> BoolArray:
    """
    Mask of the actions that are possible, (S, A).

    Raises
    ------
    ValueError
        The layout is for another number of neighbours than the city's table has.
    """
    if state.city.neighbour_idx.shape[1] != layout.num_neighbours:
        width = state.city.neighbour_idx.shape[1]
        raise ValueError(f"layout: must be for {width} neighbours, got one for {layout.num_neighbours}")
    sites = _sites(state)
    # In the order of DecisionKind, as the layout has them.
    blocks = (
        _staff_moves(state, sites),
        _station_changes(state, sites),
        _dose_transfers(state, sites),
        _cold_chain(state, sites),
        _slot_changes(state, sites),
        _walk_ins_sent(state, sites),
    )
    return np.concatenate(blocks, axis=1)


def _sites(state: CityState) -> _Sites:
    city, commitments = state.city, state.commitments
    is_frozen = _marked(city, commitments.frozen_site_ids)
    may_receive = state.is_open & ~is_frozen & ~_marked(city, commitments.suspended_site_ids)
    neighbour_idx = city.neighbour_idx
    return _Sites(
        may_act=~is_frozen,
        may_receive=may_receive,
        reaches=(neighbour_idx >= 0) & may_receive[neighbour_idx],
        travel_minutes=city.neighbour_travel_minutes,
        age_minutes=epoch_minutes_from_datetime(state.as_of) - state.valid_epoch_minutes,
    )


def _marked(city: City, site_ids: frozenset[str]) -> BoolArray:
    marked = np.zeros(city.num_sites, dtype=np.bool_)
    marked[[city.site_to_idx[site_id] for site_id in site_ids if site_id in city.site_to_idx]] = True
    return marked


def _is_fresh(state: CityState, sites: _Sites, feature_class: FeatureClass) -> BoolArray:
    is_fresh: BoolArray = sites.age_minutes[:, feature_class] <= state.limits.max_report_age_minutes
    return is_fresh


def _latest(cell: IntArray, num_cells: int, moments: FloatArray) -> FloatArray:
    """Latest moment in each cell; minus infinity where there is none."""
    latest = np.full(num_cells, -np.inf)
    np.maximum.at(latest, cell, moments)
    return latest


def _staff_moves(state: CityState, sites: _Sites) -> BoolArray:
    staff, limits = state.staff, state.limits
    num_sites = len(sites.may_act)
    may_go = (staff.people > staff.reserved_people) & (staff.moves_today < limits.max_moves_per_shift)
    cell = (staff.site_idx * NUM_ROLES + staff.role_idx)[may_go]
    ends = _latest(cell, num_sites * NUM_ROLES, staff.shift_ends_epoch_minutes[may_go]).reshape(num_sites, NUM_ROLES)
    time_left = ends - epoch_minutes_from_datetime(state.as_of)
    is_fresh = _is_fresh(state, sites, FeatureClass.STAFF_ON_DUTY)
    pairs = sites.reaches & (sites.may_act & is_fresh)[:, None] & is_fresh[state.city.neighbour_idx]
    pairs &= sites.travel_minutes <= limits.max_travel_minutes
    stays = time_left[:, :, None] - sites.travel_minutes[:, None, :] >= limits.min_stay_minutes
    return (pairs[:, None, :] & stays).reshape(num_sites, -1)


def _station_changes(state: CityState, sites: _Sites) -> BoolArray:
    is_fresh = _is_fresh(state, sites, FeatureClass.STATIONS)
    may_open = (state.stations_open < state.stations_possible) & (sites.may_receive & is_fresh)[:, None]
    may_close = (state.stations_open > 0) & (sites.may_act & is_fresh)[:, None]
    return np.concatenate([may_open, may_close], axis=1)


def _dose_transfers(state: CityState, sites: _Sites) -> BoolArray:
    lots, city = state.lots, state.city
    num_sites = len(sites.may_act)
    doses_per_vial = np.array([product.doses_per_vial for product in city.products])
    may_go = lots.unopened_doses - lots.reserved_doses >= doses_per_vial[lots.product_idx]
    may_go &= ~np.isnan(lots.expires_epoch_minutes)
    slot = np.minimum(lots.product_idx, PRODUCT_SLOTS - 1)
    cell = (lots.site_idx * PRODUCT_SLOTS + slot)[may_go]
    expires = _latest(cell, num_sites * PRODUCT_SLOTS, lots.expires_epoch_minutes[may_go])
    life = expires.reshape(num_sites, PRODUCT_SLOTS) - epoch_minutes_from_datetime(state.as_of)
    gives = sites.may_act & _is_fresh(state, sites, FeatureClass.DOSES_ON_HAND) & (state.vans.site_idx >= 0).any()
    has_fridge = np.bincount(state.fridges.site_idx, minlength=num_sites) > 0
    accepts = (_accepts_slot(city) & has_fridge[:, None])[city.neighbour_idx].transpose(0, 2, 1)
    lasts = life[:, :, None] - sites.travel_minutes[:, None, :] >= city.limits.min_lot_life_minutes
    return (accepts & lasts & (sites.reaches & gives[:, None])[:, None, :]).reshape(num_sites, -1)


def _accepts_slot(city: City) -> BoolArray:
    """Whether a site may store any product of each slot, (S, slots)."""
    accepts = np.zeros((city.num_sites, PRODUCT_SLOTS), dtype=np.bool_)
    for product_idx in range(len(city.products)):
        accepts[:, min(product_idx, PRODUCT_SLOTS - 1)] |= city.accepts_product[:, product_idx]
    return accepts


def _cold_chain(state: CityState, sites: _Sites) -> BoolArray:
    num_sites = len(sites.may_act)
    num_fridges = np.bincount(state.fridges.site_idx, minlength=num_sites)
    has_lots = np.bincount(state.lots.site_idx, minlength=num_sites) > 0
    may_move = has_lots & (num_fridges > 1)
    columns = np.column_stack([may_move, num_fridges > 0, has_lots, num_fridges > 0])
    return columns & sites.may_act[:, None]


def _slot_changes(state: CityState, sites: _Sites) -> BoolArray:
    is_known = ~np.isnan(state.booked_people)
    release = is_known & sites.may_receive[:, None]
    hold = (state.booked_people > 0) & sites.may_act[:, None]
    tell = hold.any(axis=1) & state.is_open
    return np.concatenate([release, hold, tell[:, None]], axis=1)


def _walk_ins_sent(state: CityState, sites: _Sites) -> BoolArray:
    has_walk_ins = sites.may_act & state.is_open & (state.walk_in_share > 0)
    is_near = sites.travel_minutes <= state.limits.max_travel_minutes / 2
    return sites.reaches & is_near & has_walk_ins[:, None]
