"""
The cells of the joint decision matrix, sites x actions: one small frozen record a decision.

Five families: staff, stations, doses, cold chain, arrivals. A decision says what, from where, to where, how much, and
why; two decisions that differ only in `why` or quantity share a `key`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from doseflow.domain.roles import Role, Stage


class DecisionKind(StrEnum):
    """Every kind of decision, in the order of the families."""

    STAFF_MOVE = "staff_move"
    STATION_CHANGE = "station_change"
    DOSE_TRANSFER = "dose_transfer"
    FRIDGE_MOVE = "fridge_move"
    PRE_COOL = "pre_cool"
    MARK_UNUSABLE = "mark_unusable"
    SET_POINT = "set_point"
    RELEASE_SLOTS = "release_slots"
    HOLD_SLOTS = "hold_slots"
    TELL_ARRIVAL_TIME = "tell_arrival_time"
    SEND_WALK_INS = "send_walk_ins"


class Family(StrEnum):
    """The five families of the decision matrix."""

    STAFF = "staff"
    STATIONS = "stations"
    DOSES = "doses"
    COLD_CHAIN = "cold_chain"
    ARRIVALS = "arrivals"


@dataclass(frozen=True, slots=True)
class Why:
    """
    Why a decision was proposed: a code that the explanations know, and the figures behind it.

    Names in `facts` carry their unit, as everywhere.
    """

    code: str
    facts: dict[str, float | str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StaffMove:
    """Send `people` of one staff group (role and end of shift) to another site, where they work as `works_as`."""

    from_site_id: str
    to_site_id: str
    role: Role
    works_as: Role
    shift_ends_at: datetime
    people: int
    travel_minutes: float
    why: Why
    kind: DecisionKind = DecisionKind.STAFF_MOVE

    @property
    def key(self) -> tuple[str, ...]:
        """Identity without the quantity."""
        return (
            self.kind,
            self.from_site_id,
            self.to_site_id,
            self.role,
            self.works_as,
            self.shift_ends_at.isoformat(),
        )

    @property
    def quantity(self) -> int:
        """People moved."""
        return self.people


@dataclass(frozen=True, slots=True)
class StationChange:
    """Have `open_stations` stations of a stage open; `open_before` of them are open now."""

    site_id: str
    stage: Stage
    open_before: int
    open_stations: int
    why: Why
    kind: DecisionKind = DecisionKind.STATION_CHANGE

    @property
    def key(self) -> tuple[str, ...]:
        """Identity without the quantity."""
        return (self.kind, self.site_id, self.stage)

    @property
    def quantity(self) -> int:
        """Stations open after the change."""
        return self.open_stations


@dataclass(frozen=True, slots=True)
class DoseTransfer:
    """Carry whole vials of a lot to another site by a van, from one named fridge into another."""

    from_site_id: str
    to_site_id: str
    product_id: str
    lot_number: str
    from_fridge_id: str
    to_fridge_id: str
    van_id: str
    doses: int
    travel_minutes: float
    why: Why
    kind: DecisionKind = DecisionKind.DOSE_TRANSFER

    @property
    def key(self) -> tuple[str, ...]:
        """Identity without the quantity."""
        return (
            self.kind,
            self.from_site_id,
            self.to_site_id,
            self.lot_number,
            self.from_fridge_id,
            self.to_fridge_id,
            self.van_id,
        )

    @property
    def quantity(self) -> int:
        """Doses carried."""
        return self.doses


@dataclass(frozen=True, slots=True)
class FridgeMove:
    """Move whole vials of a lot from one fridge to another at the same site."""

    site_id: str
    product_id: str
    lot_number: str
    from_fridge_id: str
    to_fridge_id: str
    doses: int
    why: Why
    kind: DecisionKind = DecisionKind.FRIDGE_MOVE

    @property
    def key(self) -> tuple[str, ...]:
        """Identity without the quantity."""
        return (self.kind, self.site_id, self.lot_number, self.from_fridge_id, self.to_fridge_id)

    @property
    def quantity(self) -> int:
        """Doses moved."""
        return self.doses


@dataclass(frozen=True, slots=True)
class PreCool:
    """Cool a fridge to `target_celsius` ahead of a delivery or a feared power cut."""

    site_id: str
    fridge_id: str
    target_celsius: float
    why: Why
    kind: DecisionKind = DecisionKind.PRE_COOL

    @property
    def key(self) -> tuple[str, ...]:
        """Identity without the quantity."""
        return (self.kind, self.site_id, self.fridge_id)

    @property
    def quantity(self) -> float:
        """Target in celsius."""
        return self.target_celsius


@dataclass(frozen=True, slots=True)
class MarkUnusable:
    """Take all doses of a lot in a fridge out of use."""

    site_id: str
    fridge_id: str
    product_id: str
    lot_number: str
    doses: int
    why: Why
    kind: DecisionKind = DecisionKind.MARK_UNUSABLE

    @property
    def key(self) -> tuple[str, ...]:
        """Identity without the quantity."""
        return (self.kind, self.site_id, self.fridge_id, self.lot_number)

    @property
    def quantity(self) -> int:
        """Doses taken out of use."""
        return self.doses


@dataclass(frozen=True, slots=True)
class SetPoint:
    """Set a fridge's thermostat."""

    site_id: str
    fridge_id: str
    set_point_celsius: float
    why: Why
    kind: DecisionKind = DecisionKind.SET_POINT

    @property
    def key(self) -> tuple[str, ...]:
        """Identity without the quantity."""
        return (self.kind, self.site_id, self.fridge_id)

    @property
    def quantity(self) -> float:
        """Set-point in celsius."""
        return self.set_point_celsius


@dataclass(frozen=True, slots=True)
class ReleaseSlots:
    """Offer `people` more appointments in the booking bin that is `bin_idx` quarter hours ahead (0 to 7)."""

    site_id: str
    bin_idx: int
    people: int
    why: Why
    kind: DecisionKind = DecisionKind.RELEASE_SLOTS

    @property
    def key(self) -> tuple[str, ...]:
        """Identity without the quantity."""
        return (self.kind, self.site_id, str(self.bin_idx))

    @property
    def quantity(self) -> int:
        """Appointments offered."""
        return self.people


@dataclass(frozen=True, slots=True)
class HoldSlots:
    """Take `people` not yet booked appointments back from the booking bin that is `bin_idx` quarter hours ahead."""

    site_id: str
    bin_idx: int
    people: int
    why: Why
    kind: DecisionKind = DecisionKind.HOLD_SLOTS

    @property
    def key(self) -> tuple[str, ...]:
        """Identity without the quantity."""
        return (self.kind, self.site_id, str(self.bin_idx))

    @property
    def quantity(self) -> int:
        """Appointments held back."""
        return self.people


@dataclass(frozen=True, slots=True)
class TellArrivalTime:
    """Ask up to `people` who would come early to come `delay_minutes` later, when there is room."""

    site_id: str
    people: int
    delay_minutes: float
    why: Why
    kind: DecisionKind = DecisionKind.TELL_ARRIVAL_TIME

    @property
    def key(self) -> tuple[str, ...]:
        """Identity without the quantity."""
        return (self.kind, self.site_id)

    @property
    def quantity(self) -> int:
        """People told."""
        return self.people


@dataclass(frozen=True, slots=True)
class SendWalkIns:
    """Send up to `people` walk-ins of the next half hour to a named neighbour."""

    from_site_id: str
    to_site_id: str
    people: int
    travel_minutes: float
    why: Why
    kind: DecisionKind = DecisionKind.SEND_WALK_INS

    @property
    def key(self) -> tuple[str, ...]:
        """Identity without the quantity."""
        return (self.kind, self.from_site_id, self.to_site_id)

    @property
    def quantity(self) -> int:
        """Walk-ins sent."""
        return self.people


Decision = (
    StaffMove
    | StationChange
    | DoseTransfer
    | FridgeMove
    | PreCool
    | MarkUnusable
    | SetPoint
    | ReleaseSlots
    | HoldSlots
    | TellArrivalTime
    | SendWalkIns
)

KIND_TO_FAMILY: dict[DecisionKind, Family] = {
    DecisionKind.STAFF_MOVE: Family.STAFF,
    DecisionKind.STATION_CHANGE: Family.STATIONS,
    DecisionKind.DOSE_TRANSFER: Family.DOSES,
    DecisionKind.FRIDGE_MOVE: Family.COLD_CHAIN,
    DecisionKind.PRE_COOL: Family.COLD_CHAIN,
    DecisionKind.MARK_UNUSABLE: Family.COLD_CHAIN,
    DecisionKind.SET_POINT: Family.COLD_CHAIN,
    DecisionKind.RELEASE_SLOTS: Family.ARRIVALS,
    DecisionKind.HOLD_SLOTS: Family.ARRIVALS,
    DecisionKind.TELL_ARRIVAL_TIME: Family.ARRIVALS,
    DecisionKind.SEND_WALK_INS: Family.ARRIVALS,
}


def acting_site_id(decision: Decision) -> str:
    """The site that must carry a decision out: the giving one where two are involved."""
    if isinstance(decision, StaffMove | DoseTransfer | SendWalkIns):
        return decision.from_site_id
    return decision.site_id


def expecting_site_id(decision: Decision) -> str | None:
    """The site that receives, where two are involved."""
    if isinstance(decision, StaffMove | DoseTransfer | SendWalkIns):
        return decision.to_site_id
    return None
