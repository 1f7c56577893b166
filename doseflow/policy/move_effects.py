"""What a move was worth when it was decided, beside what else could have been done for its taker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from doseflow.domain.city import City
from doseflow.domain.decisions import StaffMove
from doseflow.domain.roles import ROLE_TO_IDX


@dataclass(frozen=True, slots=True)
class MoveEffect:
    """
    One person sent.

    Parameters
    ----------
    place
        Positions of giver and taker, of the role and of the role worked as.
    saved_minutes
        Person-minutes that it should save, the giver's loss taken off.
    other_minutes, other_idx
        The same of the best other giver, and which; 0 and None where doing nothing would have been better.
    """

    place: tuple[int, int, int, int]
    saved_minutes: float
    other_minutes: float
    other_idx: int | None


def with_effects(city: City, moves: Sequence[StaffMove], effects: Sequence[MoveEffect]) -> list[StaffMove]:
    """The same moves with what they should save among their facts; moves of several groups share it by their people."""
    by_place = defaultdict(list)
    for effect in effects:
        by_place[effect.place].append(effect)
    return [_with_effect(city, move, by_place[_place_of(city, move)]) for move in moves]


def _place_of(city: City, move: StaffMove) -> tuple[int, int, int, int]:
    sites = city.site_to_idx
    return (
        sites[move.from_site_id],
        sites[move.to_site_id],
        ROLE_TO_IDX[move.role],
        ROLE_TO_IDX[move.works_as],
    )


def _with_effect(city: City, move: StaffMove, effects: Sequence[MoveEffect]) -> StaffMove:
    if not effects:
        return move
    share = move.people / len(effects)
    other_idx = effects[0].other_idx
    facts: dict[str, float | str] = {
        "expected_saving_minutes": round(share * sum(effect.saved_minutes for effect in effects), 1),
        "alternative_saving_minutes": round(share * sum(effect.other_minutes for effect in effects), 1),
        "alternative_site_id": "" if other_idx is None else city.sites[other_idx].site_id,
    }
    return replace(move, why=replace(move.why, facts=move.why.facts | facts))
