"""
ReleasedPolicy: the learned policy, made by the champion, and in a share of the blocks of time by the challenger.

A plan is joint: people who leave one site arrive at another, so one model makes all of it, and the share is one of
blocks of time (a switchback experiment: I. Bojinov, D. Simchi-Levi, J. Zhao, Design and analysis of switchback
experiments, Management Science 69(7), 2023, doi:10.1287/mnsc.2022.4583).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.plan import Proposal
from doseflow.domain.state import CityState
from doseflow.ports import Policy
from doseflow.serve.net_slot import FixedSlot, NetSlot, Standing, WarmModel

log = structlog.get_logger(__name__)
SECONDS_PER_MINUTE = 60


@dataclass(frozen=True)
class ServedProposal:
    """What was answered for the city, by whom, and how long it took."""

    as_of: datetime
    standing: Standing[Policy]
    by_challenger: bool
    proposal: Proposal
    milliseconds: float


class ReleasedPolicy:
    """A policy whose model may change between two cycles."""

    name = "learned"

    def __init__(self, slot: NetSlot[Policy] | FixedSlot[Policy], block_minutes: int) -> None:
        self.slot, self._block_minutes = slot, block_minutes
        self.latest: ServedProposal | None = None

    def __call__(self, state: CityState, forecast: ArrivalForecast) -> Proposal:
        """A proposal of one of the models, which says whose it is."""
        standing = self.slot.refresh()
        block = self._block(state.as_of)
        challenger = standing.challenger if standing.is_challengers(f"{state.city.city_id}|{block}") else None
        if challenger is not None:
            try:
                why = f"challenger at {standing.share}, whose block of {self._block_minutes} minutes this is"
                return self._asked(state, forecast, standing, challenger, why)
            except Exception:  # the boundary of a challenger: the champion answers instead
                log.exception("challenger_failed", model=challenger.label)
        return self._asked(state, forecast, standing, standing.champion, "champion")

    def _asked(
        self,
        state: CityState,
        forecast: ArrivalForecast,
        standing: Standing[Policy],
        model: WarmModel[Policy],
        why: str,
    ) -> Proposal:
        proposal, milliseconds = timed_proposal(model, state, forecast)
        is_challengers = model is standing.challenger
        self.latest = ServedProposal(state.as_of, standing, is_challengers, proposal, milliseconds)
        return replace(proposal, made_by=f"{model.label}, {why}")

    def _block(self, moment: datetime) -> int:
        return int(moment.timestamp() // (self._block_minutes * SECONDS_PER_MINUTE))


def timed_proposal(model: WarmModel[Policy], state: CityState, forecast: ArrivalForecast) -> tuple[Proposal, float]:
    """What a model proposes, and the milliseconds that it took."""
    began_seconds = time.perf_counter()
    proposal = model.answers(state, forecast)
    return proposal, (time.perf_counter() - began_seconds) * 1000
