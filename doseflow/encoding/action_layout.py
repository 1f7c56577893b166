"""The columns of the decision matrix, sites x actions: every decision that a site can be given, at a fixed place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from doseflow.domain.decisions import DecisionKind
from doseflow.domain.report import BOOKING_BINS
from doseflow.domain.roles import NUM_ROLES, ROLES, STAGES
from doseflow.encoding.axes import PRODUCT_SLOTS

ACTIONS_SCHEMA_VERSION = 1
"""Raised whenever names or order change."""


@dataclass(frozen=True, slots=True)
class Action:
    """
    One column: a decision that a site may be given.

    `index` is the role, stage, product slot or booking bin that it is about, and `neighbour` the rank of the neighbour
    that receives; -1 where there is none.
    """

    name: str
    kind: DecisionKind
    index: int = -1
    neighbour: int = -1


@dataclass(frozen=True)
class ActionLayout:
    """Columns for cities whose neighbour table has so many columns; the kinds stand in the order of `DecisionKind`."""

    num_neighbours: int
    actions: tuple[Action, ...]

    @property
    def num_actions(self) -> int:
        """Length of axis A."""
        return len(self.actions)

    @cached_property
    def position(self) -> dict[str, int]:
        """Column of each action by its name."""
        return {action.name: column for column, action in enumerate(self.actions)}

    @cached_property
    def columns(self) -> dict[DecisionKind, slice]:
        """Columns of each kind."""
        kinds = [action.kind for action in self.actions]
        return {kind: slice(kinds.index(kind), kinds.index(kind) + kinds.count(kind)) for kind in DecisionKind}


@lru_cache(maxsize=16)
def action_layout(num_neighbours: int) -> ActionLayout:
    """
    The layout for a neighbour table of so many columns.

    Raises
    ------
    ValueError
        The number is below 1.
    """
    if num_neighbours < 1:
        raise ValueError(f"num_neighbours: must be at least 1, got {num_neighbours}")
    return ActionLayout(num_neighbours, tuple(_actions(num_neighbours)))


def _actions(num_neighbours: int) -> Iterator[Action]:
    neighbours = range(num_neighbours)
    for role_idx in range(NUM_ROLES):
        for rank in neighbours:
            yield Action(f"send_{ROLES[role_idx]}_to_neighbour_{rank}", DecisionKind.STAFF_MOVE, role_idx, rank)
    for direction in ("open", "close"):
        for stage_idx, stage in enumerate(STAGES):
            yield Action(f"{direction}_{stage}_station", DecisionKind.STATION_CHANGE, stage_idx)
    for slot in range(PRODUCT_SLOTS):
        for rank in neighbours:
            yield Action(f"send_product_{slot}_to_neighbour_{rank}", DecisionKind.DOSE_TRANSFER, slot, rank)
    yield Action("move_lots_to_another_fridge", DecisionKind.FRIDGE_MOVE)
    yield Action("pre_cool_a_fridge", DecisionKind.PRE_COOL)
    yield Action("mark_a_lot_unusable", DecisionKind.MARK_UNUSABLE)
    yield Action("change_a_set_point", DecisionKind.SET_POINT)
    for bin_idx in range(BOOKING_BINS):
        yield Action(f"release_slots_in_bin_{bin_idx}", DecisionKind.RELEASE_SLOTS, bin_idx)
    for bin_idx in range(BOOKING_BINS):
        yield Action(f"hold_slots_in_bin_{bin_idx}", DecisionKind.HOLD_SLOTS, bin_idx)
    yield Action("tell_an_arrival_time", DecisionKind.TELL_ARRIVAL_TIME)
    for rank in neighbours:
        yield Action(f"send_walk_ins_to_neighbour_{rank}", DecisionKind.SEND_WALK_INS, neighbour=rank)
