"""What orders save: against hand reckoning, against the fluid line asked otherwise, and for every order of a plan."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rules_city import AS_OF, Lot, calm_staff, calm_state, city_of, forecast_of, fridge_table, lot_table, staff_table

from doseflow.domain.decisions import (
    DoseTransfer,
    FridgeMove,
    HoldSlots,
    MarkUnusable,
    PreCool,
    ReleaseSlots,
    SendWalkIns,
    SetPoint,
    StaffMove,
    StationChange,
    TellArrivalTime,
    Why,
)
from doseflow.domain.order_effect import Alternative, Instead, NotReckoned, Saving
from doseflow.domain.roles import VACCINATION_IDX, Role, Stage
from doseflow.planning import plan_snapshot, print_plan
from doseflow.policy.fluid_line import FluidLine
from doseflow.policy.look_ahead import LookAheadParams, look_ahead
from doseflow.policy.order_effects import order_effects
from doseflow.policy.rules_policy import RulesParams
from doseflow.policy.situation import survey
from doseflow.policy.time_ahead import GRID_MINUTES
from doseflow.settings import Settings

WHY = Why("queue_ahead")
CITY = city_of(3, travel_minutes=10.0, vans_at=(0, 1, 2))
QUEUED = np.array([[0.0, 0, 60, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
MORNING = Path(__file__).parents[2] / "examples" / "morning.json"


def effect_of(decision, *beside, per_minute=0.9, doses=200.0, **given):
    state = calm_state(CITY, **({"waiting_people": QUEUED} | given))
    forecast = forecast_of(state, per_minute, doses)
    return order_effects(state, forecast, [decision, *beside], RulesParams())[0]


def stations(before, after, site=0):
    return StationChange(f"s{site}", Stage.VACCINATION, before, after, WHY)


def test_closing_a_staffed_station_costs_what_a_vaccinator_fewer_costs():
    state = calm_state(CITY, waiting_people=QUEUED, worked_hours=np.full((3, 4), 10.0))
    ahead = look_ahead(survey(state, forecast_of(state, 0.9), RulesParams().needs), LookAheadParams())
    line = FluidLine(ahead, np.array([0]), ahead.people[:, :, [0]].clip(max=np.array([2.0, 2, 4, 2])[:, None]))
    fewer = line.with_people({VACCINATION_IDX: np.full((len(GRID_MINUTES), 1, 1), -1.0)})
    effect = effect_of(stations(4, 3), worked_hours=np.full((3, 4), 10.0))
    assert -effect.saved == pytest.approx(float(fewer[0, 0] - line.waiting_minutes[0]), rel=1e-3)
    assert effect.saved < -100


def test_a_station_that_nobody_staffs_changes_nothing_and_one_that_is_staffed_helps():
    assert effect_of(stations(6, 4)).saved == 0
    opened = effect_of(stations(3, 4))
    assert opened.saved > 100
    assert opened.alternative == Alternative()


def test_two_stations_more_are_compared_with_one_more():
    crowd = staff_table(calm_staff(3, {(0, Role.VACCINATOR): 4}))
    effect = effect_of(stations(2, 4), staff=crowd)
    assert (effect.alternative.instead, effect.alternative.value) == (Instead.STATIONS, 3)
    assert 0 < effect.alternative.saved < effect.saved


def test_people_who_leave_staff_no_station():
    leaves = StaffMove("s0", "s1", Role.VACCINATOR, Role.VACCINATOR, AS_OF + timedelta(hours=6), 1, 10.0, WHY)
    assert effect_of(stations(4, 3)).saved < 0
    assert effect_of(stations(4, 3), leaves).saved == 0


def test_a_move_to_a_queue_saves_and_away_from_it_costs_and_names_another_giver():
    ends = AS_OF + timedelta(hours=6)
    helps = effect_of(StaffMove("s1", "s0", Role.VACCINATOR, Role.VACCINATOR, ends, 1, 10.0, WHY), per_minute=0.7)
    away = effect_of(StaffMove("s0", "s1", Role.VACCINATOR, Role.VACCINATOR, ends, 1, 10.0, WHY), per_minute=0.7)
    assert helps.saved > 0 > away.saved
    assert (helps.alternative.instead, helps.alternative.value) == (Instead.SITE, 2)
    assert 0 < helps.alternative.saved <= helps.saved


def test_where_everybody_queues_a_person_held_off_saves_what_is_left_of_the_waiting():
    """Nobody is served sooner for it at the end of such a day: each minute until closing counts, faded, at most."""
    held = effect_of(HoldSlots("s0", 2, 3, WHY), per_minute=2.0, booked_people=np.full((3, 8), 15.0))
    # Three people less those who would not have come, from half an hour on, each minute counting at most once.
    faded = sum(0.5 ** ((minute + 0.5) / 90) for minute in range(30, 360))
    tail = 30 * 0.5 ** (345 / 90)
    assert 0.9 * 3 * 0.95 * faded < held.saved < 3 * 0.95 * (faded + tail)
    assert effect_of(HoldSlots("s1", 2, 3, WHY), per_minute=0.1).saved == pytest.approx(0.0, abs=0.01)


def test_slots_released_cost_what_the_same_held_back_save():
    booked = {"per_minute": 2.0, "booked_people": np.full((3, 8), 15.0)}
    released, held = (effect_of(kind("s0", 3, 2, WHY), **booked) for kind in (ReleaseSlots, HoldSlots))
    assert released.saved == pytest.approx(-held.saved, rel=2e-2)


def test_people_told_to_come_later_wait_so_much_less():
    early = {"per_minute": 2.0, "mean_early_minutes": np.full(3, 20.0)}
    told = effect_of(TellArrivalTime("s0", 10, 20.0, WHY), **early)
    assert 10 * 20 * 0.5 ** (65 / 90) < told.saved < 10 * 20
    assert (told.alternative.instead, told.alternative.value) == (Instead.DELAY, 15)
    assert 0 < told.alternative.saved < told.saved


def test_walk_ins_save_here_what_they_do_not_cost_there():
    assert effect_of(SendWalkIns("s0", "s1", 2, 10.0, WHY), per_minute=[2.0, 0.1, 0.1]).saved > 0
    assert effect_of(SendWalkIns("s1", "s0", 2, 10.0, WHY), per_minute=[2.0, 0.1, 0.1]).saved < 0


def test_a_drift_put_right_saves_what_the_site_would_not_give_before_it_is_lost():
    """24 minutes to the edge at 1 °C an hour and 240 of budget; of 200 doses in 480 minutes 110 are given by then."""
    warm = fridge_table(CITY, temperature_celsius={0: 7.6})
    effect = effect_of(SetPoint("s0", warm.fridge_id[0], 4.0, WHY), fridges=warm)
    assert (effect.saved, effect.saving) == (490, Saving.DOSES)
    assert effect.alternative.instead is Instead.UNKNOWN


def transfer(code, doses, from_site=1, to_site=0):
    fridge = calm_state(CITY).fridges.fridge_id
    return DoseTransfer(
        f"s{from_site}",
        f"s{to_site}",
        "alpha",
        f"lot-{from_site}-{from_site}",
        fridge[2 * from_site],
        fridge[2 * to_site],
        f"v{from_site}",
        doses,
        10.0,
        Why(code),
    )


def test_a_transfer_brings_what_lacks_and_names_who_else_could():
    lots = lot_table([Lot(0, 60), Lot(1, 600), Lot(2, 250)])
    effect = effect_of(transfer("stock_out_ahead", 300), lots=lots)
    busy = float(np.interp(0.75, [0.5, 0.9], [1.0, 1.2])) * 200
    assert effect.saved == pytest.approx(busy - 60)
    assert effect.alternative == Alternative(Instead.SITE, 2, float(np.floor(250 - busy)))


@pytest.mark.parametrize(("on_hand", "doses"), [(60, 165), (0, 180), (204, 21), (240, 0)])
def test_a_transfer_saves_no_more_than_it_carries_and_no_more_than_lacks(on_hand, doses):
    """A busy rest of the day needs 225: the upper quartile lies 12.5 % above 200."""
    assert effect_of(transfer("stock_out_ahead", 180), lots=lot_table([Lot(0, on_hand), Lot(1, 600)])).saved == doses


def test_a_lot_out_of_a_failing_fridge_is_saved_whole():
    effect = effect_of(FridgeMove("s0", "alpha", "lot-0-0", "a", "b", 30, Why("failing_fridge")))
    assert (effect.saved, effect.saving, effect.alternative.instead) == (30, Saving.DOSES, Instead.UNKNOWN)


def test_a_rescue_saves_its_doses_and_names_who_else_would_use_them_in_time():
    lots = lot_table([Lot(0, 0), Lot(1, 600, days_left=0.3), Lot(2, 90)])
    effect = effect_of(transfer("expiry_ahead", 120), lots=lots)
    assert (effect.saved, effect.saving) == (120, Saving.DOSES)
    # Expiry is 432 minutes ahead and the way 10: of 200 doses in 480 minutes 175 are given by then, 90 are there.
    assert effect.alternative == Alternative(Instead.SITE, 2, 85.0)


@pytest.mark.parametrize(
    ("decision", "reason"),
    [
        (FridgeMove("s0", "alpha", "lot-0-0", "a", "b", 30, Why("fridge_full")), NotReckoned.FULL_FRIDGE),
        (PreCool("s0", "a", 4.0, Why("delivery_ahead")), NotReckoned.DELIVERY),
    ],
)
def test_what_cannot_be_reckoned_says_why(decision, reason):
    assert effect_of(decision).not_reckoned is reason


def test_an_unknown_queue_gives_no_figure():
    unknown = np.where(np.arange(3)[:, None] == 0, np.nan, QUEUED)
    assert effect_of(stations(3, 4), waiting_people=unknown).not_reckoned is NotReckoned.UNKNOWN_SITE


def test_what_is_marked_unusable_saves_no_dose():
    assert effect_of(MarkUnusable("s0", "a", "alpha", "lot-0-0", 30, Why("expired"))).saved == 0


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_order_of_a_plan_says_what_it_saves_or_why_that_is_not_reckoned(language):
    outcome, console = plan_snapshot(MORNING.read_bytes(), Settings()), Console(record=True, width=1000, quiet=False)
    with console.capture() as told:
        print_plan(outcome, language, console, with_effects=True)
    effects = [line.strip() for line in told.get().splitlines() if line.startswith(" " * 20)]
    assert len(effects) == len(outcome.cycle.new_orders) > 10
    first = ("should save ", "should cost ", "effect not reckoned: ") if language == "en" else ("预计", "未估算效果：")
    assert all(line.startswith(first) for line in effects)
    unreckoned = [line for line in effects if line.startswith(first[-1])]
    assert len(unreckoned) <= 0.1 * len(effects)
