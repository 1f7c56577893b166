"""Rows of the rules about stations."""

from __future__ import annotations

from collections.abc import Iterator

from doseflow.domain.roles import VACCINATION_IDX
from doseflow.feasible.entries import StationEntry
from doseflow.feasible.model import NearestModel
from doseflow.feasible.rules.stations import most_stations, most_vaccinating


def _known(model: NearestModel) -> Iterator[tuple[StationEntry, int]]:
    for entry in model.ledger.station_changes:
        if entry.open_now is not None:
            yield entry, entry.open_now


def stations_possible(model: NearestModel) -> None:
    """Open stations are at most those the site has."""
    for entry, now in _known(model):
        model.restrict(entry.position, 0, most_stations(model.ledger.lookup, entry.site_idx, entry.stage_idx, now))


def stations_staffed(model: NearestModel) -> None:
    """Open stations and people leaving are at most people on duty, or what is open now where that is more."""
    lookup = model.ledger.lookup
    for site_idx, role_idx in dict.fromkeys([*model.ledger.moves_out, *model.ledger.stations]):
        moves = model.ledger.moves_out.get((site_idx, role_idx), [])
        position, now = model.stations(site_idx, role_idx)
        if now is None:
            for move in moves:
                model.forbid(move.position)
            continue
        bound = max(lookup.on_duty[site_idx][role_idx], now)
        leaving = [move.position for move in moves]
        if position is None:
            model.sum_at_most(leaving, bound - now)
        else:
            model.sum_at_most([*leaving, position], bound)


def station_churn(model: NearestModel) -> None:
    """Open stations differ from those open now by at most the limit; a suspended site closes at once."""
    most = model.ledger.lookup.limits.max_station_changes
    for entry, now in _known(model):
        if entry.site_idx not in model.ledger.lookup.suspended:
            model.restrict(entry.position, now - most, now + most)


def seats_hold(model: NearestModel) -> None:
    """Open vaccination stations are at most what the observation seats hold."""
    for entry, now in _known(model):
        if entry.stage_idx == VACCINATION_IDX:
            model.restrict(entry.position, 0, most_vaccinating(model.ledger.lookup, entry.site_idx, now))


def open_when_running(model: NearestModel) -> None:
    """At a closed site open stations are at most those open now."""
    for entry, now in _known(model):
        if not model.ledger.lookup.state.is_open.item(entry.site_idx):
            model.restrict(entry.position, 0, now)
