"""What the planners by linear programme may be told."""

from __future__ import annotations

from dataclasses import dataclass, field

from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.units import PERIOD_MINUTES

HORIZON_MINUTES = float(HORIZON_PERIODS * PERIOD_MINUTES)


@dataclass(frozen=True, slots=True)
class FluidParams:
    """How the fluid model values waiting and moving. Every default is assumed, and tuned on simulated days."""

    usable_share: float = 0.9
    """Share of a person's time that is planned with: chance makes people wait before a team is fully busy."""
    move_minutes: float = 20.0
    """Person-minutes of waiting that a move must save for each person sent, on top of the travel."""
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
    """Minutes for which each person counts who still waits when the horizon ends: half the time in which an hour's
    queue drains."""
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
            ("relief_wait_minutes", 0, 240),
            ("time_limit_seconds", 0.001, 600),
        ):
            _check(name, getattr(self, name), low, high)


@dataclass(frozen=True, slots=True)
class MyopicParams:
    """The myopic programme: one block ahead, travel a cost and not a delay."""

    block_minutes: float = 30.0
    """The block looked at."""
    fluid: FluidParams = field(default_factory=lambda: FluidParams(travel_weight=4.0))
    """Travel weighs more here than in the other programmes, which see the time that it takes."""

    def __post_init__(self) -> None:
        _check("block_minutes", self.block_minutes, PERIOD_MINUTES, HORIZON_MINUTES)


@dataclass(frozen=True, slots=True)
class MpcParams:
    """A programme over some periods and a last long block in which queues drain and nothing is decided."""

    num_periods: int = 12
    """Periods of five minutes in which people may be sent."""
    drain_minutes: float = 60.0
    """Length of the last block."""
    fluid: FluidParams = field(default_factory=FluidParams)

    def __post_init__(self) -> None:
        _check("num_periods", self.num_periods, 1, HORIZON_PERIODS)
        most = HORIZON_MINUTES - self.num_periods * PERIOD_MINUTES
        _check("drain_minutes", self.drain_minutes, 0, most)


@dataclass(frozen=True, slots=True)
class ScenarioParams:
    """A programme over sampled futures: the first moves shared, the later ones each future's own."""

    num_futures: int = 5
    """Futures planned against."""
    block_minutes: tuple[float, ...] = (5.0, 5.0, 10.0, 10.0, 15.0, 15.0, 30.0, 30.0)
    """Blocks of the horizon; in the last one nothing is decided."""
    correlation_share: float = 0.9
    """Correlation of one period's surprise with the next one's."""
    seed: int = 0
    """Seed of the futures, beside the moment planned for."""
    fluid: FluidParams = field(default_factory=FluidParams)

    def __post_init__(self) -> None:
        _check("num_futures", self.num_futures, 1, 64)
        _check("correlation_share", self.correlation_share, 0, 1)
        _check("seed", self.seed, 0, 2**32 - 1)
        if not self.block_minutes or any(minutes % PERIOD_MINUTES or minutes <= 0 for minutes in self.block_minutes):
            raise ValueError(f"block_minutes: must hold multiples of {PERIOD_MINUTES}, got {self.block_minutes}")
        _check("block_minutes in all", sum(self.block_minutes), PERIOD_MINUTES, HORIZON_MINUTES)


def _check(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name}: must lie in {low:g}..{high:g}, got {value}")
