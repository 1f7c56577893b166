"""Words for roles, stages, counts, moments and whole decisions, in English and Chinese."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from doseflow.domain.city import City
from doseflow.domain.decisions import (
    Decision,
    DoseTransfer,
    FridgeMove,
    HoldSlots,
    MarkUnusable,
    PreCool,
    ReleaseSlots,
    SendWalkIns,
    SetPoint,
    StaffMove,
    StationChange,
    TellArrivalTime,
)
from doseflow.domain.roles import Role, Stage

BIN_MINUTES = 15

ROLE_ZH: dict[str, str] = {
    Role.REGISTRAR: "登记员",
    Role.SCREENER: "健康询问员",
    Role.VACCINATOR: "接种员",
    Role.OBSERVER: "留观员",
}
STAGE_ZH: dict[str, str] = {
    Stage.REGISTRATION: "登记",
    Stage.SCREENING: "健康询问",
    Stage.VACCINATION: "接种",
    Stage.OBSERVATION: "留观",
}
"""Stage words of T/CPMA 016-2020."""


def counted(number: float, singular: str, plural: str | None = None) -> str:
    """A count with its noun: `1 dose`, `3 doses`."""
    return f"{plain(number)} {singular if number == 1 else plural or singular + 's'}"


def plain(number: float) -> str:
    """A number as a person writes it: whole where it is whole, else with one digit; `unknown` where it is none."""
    if isinstance(number, int):
        return str(number)
    if not math.isfinite(number):
        return "unknown"
    text = f"{number:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


@lru_cache(maxsize=64)
def _zone(timezone: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError):
        return None


def clock(moment: datetime, city: City) -> str:
    """The city's local time of a moment, as on a wall clock; in UTC, and saying so, where the zone is not known."""
    zone = _zone(city.timezone)
    return moment.strftime("%H:%M UTC") if zone is None else moment.astimezone(zone).strftime("%H:%M")


def site_name(city: City, site_id: str) -> str:
    """What people call a site; its id where the city does not know it."""
    site_idx = city.site_to_idx.get(site_id)
    return site_id if site_idx is None else city.sites[site_idx].name


def product_name(city: City, product_id: str) -> str:
    """What people call a product; its id where the city does not know it."""
    product_idx = city.product_to_idx.get(product_id)
    return product_id if product_idx is None else city.products[product_idx].name


def called(thing_id: str, noun: str) -> str:
    """A thing by its id, with what it is where the id does not say so."""
    return thing_id if thing_id.lower().startswith(noun) else f"{noun} {thing_id}"


def phrase(decision: Decision, city: City) -> tuple[str, str]:
    """What a decision asks for, as a clause in English and in Chinese."""
    return _PHRASES[type(decision)](decision, city)


def _staff_move(move: StaffMove, city: City) -> tuple[str, str]:
    giver, taker = site_name(city, move.from_site_id), site_name(city, move.to_site_id)
    as_en = "" if move.works_as == move.role else f" to work as {move.works_as}"
    as_zh = "" if move.works_as == move.role else f"担任{ROLE_ZH.get(move.works_as, move.works_as)}"
    role_zh = ROLE_ZH.get(move.role, move.role)
    return (
        f"send {counted(move.people, str(move.role))} from {giver} to {taker}{as_en}",
        f"从{giver}派{plain(move.people)}名{role_zh}到{taker}{as_zh}",
    )


def _station_change(change: StationChange, city: City) -> tuple[str, str]:
    site, stage_zh = site_name(city, change.site_id), STAGE_ZH.get(change.stage, change.stage)
    stations = counted(change.open_stations, f"{change.stage} station")
    if change.open_stations == 0:
        return f"close all {change.stage} stations at {site}", f"{site}关闭全部{stage_zh}台"
    return (
        f"have {stations} open at {site} instead of {plain(change.open_before)}",
        f"{site}开放{plain(change.open_stations)}个{stage_zh}台（现为{plain(change.open_before)}个）",
    )


def _dose_transfer(move: DoseTransfer, city: City) -> tuple[str, str]:
    giver, taker = site_name(city, move.from_site_id), site_name(city, move.to_site_id)
    product = product_name(city, move.product_id)
    what = f"{counted(move.doses, 'dose')} of {product} (lot {move.lot_number})"
    return (
        f"carry {what} from {giver} to {taker} by {called(move.van_id, 'van')}",
        f"用车{move.van_id}从{giver}向{taker}调拨{plain(move.doses)}剂{product}（批号{move.lot_number}）",
    )


def _fridge_move(move: FridgeMove, city: City) -> tuple[str, str]:
    site, product = site_name(city, move.site_id), product_name(city, move.product_id)
    what = f"{counted(move.doses, 'dose')} of {product} (lot {move.lot_number})"
    return (
        f"move {what} at {site} from {called(move.from_fridge_id, 'fridge')} to {called(move.to_fridge_id, 'fridge')}",
        f"{site}把{plain(move.doses)}剂{product}（批号{move.lot_number}）从冰箱{move.from_fridge_id}移至{move.to_fridge_id}",
    )


def _pre_cool(setting: PreCool, city: City) -> tuple[str, str]:
    site, celsius = site_name(city, setting.site_id), plain(setting.target_celsius)
    return (
        f"cool {called(setting.fridge_id, 'fridge')} at {site} to {celsius} °C ahead of need",
        f"{site}冰箱{setting.fridge_id}预冷至{celsius}℃",
    )


def _mark_unusable(mark: MarkUnusable, city: City) -> tuple[str, str]:
    site, product, doses = (
        site_name(city, mark.site_id),
        product_name(city, mark.product_id),
        counted(mark.doses, "dose"),
    )
    return (
        f"take {doses} of {product} (lot {mark.lot_number}) at {site} out of use",
        f"{site}停用{plain(mark.doses)}剂{product}（批号{mark.lot_number}）",
    )


def _set_point(setting: SetPoint, city: City) -> tuple[str, str]:
    site, celsius = site_name(city, setting.site_id), plain(setting.set_point_celsius)
    return (
        f"set {called(setting.fridge_id, 'fridge')} at {site} to {celsius} °C",
        f"{site}冰箱{setting.fridge_id}设定为{celsius}℃",
    )


def _release_slots(slots: ReleaseSlots, city: City) -> tuple[str, str]:
    site, minutes, bookings = (
        site_name(city, slots.site_id),
        slots.bin_idx * BIN_MINUTES,
        counted(slots.people, "appointment"),
    )
    return (
        f"offer {bookings} more at {site} in the quarter hour {minutes} minutes ahead",
        f"{site}增放{minutes}分钟后一刻钟内的{plain(slots.people)}个预约号",
    )


def _hold_slots(slots: HoldSlots, city: City) -> tuple[str, str]:
    site, minutes = site_name(city, slots.site_id), slots.bin_idx * BIN_MINUTES
    bookings = counted(slots.people, "free appointment")
    return (
        f"hold back {bookings} at {site} in the quarter hour {minutes} minutes ahead",
        f"{site}收回{minutes}分钟后一刻钟内未约出的{plain(slots.people)}个预约号",
    )


def _tell_arrival_time(tell: TellArrivalTime, city: City) -> tuple[str, str]:
    site, delay = site_name(city, tell.site_id), plain(tell.delay_minutes)
    return (
        f"ask {counted(tell.people, 'person', 'people')} who would come early to {site} to come {delay} minutes later",
        f"请{plain(tell.people)}名将提前到{site}的预约者晚到{delay}分钟",
    )


def _send_walk_ins(send: SendWalkIns, city: City) -> tuple[str, str]:
    giver, taker = site_name(city, send.from_site_id), site_name(city, send.to_site_id)
    return (
        f"send up to {counted(send.people, 'walk-in')} of the next half hour from {giver} to {taker}",
        f"未来半小时内从{giver}引导至多{plain(send.people)}名现场取号者到{taker}",
    )


_PHRASES: dict[type, Callable[[Any, City], tuple[str, str]]] = {
    StaffMove: _staff_move,
    StationChange: _station_change,
    DoseTransfer: _dose_transfer,
    FridgeMove: _fridge_move,
    PreCool: _pre_cool,
    MarkUnusable: _mark_unusable,
    SetPoint: _set_point,
    ReleaseSlots: _release_slots,
    HoldSlots: _hold_slots,
    TellArrivalTime: _tell_arrival_time,
    SendWalkIns: _send_walk_ins,
}
