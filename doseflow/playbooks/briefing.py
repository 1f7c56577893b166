"""What a person is told of a playbook: what holds, what lies where, who is near, what to do first."""

from __future__ import annotations

from dataclasses import dataclass

from doseflow.domain.playbooks import Playbook, PlaybookKind
from doseflow.domain.state import CityState
from doseflow.playbooks.minutes_to_loss import Warming
from doseflow.playbooks.rescue import Rescue, rescue
from doseflow.playbooks.whereabouts import LotOnItsWay, LotPlace, on_its_way, places_of
from doseflow.playbooks.words import explain_playbook


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A site near a suspended one, to which people will come instead."""

    site_id: str
    travel_minutes: float


@dataclass(frozen=True, slots=True)
class Briefing:
    """Of a playbook; parts that its kind does not have are empty."""

    text_en: str
    text_zh: str
    lots: tuple[LotPlace, ...] = ()
    """In use at a suspended site, or where a recalled lot lies."""
    on_its_way: tuple[LotOnItsWay, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    rescue: Rescue | None = None


def brief(playbook: Playbook, state: CityState, warming: Warming) -> Briefing:
    """Everything about a playbook that the latest state tells."""
    words = explain_playbook(playbook, state.city)
    if playbook.kind is PlaybookKind.SUSPEND_SITE:
        lots = tuple(lot for site_id in playbook.site_ids for lot in places_of(state, site_id=site_id))
        near = tuple(one for site_id in playbook.site_ids for one in neighbours_of(state, site_id))
        return Briefing(*words, lots=lots, neighbours=near)
    if playbook.kind is PlaybookKind.RECALL_LOT and playbook.lot_number is not None:
        lots = tuple(places_of(state, lot_number=playbook.lot_number))
        return Briefing(*words, lots=lots, on_its_way=tuple(on_its_way(state, playbook.lot_number)))
    fridges = fridges_of(playbook, state)
    return Briefing(*words, rescue=rescue(state, fridges, warming) if fridges else None)


def neighbours_of(state: CityState, site_id: str) -> list[Neighbour]:
    """The nearest sites, nearest first."""
    city = state.city
    site_idx = city.site_to_idx.get(site_id)
    if site_idx is None:
        return []
    near = zip(city.neighbour_idx[site_idx], city.neighbour_travel_minutes[site_idx], strict=True)
    return [Neighbour(city.sites[int(idx)].site_id, float(minutes)) for idx, minutes in near if idx >= 0]


def fridges_of(playbook: Playbook, state: CityState) -> list[tuple[str, str]]:
    """The fridges that a playbook says do not cool, as (site_id, fridge_id)."""
    if playbook.kind is PlaybookKind.FRIDGE_FAILURE and playbook.fridge_id is not None:
        return [(playbook.site_ids[0], playbook.fridge_id)]
    if playbook.kind is not PlaybookKind.POWER_CUT:
        return []
    sites = state.city.sites
    names = zip(state.fridges.site_idx, state.fridges.fridge_id, strict=True)
    all_fridges = [(sites[int(idx)].site_id, fridge_id) for idx, fridge_id in names]
    return [name for name in all_fridges if name[0] in playbook.site_ids]
