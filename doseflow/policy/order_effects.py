"""What every order of a plan should bring: reckoned when somebody asks, from what the plan was made of."""

from __future__ import annotations

from collections.abc import Sequence

from doseflow.domain.decisions import Decision
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.order_effect import NotReckoned, OrderEffect
from doseflow.domain.state import CityState
from doseflow.policy.dose_effects import DoseEffects
from doseflow.policy.look_ahead import LookAheadParams
from doseflow.policy.queue_effects import QueueEffects
from doseflow.policy.rules_policy import RulesParams
from doseflow.policy.situation import survey


def order_effects(
    state: CityState, forecast: ArrivalForecast, decisions: Sequence[Decision], params: RulesParams
) -> list[OrderEffect]:
    """Effects of decisions, in their order: waiting by the fluid queue, doses by what would be lost or lacking."""
    situation = survey(state, forecast, params.needs)
    of_queue = QueueEffects(situation, decisions, LookAheadParams())
    of_doses = DoseEffects(situation, params.doses, params.cold_chain)
    unknown = OrderEffect(not_reckoned=NotReckoned.UNKNOWN_SITE)
    return [of_queue(one) or of_doses(one) or unknown for one in decisions]
