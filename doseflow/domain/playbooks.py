"""Incident playbooks: what a person starts and ends, and what it then lays on every plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from doseflow.domain.limits import OperatingLimits


class PlaybookKind(StrEnum):
    """What may be going on."""

    SUSPEND_SITE = "suspend_site"
    """A cluster of adverse events: the site gives no doses."""
    FRIDGE_FAILURE = "fridge_failure"
    """A fridge does not hold: everything leaves it, nothing comes in."""
    RECALL_LOT = "recall_lot"
    """No dose of the lot is moved or given anywhere."""
    SURGE = "surge"
    """Many more people than planned: more may be moved and changed at once, within bounds."""
    POWER_CUT = "power_cut"
    """Sites without power: nothing cold goes there, and what is lost first leaves first."""


MAX_SURGE_FACTOR = 2.0

SURGE_BOUNDS = OperatingLimits(
    max_moves_per_shift=2,
    max_moved_share=0.75,
    max_city_moved_people=120,
    max_station_changes=8,
    max_walk_ins_sent_share=0.8,
    max_slot_change_share=0.6,
)
"""How far surge mode may relax each limit of churn, whatever its factor; assumed."""
RELAXED_BY_SURGE = (
    "max_moves_per_shift",
    "max_moved_share",
    "max_city_moved_people",
    "max_station_changes",
    "max_walk_ins_sent_share",
    "max_slot_change_share",
)
"""Limits of churn alone: journeys, teams, stock, cold and the age of readings stay bound as ever."""


@dataclass(frozen=True, slots=True)
class Playbook:
    """
    One incident that somebody has declared.

    Parameters
    ----------
    site_ids
        The site suspended, or of the fridge; those without power. Empty for a recall and a surge.
    fridge_id
        Of a fridge failure.
    lot_number
        Of a recall.
    factor
        Of a surge: limits of churn are multiplied by it, 1..2, and never pass `SURGE_BOUNDS`.
    """

    playbook_id: str
    kind: PlaybookKind
    site_ids: tuple[str, ...] = ()
    fridge_id: str | None = None
    lot_number: str | None = None
    factor: float | None = None
    reason: str = ""
    started_by: str = ""
    started_at: datetime | None = None
    ended_by: str | None = None
    ended_at: datetime | None = None
    end_reason: str = ""


@dataclass(frozen=True, slots=True)
class Incidents:
    """What the running playbooks lay on the next plan."""

    recalled_lots: frozenset[str] = frozenset()
    failed_fridges: frozenset[tuple[str, str]] = frozenset()
    """(site_id, fridge_id) of fridges that do not hold."""
    power_cut_site_ids: frozenset[str] = frozenset()
    surge_factor: float = 1.0

    def is_failed(self, site_id: str, fridge_id: str) -> bool:
        """Whether people in command say that a fridge does not cool."""
        return site_id in self.power_cut_site_ids or (site_id, fridge_id) in self.failed_fridges


NO_INCIDENTS = Incidents()


def objection_to(playbook: Playbook) -> str:
    """What is missing or too much in a playbook, as `field: must ...`; empty where nothing is."""
    kind, sites = playbook.kind, len(playbook.site_ids)
    wants_sites = kind not in {PlaybookKind.RECALL_LOT, PlaybookKind.SURGE}
    if wants_sites != bool(sites) or (kind is PlaybookKind.FRIDGE_FAILURE and sites > 1):
        return f"site_ids: must name {_how_many_sites(kind)} for {kind}, got {sites}"
    for name, owner in (("fridge_id", PlaybookKind.FRIDGE_FAILURE), ("lot_number", PlaybookKind.RECALL_LOT)):
        if (getattr(playbook, name) is not None) != (kind is owner):
            return f"{name}: must be given for {owner} and for nothing else"
    if (playbook.factor is not None) != (kind is PlaybookKind.SURGE):
        return f"factor: must be given for {PlaybookKind.SURGE} and for nothing else"
    if playbook.factor is not None and not 1 <= playbook.factor <= MAX_SURGE_FACTOR:
        return f"factor: must lie in 1..{MAX_SURGE_FACTOR:g}, got {playbook.factor}"
    return ""


def _how_many_sites(kind: PlaybookKind) -> str:
    if kind is PlaybookKind.FRIDGE_FAILURE:
        return "one site"
    return "no site" if kind in {PlaybookKind.RECALL_LOT, PlaybookKind.SURGE} else "at least one site"


def incidents_of(playbooks: tuple[Playbook, ...]) -> Incidents:
    """What running playbooks lay on the plan together; of several surges the larger counts."""
    fridges = [(one.site_ids[0], one.fridge_id) for one in playbooks if one.fridge_id is not None]
    cut = [site_id for one in playbooks if one.kind is PlaybookKind.POWER_CUT for site_id in one.site_ids]
    return Incidents(
        recalled_lots=frozenset(one.lot_number for one in playbooks if one.lot_number is not None),
        failed_fridges=frozenset(fridges),
        power_cut_site_ids=frozenset(cut),
        surge_factor=max((one.factor for one in playbooks if one.factor is not None), default=1.0),
    )


def suspended_by(playbooks: tuple[Playbook, ...]) -> frozenset[str]:
    """Sites that running playbooks suspend."""
    return frozenset(site_id for one in playbooks if one.kind is PlaybookKind.SUSPEND_SITE for site_id in one.site_ids)


def relaxed_limits(limits: OperatingLimits, factor: float) -> OperatingLimits:
    """The limits under a surge: those of churn times the factor, up to their bound; never tighter than before."""
    if factor <= 1:
        return limits
    relaxed = {}
    for name in RELAXED_BY_SURGE:
        now, bound = getattr(limits, name), getattr(SURGE_BOUNDS, name)
        # A limit on whole people or stations stays whole.
        relaxed[name] = max(now, min(type(now)(now * factor), bound))
    return replace(limits, **relaxed)
