"""Playbooks on a simulated day: what they forbid does not happen, and what they order saves doses."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
import pytest

from doseflow.bootstrap import OpenCity, open_city
from doseflow.demo.playing import bring_receipts, hand_over_orders, import_past_weeks, join_reports
from doseflow.domain.commanding import Press
from doseflow.domain.cycle import Cycle
from doseflow.domain.decisions import DoseTransfer, FridgeMove, MarkUnusable
from doseflow.domain.playbooks import SURGE_BOUNDS, Playbook, PlaybookKind
from doseflow.feasible.referee import referee
from doseflow.live.clocks import SimulatedClock
from doseflow.policy.levers import Lever
from doseflow.policy.rules_policy import RulesParams
from doseflow.settings import Settings, StoreSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.report_faults import NO_FAULTS

CITY = "synthetic:12"
CYCLES_TO_OBEY = 8
"""Orders are answered and carried out within minutes, and some are refused once."""


@dataclass
class Day:
    opened: OpenCity
    city: SimulatedCity
    clock: SimulatedClock
    cycles: list[Cycle] = field(default_factory=list)

    def play(self, num_cycles: int) -> None:
        for _ in range(num_cycles):
            self.city.advance(5)
            self.clock.set(self.city.now)
            bring_receipts(self.opened, self.city)
            self.opened.live.submit(join_reports(self.city.reports()))
            self.cycles.append(self.opened.live.run_cycle())
            hand_over_orders(self.opened, self.city)

    def start(self, kind: PlaybookKind, **what: object) -> Playbook:
        press = Press("ann", self.clock.now(), "a drill")
        return self.opened.live.desk.start_playbook(Playbook(f"pb-{kind}", kind, **what), press)

    def end(self, playbook: Playbook) -> None:
        self.opened.live.desk.end_playbook(playbook.playbook_id, Press("ann", self.clock.now(), "over"))


@contextlib.contextmanager
def day(folder, **sections) -> Iterator[Day]:
    city = SimulatedCity.from_name(CITY, seed=3, faults=NO_FAULTS)
    clock = SimulatedClock(city.now)
    store = StoreSettings(url=f"sqlite:///{folder / 'day.sqlite'}")
    opened = open_city(Settings(store=store, **sections), clock=clock, city=city.city)
    import_past_weeks(opened, city)
    with contextlib.closing(opened):
        played = Day(opened, city, clock)
        yield played
        for cycle in played.cycles:
            decisions = [one.decision for one in cycle.plan.decisions]
            assert not any(one.hard for one in referee(cycle.state, cycle.forecast, decisions))


def test_at_a_suspended_site_nobody_is_vaccinated_until_the_playbook_ends(tmp_path):
    with day(tmp_path) as played:
        played.play(18)
        busiest = int(np.argmax(played.city.world.totals.doses_given))
        site_id = played.city.city.sites[busiest].site_id
        book = played.start(PlaybookKind.SUSPEND_SITE, site_ids=(site_id,))
        played.play(CYCLES_TO_OBEY)
        before = played.city.world.totals.doses_given.copy()
        played.play(6)
        given = played.city.world.totals.doses_given - before
        assert given[busiest] == 0
        assert given.sum() > 0
        played.end(book)
        played.play(CYCLES_TO_OBEY + 6)
        assert played.city.world.totals.doses_given[busiest] > before[busiest]


def doses_of(played: Day, lot_number: str) -> int:
    world = played.city.world
    is_it = world.lots.code == world.lot_numbers.index(lot_number)
    return int((world.lots.unopened_doses + world.lots.open_doses)[is_it].sum())


def test_a_recalled_lot_is_moved_nowhere_and_soon_out_of_use_everywhere(tmp_path):
    with day(tmp_path) as played:
        played.play(12)
        lots = played.cycles[-1].state.lots
        lot = Counter(dict(zip(lots.lot_number, lots.unopened_doses.tolist(), strict=True))).most_common(1)[0][0]
        assert doses_of(played, lot) > 0
        played.start(PlaybookKind.RECALL_LOT, lot_number=lot)
        started = len(played.cycles)
        played.play(CYCLES_TO_OBEY)
        assert doses_of(played, lot) == 0
        orders = [order.decision for cycle in played.cycles[started:] for order in cycle.new_orders]
        assert not any(isinstance(one, DoseTransfer | FridgeMove) and one.lot_number == lot for one in orders)
        assert any(isinstance(one, MarkUnusable) and one.lot_number == lot for one in orders)
        given = played.city.world.totals.doses_given.sum()
        played.play(4)
        assert played.city.world.totals.doses_given.sum() > given


def lost_doses(played: Day, site_idx: int) -> float:
    """Doses past their excursion budget, still there or thrown away, anywhere: one fridge fails in this city."""
    world, city = played.city.world, played.city.city
    budget = np.array([product.excursion_budget_minutes for product in city.products])[world.lots.product_idx]
    doses = world.lots.unopened_doses + world.lots.open_doses
    return float(doses[world.lots.excursion_minutes >= budget].sum() + world.totals.doses_discarded.sum())


def failing(played: Day) -> tuple[int, int]:
    fails_at = played.city.world.day.fridge_fails_at
    site_idx, slot = np.argwhere(np.isfinite(fails_at))[0].tolist()
    return site_idx, slot


def through_a_failure(folder, *, with_playbook: bool) -> float:
    rules = RulesParams() if with_playbook else RulesParams(without=(Lever.COLD_CHAIN,))
    folder.mkdir()
    with day(folder, rules=rules) as played:
        site_idx, slot = failing(played)
        played.play(10)
        fridge = played.city.city.sites[site_idx].fridges[slot]
        if with_playbook:
            site_id = played.city.city.sites[site_idx].site_id
            played.start(PlaybookKind.FRIDGE_FAILURE, site_ids=(site_id,), fridge_id=fridge.fridge_id)
            started = len(played.cycles)
        while played.clock.now() < played.cycles[0].started_at + timedelta(hours=9):
            played.play(1)
        if with_playbook:
            orders = [order.decision for cycle in played.cycles[started:] for order in cycle.new_orders]
            assert any(isinstance(one, DoseTransfer | FridgeMove) for one in orders)
            into = [one for one in orders if isinstance(one, DoseTransfer | FridgeMove)]
            there = [(getattr(one, "to_site_id", getattr(one, "site_id", "")), one.to_fridge_id) for one in into]
            assert (site_id, fridge.fridge_id) not in there
        return lost_doses(played, site_idx)


def test_the_rescue_from_a_failed_fridge_loses_fewer_doses_than_doing_nothing(tmp_path):
    nothing = through_a_failure(tmp_path / "nothing", with_playbook=False)
    rescued = through_a_failure(tmp_path / "rescued", with_playbook=True)
    assert nothing > 0
    assert rescued < nothing


@pytest.mark.parametrize("factor", [1.5, 2.0])
def test_a_surge_relaxes_limits_within_its_bounds_and_only_while_it_runs(tmp_path, factor):
    with day(tmp_path) as played:
        played.play(1)
        book = played.start(PlaybookKind.SURGE, factor=factor)
        played.play(1)
        usual, now = played.city.city.limits, played.cycles[-1].state.limits
        assert usual.max_city_moved_people < now.max_city_moved_people <= SURGE_BOUNDS.max_city_moved_people
        assert usual.max_moved_share < now.max_moved_share <= SURGE_BOUNDS.max_moved_share
        for name in ("max_travel_minutes", "safety_stock_share", "max_report_age_minutes", "min_lot_life_minutes"):
            assert getattr(now, name) == getattr(usual, name)
        played.end(book)
        played.play(1)
        assert played.cycles[-1].state.limits == usual
