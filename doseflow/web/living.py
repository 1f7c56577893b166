"""What every route may ask for: the living city, its metrics, and what the dashboard is told to show."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from doseflow.intake.params import IntakeParams
from doseflow.live.live_city import LiveCity
from doseflow.telemetry.metrics import Metrics
from doseflow.web.answer_cache import AnswerCache
from doseflow.web.cycle_watch import CycleWatch
from doseflow.web.told_forecasts import ToldForecasts
from doseflow.web.trouble import TroubleParams


@dataclass(frozen=True, slots=True)
class WebParams:
    """
    How the doors behave.

    `max_body_bytes` is the largest body of reports that is taken; `trouble` says from when on something is a trouble;
    after `late_after_minutes` without a cycle something hangs.
    """

    max_body_bytes: int = IntakeParams().max_body_bytes
    trouble: TroubleParams = field(default_factory=TroubleParams)
    late_after_minutes: float = 15.0
    fhir_order_system: str = "urn:doseflow/order-id"
    """What a FHIR Task says the id of our order in."""

    def __post_init__(self) -> None:
        if not 1_000 <= self.max_body_bytes <= 2**30:
            raise ValueError(f"max_body_bytes: must lie in 1,000..{2**30}, got {self.max_body_bytes}")


@dataclass(frozen=True, slots=True)
class Living:
    """The living city as the routes see it."""

    live: LiveCity
    metrics: Metrics
    watch: CycleWatch
    params: WebParams
    sites_cache: AnswerCache
    told: ToldForecasts


def _living(request: Request) -> Living:
    living: Living = request.app.state.living
    return living


AskLiving = Annotated[Living, Depends(_living)]
