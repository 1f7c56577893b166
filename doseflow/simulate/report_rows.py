"""
The parts of a report that are lists: staff, fatigue, lots, fridges, vans, incidents. Each gives a list a site, (S,).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from doseflow.domain.city import City
from doseflow.domain.report import Incident, Power
from doseflow.domain.roles import NUM_ROLES, ROLES
from doseflow.simulate.breaks import breaks_started, worked_hours
from doseflow.simulate.cold_store import fridge_excursion_minutes, power_is_on, used_litres
from doseflow.simulate.staffing import QUALIFIED
from doseflow.simulate.step_params import StepParams
from doseflow.simulate.world import World
from doseflow.units import MINUTES_PER_HOUR, datetime_from_epoch_minutes

Rows = list[list[dict[str, Any]]]

_ROLE_NAMES = tuple(str(role) for role in ROLES)
_ALSO_QUALIFIED = tuple(
    tuple(
        tuple(name for role, name in enumerate(_ROLE_NAMES) if QUALIFIED[home, role] and role != works_as)
        for works_as in range(NUM_ROLES)
    )
    for home in range(NUM_ROLES)
)
"""Other roles somebody may fill, by role at home and role worked as."""


def staff_rows(world: World) -> Rows:
    """People on duty, a row a group of one role, shift and number of moves."""
    rows: Rows = [[] for _ in range(len(world.staff_people))]
    ends = [datetime_from_epoch_minutes(end).isoformat() for end in world.day.shift_ends]
    where = np.nonzero(world.staff_people)
    columns = [*(column.tolist() for column in where), world.staff_people[where].tolist()]
    for site, home, works_as, shift, moves, people in zip(*columns, strict=True):
        rows[site].append(
            {
                "role": _ROLE_NAMES[works_as],
                "people": people,
                "shift_ends_at": ends[shift],
                "moves_today": moves,
                "also_qualified": _ALSO_QUALIFIED[home][works_as],
            }
        )
    return rows


def fatigue_rows(world: World, params: StepParams) -> Rows:
    """Mean hours worked and breaks due within the hour, by role on duty."""
    people, day, assumed = world.on_duty_people, world.day, params.assumed
    in_an_hour = world.epoch_minutes + MINUTES_PER_HOUR
    due = breaks_started(people, in_an_hour, day.shift_starts, day.shift_ends, assumed)
    due -= breaks_started(people, world.epoch_minutes, day.shift_starts, day.shift_ends, assumed)
    hours = (people * worked_hours(world.epoch_minutes, day.shift_starts)).sum(axis=-1)
    by_role = people.sum(axis=-1)
    mean_hours = (hours / np.maximum(by_role, 1)).round(2).tolist()
    return [
        [
            {"role": _ROLE_NAMES[role], "worked_hours": hours_of_site[role], "breaks_due_people": due_of_site[role]}
            for role in range(NUM_ROLES)
            if people_of_site[role]
        ]
        for people_of_site, hours_of_site, due_of_site in zip(
            by_role.tolist(), mean_hours, due.sum(axis=-1).tolist(), strict=True
        )
    ]


def lot_rows(world: World, city: City) -> Rows:
    """Lots on hand, a row a lot in a fridge."""
    lots = world.lots
    rows: Rows = [[] for _ in range(len(lots.code))]
    where = np.nonzero(~lots.is_free)
    columns = (lots.code, lots.product_idx, lots.fridge_slot, lots.unopened_doses, lots.open_doses, lots.expires)
    for site, code, product, slot, unopened, opened, expires in zip(
        where[0].tolist(), *(column[where].tolist() for column in columns), strict=True
    ):
        rows[site].append(
            {
                "lot_number": world.lot_numbers[code],
                "product_id": city.products[product].product_id,
                "fridge_id": city.sites[site].fridges[slot].fridge_id,
                "unopened_doses": unopened,
                "open_vial_doses": opened,
                "expires_at": datetime_from_epoch_minutes(expires).isoformat(),
            }
        )
    return rows


def fridge_rows(world: World, city: City, params: StepParams) -> Rows:
    """Every fridge with its temperature, its content's longest excursion, its power and its volume."""
    fridges = world.fridges
    power = [Power.ON if on else Power.OFF for on in power_is_on(world).tolist()]
    is_pre_cooled = world.epoch_minutes < fridges.pre_cool_until
    aim = np.asarray(np.where(is_pre_cooled, fridges.pre_cool_celsius, fridges.set_point_celsius))
    columns = zip(
        fridges.temperature_celsius.round(1).tolist(),
        aim.round(2).tolist(),
        fridge_excursion_minutes(world.lots, fridges).tolist(),
        used_litres(world.lots, fridges, params).round(3).tolist(),
        power,
        strict=True,
    )
    return [
        [
            {
                "fridge_id": fridge.fridge_id,
                "temperature_celsius": temperature[slot],
                "set_point_celsius": set_point[slot],
                "excursion_minutes": excursion[slot],
                "power": power_of_site,
                "volume_used_litres": litres[slot],
                "volume_possible_litres": fridge.volume_litres,
            }
            for slot, fridge in enumerate(site.fridges)
        ]
        for site, (temperature, set_point, excursion, litres, power_of_site) in zip(city.sites, columns, strict=True)
    ]


def van_rows(world: World, city: City) -> Rows:
    """Vans that stand at each site."""
    rows: Rows = [[] for _ in range(city.num_sites)]
    for van, site, busy_until in zip(
        city.vans, world.vans.site_idx.tolist(), world.vans.busy_until.tolist(), strict=True
    ):
        if site >= 0:
            free_in = round(max(busy_until - world.epoch_minutes, 0.0), 1)
            rows[site].append({"van_id": van.van_id, "free_in_minutes": free_in})
    return rows


def incident_rows(world: World) -> list[list[Incident]]:
    """Incidents the site flags: it sees its own power, fridges, crowd, and that it does not open today."""
    day, now = world.day, world.epoch_minutes
    flags = {
        Incident.POWER_CUT: ~power_is_on(world),
        Incident.FRIDGE_FAILURE: (day.fridge_fails_at <= now).any(axis=-1),
        Incident.CLOSED: ~day.works_today | day.is_closed_by_incident(now),
        Incident.SURGE: (day.surge_from <= now) & (now < day.surge_until),
    }
    return [
        [incident for incident, of_site in zip(flags, row, strict=True) if of_site]
        for row in np.stack(list(flags.values()), axis=-1).tolist()
    ]
