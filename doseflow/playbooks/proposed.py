"""Playbooks that readings and incident flags suggest. A person starts them; nothing here ever holds by itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from doseflow.domain.playbooks import Playbook, PlaybookKind
from doseflow.domain.report import Incident
from doseflow.domain.state import CityState

_FLAG_TO_KIND = {
    Incident.ADVERSE_EVENT_CLUSTER: PlaybookKind.SUSPEND_SITE,
    Incident.POWER_CUT: PlaybookKind.POWER_CUT,
}
_INCIDENTS = tuple(Incident)


@dataclass(frozen=True, slots=True)
class ProposedPlaybook:
    """What might be started, and why."""

    kind: PlaybookKind
    site_ids: tuple[str, ...]
    fridge_id: str | None
    factor: float | None
    why: str


def proposed_playbooks(state: CityState, running: tuple[Playbook, ...]) -> list[ProposedPlaybook]:
    """
    One proposal a flag of a site's report, and one a fridge known to have no power or to be outside every band.

    What a running playbook covers already is not proposed again.
    """
    found = [*_of_flags(state), *_of_fridges(state)]
    covered = {(one.kind, one.site_ids, one.fridge_id) for one in running}
    has_surge = any(one.kind is PlaybookKind.SURGE for one in running)
    dark = {site_id for one in running if one.kind is PlaybookKind.POWER_CUT for site_id in one.site_ids}
    return [
        one
        for one in found
        if (one.kind, one.site_ids, one.fridge_id) not in covered
        and not (one.kind is PlaybookKind.SURGE and has_surge)
        and not (one.kind in {PlaybookKind.POWER_CUT, PlaybookKind.FRIDGE_FAILURE} and dark.issuperset(one.site_ids))
    ]


def _of_flags(state: CityState) -> list[ProposedPlaybook]:
    found = []
    for site_idx, flag_idx in np.argwhere(state.incidents).tolist():
        flag, site_id = _INCIDENTS[flag_idx], state.city.sites[site_idx].site_id
        why = f"{site_id} reports {flag}"
        if flag in _FLAG_TO_KIND:
            found.append(ProposedPlaybook(_FLAG_TO_KIND[flag], (site_id,), None, None, why))
        elif flag is Incident.SURGE:
            found.append(ProposedPlaybook(PlaybookKind.SURGE, (), None, 1.5, why))
    return found


def _of_fridges(state: CityState) -> list[ProposedPlaybook]:
    fridges, lots = state.fridges, state.lots
    found = []
    holding = set(lots.fridge_row[(lots.unopened_doses + lots.open_vial_doses) > 0].tolist())
    for row in sorted(holding - {-1}):
        products = {int(lots.product_idx[lot]) for lot in np.flatnonzero(lots.fridge_row == row)}
        celsius = float(fridges.temperature_celsius[row])
        is_warm = any(celsius > state.city.products[idx].storage_high_celsius for idx in products)
        if fridges.power_on[row] == 0 or is_warm:
            site_id = state.city.sites[int(fridges.site_idx[row])].site_id
            what = "has no power" if fridges.power_on[row] == 0 else f"is at {celsius:.1f} °C"
            why = f"fridge {fridges.fridge_id[row]} at {site_id} {what}"
            found.append(ProposedPlaybook(PlaybookKind.FRIDGE_FAILURE, (site_id,), fridges.fridge_id[row], None, why))
    return found
