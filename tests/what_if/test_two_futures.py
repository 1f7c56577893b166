"""What may be believed of two futures, held against what must be so whatever the simulator says."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import replace
from datetime import timedelta
from functools import cache

import numpy as np
import pytest

from doseflow.bootstrap import open_city
from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.domain.roles import ROLE_TO_IDX, Role
from doseflow.errors import InputWrong
from doseflow.live.clocks import SimulatedClock
from doseflow.settings import Settings, StoreSettings
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.report_faults import NO_FAULTS
from doseflow.what_if.changes import Change, ChangeKind, check_changes
from doseflow.what_if.comparison import compared
from doseflow.what_if.rebuilt_day import at_level
from doseflow.what_if.replica import Question, play_replica
from doseflow.what_if.workers import WhatIfWorkers

NEEDLE = ROLE_TO_IDX[Role.VACCINATOR]


@cache
def morning(num_cycles: int = 18) -> tuple[Question, SimulatedCity]:
    """A question of a small city at nine, without any change."""
    city = SimulatedCity.from_name("synthetic:12", faults=NO_FAULTS)
    clock = SimulatedClock(city.now)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as open_now:
        settings = Settings(store=StoreSettings(url=f"sqlite:///{folder}/morning.sqlite"))
        o = open_now.enter_context(contextlib.closing(open_city(settings, clock=clock, city=city.city)))
        for _ in range(num_cycles):
            city.advance(5)
            clock.set(city.now)
            o.live.submit(b"[" + b",".join(city.reports()) + b"]")
            cycle = o.live.run_cycle()
        past = o.live.past_weeks_at([cycle.state.as_of + timedelta(hours=k) for k in range(14)])
    return Question(cycle.state, cycle.forecast, past, (), num_replicas=2), city


def asked(*changes: Change) -> Question:
    return replace(morning()[0], changes=changes)


def busiest() -> int:
    return int(np.argmax(np.nan_to_num(morning()[0].forecast.arrivals_people).sum(axis=(1, 2))))


def test_without_a_change_both_futures_are_equal_to_the_last_person():
    replica = play_replica(asked(), 0)
    for name in ("waiting_people", "waited_minutes", "started_people"):
        np.testing.assert_array_equal(getattr(replica.as_is, name), getattr(replica.changed, name))
    np.testing.assert_array_equal(replica.as_is.doses, replica.changed.doses)
    assert replica.as_is.first_orders == replica.changed.first_orders
    assert replica.as_is.doses.sum() > 0
    shown = compared([replica], morning()[1].city, [])
    assert shown.sites == ()
    assert shown.city.as_is == shown.city.changed


def test_nobody_is_vaccinated_at_a_closed_site_and_its_neighbours_get_its_people():
    city, at = morning()[1].city, busiest()
    replica = play_replica(asked(Change(ChangeKind.CLOSE_SITE, city.sites[at].site_id)), 0)
    assert replica.as_is.doses[at] > 0
    assert replica.changed.doses[at] == 0
    neighbours = [int(idx) for idx in city.neighbour_idx[at][:3] if idx >= 0]
    assert replica.changed.doses[neighbours].sum() > replica.as_is.doses[neighbours].sum()
    assert replica.changed.lost[at] > replica.as_is.lost[at]


def test_vaccinators_never_lengthen_the_wait_at_an_overloaded_site():
    question, city = morning()[0], morning()[1].city
    at = busiest()
    state = question.state
    # One needle where many are possible.
    staff = state.staff
    people = np.where((staff.site_idx == at) & (staff.role_idx == NEEDLE), 1, staff.people)
    stations = state.stations_open.copy()
    stations[at, NEEDLE] = 1
    overloaded = replace(
        question,
        state=replace(state, staff=replace(staff, people=people), stations_open=stations),
        changes=(Change(ChangeKind.ADD_VACCINATORS, city.sites[at].site_id, people=4),),
    )
    replicas = [play_replica(overloaded, number) for number in range(2)]
    # Where few are served many turn at the door, so what is compared is the wait of each who is vaccinated.
    before, after = (
        np.mean(
            [np.sum(getattr(one, name).waited_minutes, axis=0)[at] / getattr(one, name).doses[at] for one in replicas]
        )
        for name in ("as_is", "changed")
    )
    assert before > 10
    assert after <= before
    assert sum(one.changed.doses[at] - one.as_is.doses[at] for one in replicas) >= 0


def test_doubled_walk_ins_only_add_people():
    replica = play_replica(asked(Change(ChangeKind.WALK_INS, factor=2.0)), 1)
    came = [one.doses.sum() + one.lost.sum() for one in (replica.as_is, replica.changed)]
    assert came[1] > came[0]


def test_a_lost_fridge_gives_no_more_doses_than_were_there():
    city, at = morning()[1].city, busiest()
    replica = play_replica(asked(Change(ChangeKind.LOSE_FRIDGE, city.sites[at].site_id)), 0)
    assert replica.changed.doses[at] <= replica.as_is.doses[at]


def test_the_waiting_people_at_first_are_those_of_the_state():
    question = asked()
    replica = play_replica(question, 0)
    told = np.nan_to_num(question.state.waiting_people)[:, :3].sum()
    # A quarter of an hour later they are other people, yet a queue neither vanishes nor doubles so soon.
    assert 0.3 * told <= replica.as_is.waiting_people[0].sum() <= 2.0 * told + 20


def test_a_level_between_two_quantiles_lies_on_the_line_between_them():
    quantiles = np.array([QUANTILE_LEVELS])
    for level in (0.1, 0.2, 0.5, 0.8, 0.9):
        assert at_level(quantiles, level)[0] == pytest.approx(level)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Change(ChangeKind.CLOSE_SITE), "site_id: must be given"),
        (Change(ChangeKind.CLOSE_SITE, "nowhere"), "nowhere"),
        (Change(ChangeKind.WALK_INS, factor=9.0), "0..5"),
        (Change(ChangeKind.ADD_VACCINATORS, people=0), "1..200"),
        (Change(ChangeKind.LOSE_FRIDGE, "?", fridge_id="none"), "site_id"),
    ],
)
def test_what_a_city_cannot_have_is_refused_with_the_field_and_the_bound(change, words):
    with pytest.raises(InputWrong, match=r"changes\.0") as refusal:
        check_changes([change], morning()[1].city)
    assert words in str(refusal.value)


def test_workers_give_what_this_process_gives():
    question, city = asked(Change(ChangeKind.WALK_INS, factor=1.5)), morning()[1].city
    workers = WhatIfWorkers(1)
    try:
        answers = workers.ask(question, 60.0)
    finally:
        workers.close()
    here = [play_replica(question, number) for number in range(2)]
    assert compared(answers, city, []) == compared(here, city, [])
