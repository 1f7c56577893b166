"""What was ordered before, as the next proposal must see it: what binds, what is barred, what may be kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from doseflow.domain.decisions import Decision, acting_site_id, expecting_site_id
from doseflow.domain.orders import Commitments
from doseflow.domain.state import CityState

D = TypeVar("D")


@dataclass(frozen=True, slots=True)
class StandingOrders:
    """
    Earlier decisions.

    Parameters
    ----------
    binding
        Acknowledged or under way: their effect counts as given.
    barred_keys
        Keys that may not be asked for: they bind already, or were refused within the last hour.
    pinned
        What a person in command wants: proposed as it stands.
    sent
        Not answered yet: proposed again unchanged where still wanted, since what is left out is withdrawn.
    """

    binding: tuple[Decision, ...]
    barred_keys: frozenset[tuple[str, ...]]
    pinned: tuple[Decision, ...]
    sent: tuple[Decision, ...]

    def bound_of(self, decision_type: type[D]) -> list[D]:
        """Binding decisions of one type."""
        return [decision for decision in self.binding if isinstance(decision, decision_type)]

    def pinned_of(self, decision_type: type[D]) -> list[D]:
        """Pinned decisions of one type."""
        return [decision for decision in self.pinned if isinstance(decision, decision_type)]

    def sent_of(self, decision_type: type[D]) -> list[D]:
        """Sent decisions of one type."""
        return [decision for decision in self.sent if isinstance(decision, decision_type)]


def standing_orders(state: CityState) -> StandingOrders:
    """Sort a state's commitments; what names an unknown site, and what was sent to a frozen one, is left out."""
    commitments = state.commitments
    known = state.city.site_to_idx

    def is_known(decision: Decision) -> bool:
        return all(site_id in known for site_id in _site_ids(decision))

    binding = tuple(filter(is_known, (*commitments.acknowledged, *commitments.under_way)))
    barred_keys = frozenset(decision.key for decision in (*binding, *commitments.refused))
    pinned = tuple(decision for decision in filter(is_known, commitments.pinned) if decision.key not in barred_keys)
    taken_keys = barred_keys | {decision.key for decision in pinned}
    sent = tuple(
        decision
        for decision in filter(is_known, commitments.sent)
        if decision.key not in taken_keys and not _touches_frozen(decision, commitments)
    )
    return StandingOrders(binding, barred_keys, pinned, sent)


def _site_ids(decision: Decision) -> list[str]:
    expecting = expecting_site_id(decision)
    return [acting_site_id(decision), *([] if expecting is None else [expecting])]


def _touches_frozen(decision: Decision, commitments: Commitments) -> bool:
    return any(site_id in commitments.frozen_site_ids for site_id in _site_ids(decision))
