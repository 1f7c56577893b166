"""
LearnedPolicy: a net says what people and arrivals are worth, an exchange makes the most of it, rules do the rest.

One step of policy iteration: the values are those of sites that nobody decides anything for any more, found by living
them many times, and the moves are the best against those values (D. Bertsekas, Rollout algorithms for discrete
optimization: a survey, in Handbook of Combinatorial Optimization, 2013, doi:10.1007/978-1-4419-7997-1_8).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from doseflow.domain.decisions import StaffMove
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.plan import Proposal
from doseflow.domain.state import CityState
from doseflow.policy.arrival_prices import ArrivalPrices, PriceParams
from doseflow.policy.exchange import ExchangeParams, exchange_moves, least_people
from doseflow.policy.index_exchange import IndexParams
from doseflow.policy.levers import Lever
from doseflow.policy.look_ahead import LookAheadParams
from doseflow.policy.rules_policy import RulesParams, RulesPolicy
from doseflow.policy.site_values import SiteValues, ValueWeights
from doseflow.policy.situation import Situation
from doseflow.ports import Engine


@dataclass(frozen=True, slots=True)
class LearnedParams:
    """When a move and a walk-in sent on are worth it; the exchange is that of `index`, so that values alone differ."""

    least_gain_minutes: float = 300.0
    """Person-minutes that a new move must save, each person."""
    kept_gain_minutes: float = 0.0
    """Person-minutes that a move sent before must still save to stand."""
    walk_ins: PriceParams = field(default_factory=PriceParams)
    weights: ValueWeights = field(default_factory=ValueWeights)

    def __post_init__(self) -> None:
        self.exchange()

    def exchange(self) -> ExchangeParams:
        """
        The same as the exchange takes it.

        Raises
        ------
        ValueError
            A value is out of its range.
        """
        return IndexParams(
            least_gain_minutes=self.least_gain_minutes, kept_gain_minutes=self.kept_gain_minutes
        ).exchange()


class LearnedPolicy:
    """
    Staff moves and walk-ins by learned values, all else by the rules.

    An engine that fails, or an answer that cannot be right, gives the rules' proposal for the whole city in the same
    cycle, under their name and with the reason in `why_this_planner`.
    """

    name = "learned"

    def __init__(self, engine: Engine, rules: RulesParams | None = None, params: LearnedParams | None = None) -> None:
        self._engine, self._params = engine, params or LearnedParams()
        self._rules = RulesPolicy(rules)
        self._without = () if rules is None else rules.without

    def __call__(self, state: CityState, forecast: ArrivalForecast) -> Proposal:
        """A proposal; empty where nothing is known."""
        situation = self._rules.survey(state, forecast)
        try:
            moves, prices = self._valued(situation)
        except Exception as error:  # noqa: BLE001 - the boundary of the net: a city gets a plan every cycle
            reason = f"{self.name} failed: {type(error).__name__}: {error}"
            return replace(self._rules.proposal(situation, self._rules.moves(situation)), why_this_planner=reason)
        return replace(self._rules.proposal(situation, moves, prices), planner=self.name)

    def _valued(self, situation: Situation) -> tuple[list[StaffMove], ArrivalPrices | None]:
        """Moves by value, and what an arrival costs once they have been made."""
        params = self._params
        # The net has learned with this look-ahead and answers for no other.
        values = SiteValues(situation, self._engine, LookAheadParams(), params.least_gain_minutes, params.weights)
        moves: list[StaffMove] = []
        if Lever.MOVES not in self._without:
            moves = exchange_moves(situation, values, params.exchange(), kept_people=least_people(situation))
        if Lever.PRICES in self._without:
            return moves, None
        return moves, ArrivalPrices(values.arrival_minutes(), params.walk_ins)
