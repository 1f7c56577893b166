"""What the planners by linear programme may be told."""

from __future__ import annotations

from dataclasses import dataclass, field

from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.units import PERIOD_MINUTES

HORIZON_MINUTES = 360.0
"""As far as a shift goes: people may be moved once in it, so a move is for the rest of it."""
FORECAST_MINUTES = float(HORIZON_PERIODS * PERIOD_MINUTES)


@dataclass(frozen=True, slots=True)
class FluidParams:
    """How the fluid model values waiting and moving. Every default is assumed, and tuned on simulated days."""

    usable_share: float = 0.95
    """Share of a person's time that is planned with: chance makes people wait before a team is fully busy."""
    move_minutes: float = 500.0
    """Person-minutes of waiting that a move must save for each person sent, who may be moved once a shift."""
    travel_weight: float = 0.5
    """Person-minutes of waiting that a minute of travel must save."""
    least_need_minutes: float = 100.0
    """Person-minutes that people wait at a role from which anybody is sent there at all."""
    margin_minutes: float = 20.0
    """Minutes for which the waiting is counted that chance adds where a team has a thin margin."""
    set_out_minutes: float = 8.0
    """From the decision until people leave: an order is read, and whoever is being served is served to the end."""
    begin_minutes: float = 8.0
    """From arriving until a station is open for whoever has come."""
    terminal_minutes: float = 30.0
    """Minutes for which each person counts who still waits when the shift ends."""
    fade_minutes: float = 90.0
    """Time ahead at which waiting counts half, since later decisions can still do something about it."""
    relief_wait_minutes: float = 10.0
    """Wait of the moment from which a move is said to relieve a queue, not to fill a gap."""
    time_limit_seconds: float = 5.0
    """Longest solve; after it no new moves are made, and that is recorded."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("usable_share", 0.1, 1),
            ("move_minutes", 0, 1000),
            ("travel_weight", 0, 100),
            ("least_need_minutes", 0, 10_000),
            ("margin_minutes", 0, 1000),
            ("set_out_minutes", 0, 60),
            ("begin_minutes", 0, 60),
            ("terminal_minutes", 0, 1000),
            ("fade_minutes", 10, 100_000),
            ("relief_wait_minutes", 0, 240),
            ("time_limit_seconds", 0.001, 600),
        ):
            _check(name, getattr(self, name), low, high)


@dataclass(frozen=True, slots=True)
class MyopicParams:
    """The myopic programme: one block ahead, travel a cost and not a delay."""

    block_minutes: float = 30.0
    """The block looked at."""
    fluid: FluidParams = field(default_factory=lambda: FluidParams(move_minutes=400.0, travel_weight=4.0))
    """Travel weighs more here than in the other programmes, which see the time that it takes."""

    def __post_init__(self) -> None:
        _check("block_minutes", self.block_minutes, PERIOD_MINUTES, FORECAST_MINUTES)


@dataclass(frozen=True, slots=True)
class MpcParams:
    """A programme over some periods, and blocks up to the end of the shift in which nothing is decided."""

    num_periods: int = 12
    """Periods of five minutes in which people may be sent."""
    tail_block_minutes: tuple[float, ...] = (15.0, 15.0, 30.0, 60.0, 60.0, 60.0)
    """Blocks after them."""
    fluid: FluidParams = field(default_factory=FluidParams)

    def __post_init__(self) -> None:
        _check("num_periods", self.num_periods, 1, HORIZON_PERIODS)
        _check_blocks("tail_block_minutes", (self.num_periods * float(PERIOD_MINUTES), *self.tail_block_minutes))


@dataclass(frozen=True, slots=True)
class ScenarioParams:
    """A programme over sampled futures: the first moves shared, the later ones each future's own."""

    num_futures: int = 5
    """Futures planned against."""
    block_minutes: tuple[float, ...] = (5.0, 5.0, 10.0, 10.0, 15.0, 15.0, 30.0, 30.0, 60.0, 60.0, 60.0)
    """Blocks of the horizon."""
    num_deciding: int = 7
    """Of these, the first at whose beginning people may be sent."""
    correlation_share: float = 0.9
    """Correlation of one period's surprise with the next one's."""
    seed: int = 0
    """Seed of the futures, beside the moment planned for."""
    fluid: FluidParams = field(default_factory=lambda: FluidParams(move_minutes=400.0, usable_share=0.9))

    def __post_init__(self) -> None:
        _check("num_futures", self.num_futures, 1, 64)
        _check("correlation_share", self.correlation_share, 0, 1)
        _check("seed", self.seed, 0, 2**32 - 1)
        _check_blocks("block_minutes", self.block_minutes)
        _check("num_deciding", self.num_deciding, 1, len(self.block_minutes))


def _check_blocks(name: str, blocks: tuple[float, ...]) -> None:
    if not blocks or any(minutes % PERIOD_MINUTES or minutes <= 0 for minutes in blocks):
        raise ValueError(f"{name}: must hold multiples of {PERIOD_MINUTES}, got {blocks}")
    _check(f"{name} in all", sum(blocks), PERIOD_MINUTES, HORIZON_MINUTES)


def _check(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name}: must lie in {low:g}..{high:g}, got {value}")
