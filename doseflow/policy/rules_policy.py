"""RulesPolicy: hand-written rules for every family of the decision matrix; always able to answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from doseflow.domain.decisions import StaffMove
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.plan import Proposal
from doseflow.domain.state import CityState
from doseflow.policy.arrival_rules import ArrivalParams, arrival_levers
from doseflow.policy.cold_chain_rules import ColdChainParams, lots_out_of_danger, unusable_lots
from doseflow.policy.dose_rules import DoseDesk, DoseParams
from doseflow.policy.fridge_settings import pre_coolings, set_point_corrections
from doseflow.policy.levers import Lever, left_of
from doseflow.policy.outlook import wait_outlook
from doseflow.policy.reach import Reach
from doseflow.policy.site_needs import NeedParams
from doseflow.policy.situation import Situation, survey
from doseflow.policy.staffing_rule import StaffingRule
from doseflow.policy.staffing_rules import StaffingParams, staff_moves
from doseflow.policy.station_rules import station_changes
from doseflow.policy.stock import take_stock
from doseflow.policy.stock_room import StockRoom
from doseflow.policy.walk_in_worth import WalkInWorth


@dataclass(frozen=True, slots=True)
class RulesParams:
    """Every parameter of the rules, a section a family; docs/background/forecast-and-rules.md gives each its reason."""

    needs: NeedParams = field(default_factory=NeedParams)
    staffing: StaffingParams = field(default_factory=StaffingParams)
    doses: DoseParams = field(default_factory=DoseParams)
    cold_chain: ColdChainParams = field(default_factory=ColdChainParams)
    arrivals: ArrivalParams = field(default_factory=ArrivalParams)
    without: tuple[Lever, ...] = ()
    """Levers that stay untouched: moves, stations, doses, cold_chain, walk_ins, prices or slots."""


class RulesPolicy:
    """
    Square-root staffing, nearest surplus first, first expired first out; the fallback of every other policy.

    Parameters
    ----------
    staffing
        Who goes where, if not as the rules say: planners of staff differ in this alone.
    """

    def __init__(
        self, params: RulesParams | None = None, *, name: str = "rules", staffing: StaffingRule | None = None
    ) -> None:
        self.name = name
        self._params = params or RulesParams()
        self._staffing = staffing or partial(staff_moves, params=self._params.staffing)
        self._reach: Reach | None = None

    def __call__(self, state: CityState, forecast: ArrivalForecast) -> Proposal:
        """A proposal; empty where nothing is known."""
        situation = self.survey(state, forecast)
        return self.proposal(situation, self.moves(situation))

    def survey(self, state: CityState, forecast: ArrivalForecast) -> Situation:
        """What every family of rules looks at."""
        situation = survey(state, forecast, self._params.needs, self._reach)
        self._reach = situation.reach
        return situation

    def moves(self, situation: Situation) -> list[StaffMove]:
        """Who should go where."""
        return self._staffing(situation)

    def proposal(
        self, situation: Situation, moves: Sequence[StaffMove], walk_ins: WalkInWorth | None = None
    ) -> Proposal:
        """
        These moves and all that goes with them; `walk_ins` says what sending walk-ins on is worth, if not the waits.

        What is in danger of spoiling is seen to before doses travel for any other reason, since vans are few; people
        move before stations change, and levers on arrivals come last, for what the rest leaves waiting.
        """
        params, state, forecast = self._params, situation.state, situation.forecast
        # What moves and stations leave waiting is what the later levers are for.
        moves = left_of(moves, params.without)
        stations = left_of(station_changes(situation, moves, situation.needs.open_people), params.without)

        stock = take_stock(state, situation.orders)
        room = StockRoom(situation, stock, forecast, most_filled_share=params.cold_chain.full_share)
        desk = DoseDesk(situation, stock, room, forecast, params.doses)
        desk.keep_earlier()
        fridge_moves = lots_out_of_danger(situation, stock, room, desk, params.cold_chain)
        desk.relieve_stock_outs()
        desk.rescue_expiring()

        outlook = wait_outlook(situation, moves, stations)
        levers = arrival_levers(situation, forecast, outlook, desk.spare_doses, params.arrivals, walk_ins)
        decisions = (
            *moves,
            *stations,
            *desk.transfers,
            *fridge_moves,
            *pre_coolings(situation, desk.transfers, params.cold_chain),
            *unusable_lots(situation, stock),
            *set_point_corrections(situation, params.cold_chain),
            *levers,
        )
        return Proposal(planner=self.name, decisions=left_of(decisions, params.without))
