"""The model's table of contents: which function adds the rows of each hard rule, in the order of the rule book."""

from __future__ import annotations

from collections.abc import Callable

from doseflow.feasible.model import NearestModel
from doseflow.feasible.rows import arrivals, cold_chain, command, doses, staff, stations
from doseflow.feasible.rule import Rule
from doseflow.feasible.rule_book import HARD_RULES
from doseflow.feasible.universe import Universe

ROWS_OF_RULE: dict[str, Callable[[NearestModel], None]] = {
    "suspended_site": command.suspended_site,
    "pinned": command.pinned,
    "overridden": command.overridden,
    "recall_out_of_use": command.recall_out_of_use,
    "staff_on_hand": staff.staff_on_hand,
    "staff_qualified": staff.staff_qualified,
    "moves_per_shift": staff.moves_per_shift,
    "break_protected": staff.break_protected,
    "churn_per_role": staff.churn_per_role,
    "churn_city": staff.churn_city,
    "minimum_team": staff.minimum_team,
    "stations_possible": stations.stations_possible,
    "stations_staffed": stations.stations_staffed,
    "station_churn": stations.station_churn,
    "seats_hold": stations.seats_hold,
    "open_when_running": stations.open_when_running,
    "doses_on_hand": doses.doses_on_hand,
    "whole_vials": doses.whole_vials,
    "fefo": doses.fefo,
    "safety_stock": doses.safety_stock,
    "van_one_trip": doses.van_one_trip,
    "van_volume": doses.van_volume,
    "cold_volume": cold_chain.cold_volume,
    "set_point_in_band": cold_chain.set_point_in_band,
    "pre_cool_in_band": cold_chain.pre_cool_in_band,
    "slots_within_share": arrivals.slots_within_share,
    "send_walk_ins": arrivals.send_walk_ins,
    "tell_arrival_time": arrivals.tell_arrival_time,
}


def model_of(universe: Universe, *, without: frozenset[str] = frozenset()) -> NearestModel:
    """
    The model of a universe under every hard rule.

    Parameters
    ----------
    without
        Rules to leave out, for finding out which of them clash.
    """
    model = NearestModel(universe)
    for rule in HARD_RULES:
        if rule.name in without:
            continue
        if rule.each_alone:
            drop_what_it_objects_to(model, rule)
        else:
            ROWS_OF_RULE[rule.name](model)
    return model


def drop_what_it_objects_to(model: NearestModel, rule: Rule) -> None:
    """A decision that a rule objects to by itself, whatever its quantity, is not ordered."""
    for position in rule.objections(model.ledger):
        model.forbid(position)
