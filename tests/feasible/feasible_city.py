"""
Cities, states and proposals for the tests of the feasible room: a tidy one, and any number of untidy ones.

Over 500 lines, since a state has 17 classes and a proposal 11 kinds, and the untidy ones must reach every corner.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import numpy as np

from doseflow.domain.city import City, Fridge, Site, Van
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
from doseflow.domain.feature_classes import NUM_FEATURE_CLASSES
from doseflow.domain.forecast import ArrivalForecast
from doseflow.domain.limits import OperatingLimits
from doseflow.domain.orders import Commitments
from doseflow.domain.playbooks import Incidents
from doseflow.domain.products import VaccineProduct
from doseflow.domain.recent_periods import RecentPeriods
from doseflow.domain.roles import ROLES, STAGES
from doseflow.domain.state import CityState, FridgeTable, LotTable, StaffTable, VanTable, unknown_of_loggers
from doseflow.units import datetime_from_epoch_minutes, epoch_minutes_from_datetime

AS_OF = datetime(2026, 3, 4, 10, 0, tzinfo=UTC)
NOW = epoch_minutes_from_datetime(AS_OF)
SHIFT_ENDS = (AS_OF + timedelta(hours=5), AS_OF + timedelta(hours=2))
TREES = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Ginkgo", "Hazel")
LIQUID = VaccineProduct("liquid", "Liquid vaccine", 5, 0.02, 6.0, 2.0, 8.0, 240.0)
FROZEN = VaccineProduct("frozen", "Frozen vaccine", 10, 0.05, 12.0, -25.0, -15.0, 60.0)
BECAUSE = Why("queue_relief", {"wait_minutes": 40.0, "giver_wait_minutes": 5.0, "expected_saving_minutes": 120.0})


def site_name(idx: int) -> str:
    return TREES[idx] if idx < len(TREES) else f"Site {idx}"


def make_city(num_sites: int = 4, limits: OperatingLimits | None = None) -> City:
    sites = tuple(
        Site(
            site_id=f"s{idx}",
            name=site_name(idx),
            district="north",
            latitude=50.0 + idx * 0.01,
            longitude=14.0,
            opens_at=time(8),
            closes_at=time(18),
            stations_possible=(6, 6, 8, 4),
            seats_possible=40,
            minimum_team=(1, 1, 2, 1),
            daily_capacity_people=800,
            fridges=(Fridge("f1", 20.0), Fridge("f2", 10.0), Fridge("cold", 10.0, -20.0)),
            products=("liquid", "frozen"),
        )
        for idx in range(num_sites)
    )
    reach = min(5, num_sites - 1)
    neighbours = (np.arange(num_sites)[:, None] + np.arange(1, reach + 1)) % num_sites
    minutes = np.broadcast_to(np.array([10.0, 20.0, 28.0, 45.0, 75.0])[:reach], neighbours.shape).copy()
    vans = tuple(Van(f"v{idx}", f"s{idx}", 0.6) for idx in range(num_sites))
    return City(
        city_id="trees",
        name="Trees",
        timezone="Europe/Prague",
        country="CZ",
        sites=sites,
        products=(LIQUID, FROZEN),
        vans=vans,
        neighbour_idx=neighbours.astype(np.int64),
        neighbour_travel_minutes=minutes,
        service_minutes=(2.0, 3.0, 4.0, 15.0),
        limits=limits or OperatingLimits(),
    )


def _staff(num_sites: int) -> StaffTable:
    """Of each role a group of 6 until 15:00 and one of 2 until 12:00 at every site; vaccinators may screen."""
    shape = (num_sites, len(ROLES), 2)
    site_idx, role_idx, group = (axis.ravel() for axis in np.indices(shape))
    qualified = np.eye(len(ROLES), dtype=bool)[role_idx]
    qualified[role_idx == 2, 1] = True
    ends = np.array([epoch_minutes_from_datetime(moment) for moment in SHIFT_ENDS])
    return StaffTable(
        site_idx=site_idx,
        role_idx=role_idx,
        people=np.where(group == 0, 6, 2),
        shift_ends_epoch_minutes=ends[group],
        moves_today=np.zeros(site_idx.size, dtype=np.int64),
        qualified=qualified,
        reserved_people=np.zeros(site_idx.size, dtype=np.int64),
    )


def _fridges(num_sites: int) -> FridgeTable:
    row_site = np.repeat(np.arange(num_sites), 3)
    which = np.tile(np.arange(3), num_sites)
    return FridgeTable(
        site_idx=row_site,
        fridge_id=tuple(("f1", "f2", "cold")[idx] for idx in which),
        temperature_celsius=np.array([5.0, 5.0, -20.0])[which],
        set_point_celsius=np.array([5.0, 5.0, -20.0])[which],
        excursion_minutes=np.zeros(which.size),
        power_on=np.ones(which.size),
        volume_used_litres=np.array([1.0, 0.2, 0.5])[which],
        volume_possible_litres=np.array([2.0, 1.0, 1.0])[which],
        **unknown_of_loggers(which.size),
    )


def _lots(num_sites: int) -> LotTable:
    """In f1 an early liquid lot (100 doses, 3 days) and a late one (200, 10 days); 50 frozen doses in the cold one."""
    row_site = np.repeat(np.arange(num_sites), 3)
    which = np.tile(np.arange(3), num_sites)
    days = np.array([3.0, 10.0, 30.0])[which]
    return LotTable(
        site_idx=row_site,
        fridge_row=row_site * 3 + np.array([0, 0, 2])[which],
        product_idx=np.array([0, 0, 1])[which],
        lot_number=tuple(("early", "late", "ice")[idx] for idx in which),
        unopened_doses=np.array([100, 200, 50])[which],
        open_vial_doses=np.array([0, 3, 0])[which],
        expires_epoch_minutes=NOW + days * 24 * 60,
        reserved_doses=np.zeros(which.size, dtype=np.int64),
    )


def make_state(city: City | None = None, **changes: object) -> CityState:
    """A tidy morning: everything known, fresh and within its bounds."""
    city = city or make_city()
    size = city.num_sites
    state = CityState(
        city=city,
        as_of=AS_OF,
        arrivals_people=np.full(size, 10.0),
        waiting_people=np.full((size, 4), 5.0),
        observed_wait_minutes=10.0 + 5.0 * (np.arange(size) % 8),
        booked_people=np.full((size, 8), 10.0),
        no_show_share=np.full(size, 0.1),
        mean_early_minutes=np.full(size, 12.0),
        walk_in_share=np.full(size, 0.5),
        doses_given=np.full(size, 8.0),
        doses_given_past_weeks=np.full((size, 4), 8.0),
        arrivals_past_weeks_people=np.full((size, 4, 24), 10.0),
        recent=RecentPeriods(np.full((size, 24), 10.0), np.full((size, 24), 10.0 / 3), np.full((size, 4, 24), 10.0)),
        staff=_staff(size),
        worked_hours=np.full((size, 4), 3.0),
        breaks_due_people=np.full((size, 4), 1.0),
        stations_open=np.tile([3.0, 3.0, 4.0, 2.0], (size, 1)),
        stations_possible=np.tile([6.0, 6.0, 8.0, 4.0], (size, 1)),
        seats_taken=np.full(size, 12.0),
        seats_possible=np.full(size, 40.0),
        lots=_lots(size),
        fridges=_fridges(size),
        vans=VanTable(site_idx=np.arange(size), free_epoch_minutes=np.full(size, NOW - 5.0)),
        weather_idx=np.zeros(size, dtype=np.int64),
        incidents=np.zeros((size, 5), dtype=bool),
        is_open=np.ones(size, dtype=bool),
        open_minutes_left=np.full(size, 480.0),
        weekday=2,
        is_holiday=False,
        valid_epoch_minutes=np.full((size, NUM_FEATURE_CLASSES), NOW - 5.0),
        received_epoch_minutes=np.full((size, NUM_FEATURE_CLASSES), NOW - 4.0),
        changed_epoch_minutes=np.full((size, NUM_FEATURE_CLASSES), NOW - 60.0),
        source=np.zeros((size, NUM_FEATURE_CLASSES), dtype=np.int64),
        commitments=Commitments(),
    )
    return replace(state, **changes)


def make_forecast(state: CityState, arrivals_people: float = 10.0) -> ArrivalForecast:
    size = state.city.num_sites
    return ArrivalForecast(
        made_at=state.as_of,
        forecaster="flat",
        arrivals_people=np.full((size, 24, 5), arrivals_people),
        doses_rest_of_day=np.full((size, 5), 100.0),
        basis=np.zeros(size, dtype=np.int64),
    )


def changed(array: np.ndarray, where: object, value: object) -> np.ndarray:
    """A copy of an array with one place changed."""
    copy = array.copy()
    copy[where] = value
    return copy


def with_table(state: CityState, table: str, column: str, where: object, value: object) -> CityState:
    """A state with one place of one table's column changed."""
    old = getattr(state, table)
    return replace(state, **{table: replace(old, **{column: changed(getattr(old, column), where, value)})})


def staff_row(site: int, role: int, group: int = 0) -> int:
    return (site * 4 + role) * 2 + group


# One tidy decision of each kind, allowed in the tidy state; every field can be changed.


def move(frm=0, to=1, people=1, role="vaccinator", works_as=None, group=0, travel_minutes=None, why=BECAUSE):
    city = make_city(max(4, frm + 1, to + 1))
    travel = city.travel_by_pair.get((frm, to), 10.0) if travel_minutes is None else travel_minutes
    return StaffMove(
        from_site_id=f"s{frm}",
        to_site_id=f"s{to}",
        role=next(one for one in ROLES if one == role),
        works_as=next(one for one in ROLES if one == (works_as or role)),
        shift_ends_at=SHIFT_ENDS[group],
        people=people,
        travel_minutes=travel,
        why=why,
    )


def stations(site=0, stage=2, after=5, before=None, why=BECAUSE):
    before = (3, 3, 4, 2)[stage] if before is None else before
    return StationChange(f"s{site}", STAGES[stage], before, after, why)


def transfer(
    frm=0, to=1, doses=10, lot="early", van=None, product="liquid", from_fridge="f1", to_fridge="f1", **changes
):
    travel = make_city(max(4, frm + 1, to + 1)).travel_by_pair.get((frm, to), 10.0)
    return replace(
        DoseTransfer(
            from_site_id=f"s{frm}",
            to_site_id=f"s{to}",
            product_id=product,
            lot_number=lot,
            from_fridge_id=from_fridge,
            to_fridge_id=to_fridge,
            van_id=van or f"v{frm}",
            doses=doses,
            travel_minutes=travel,
            why=Why("stock_out_ahead", {"doses_on_hand": 20.0, "doses_needed": 90.0, "hours_left": 1.5}),
        ),
        **changes,
    )


def fridge_move(site=0, doses=10, lot="early", frm="f1", to="f2", product="liquid"):
    why = Why("failing_fridge", {"temperature_celsius": 9.5, "minutes_to_loss": 45.0})
    return FridgeMove(f"s{site}", product, lot, frm, to, doses, why)


def set_point(site=0, fridge="f1", celsius=4.0):
    return SetPoint(f"s{site}", fridge, celsius, Why("band_drift", {"temperature_celsius": 7.5}))


def pre_cool(site=0, fridge="f1", celsius=3.0):
    return PreCool(f"s{site}", fridge, celsius, Why("delivery_ahead"))


def mark(site=0, lot="early", doses=100, fridge="f1", product="liquid"):
    why = Why("excursion_spent", {"excursion_minutes": 300.0, "budget_minutes": 240.0})
    return MarkUnusable(f"s{site}", fridge, product, lot, doses, why)


def release(site=0, bin_idx=2, people=3):
    return ReleaseSlots(f"s{site}", bin_idx, people, Why("room_free", {"free_people": 9.0}))


def hold(site=0, bin_idx=2, people=3):
    return HoldSlots(f"s{site}", bin_idx, people, Why("queue_ahead", {"wait_minutes": 50.0}))


def tell(site=0, people=10, delay_minutes=12.0):
    return TellArrivalTime(f"s{site}", people, delay_minutes, Why("early_arrivals", {"mean_early_minutes": 12.0}))


def send(frm=1, to=0, people=5, travel_minutes=None):
    travel = make_city(max(4, frm + 1, to + 1)).travel_by_pair.get((frm, to), 10.0)
    return SendWalkIns(
        f"s{frm}",
        f"s{to}",
        people,
        travel if travel_minutes is None else travel_minutes,
        Why("queue_ahead", {"wait_minutes": 50.0}),
    )


# Random untidy states and proposals.


def random_state(rng: np.random.Generator, num_sites: int) -> CityState:
    """Every kind of trouble at some site: unknowns, stale readings, too few people, failing fridges, closed doors."""
    limits = OperatingLimits(max_city_moved_people=int(rng.integers(1, 8)), max_station_changes=int(rng.integers(1, 5)))
    tidy = make_state(make_city(num_sites, limits))
    staff, lots, fridges = tidy.staff, tidy.lots, tidy.fridges
    rows = staff.site_idx.size
    seats = maybe_unknown(rng, rng.integers(5, 60, num_sites).astype(float))
    return replace(
        tidy,
        staff=replace(
            staff,
            people=rng.integers(0, 6, rows),
            moves_today=rng.integers(0, 2, rows) * (rng.random(rows) < 0.3),
            reserved_people=rng.integers(0, 2, rows),
            qualified=staff.qualified | (rng.random(staff.qualified.shape) < 0.2),
        ),
        lots=replace(
            lots,
            unopened_doses=rng.integers(0, 25, lots.site_idx.size) * 5,
            reserved_doses=rng.integers(0, 3, lots.site_idx.size) * 5,
            expires_epoch_minutes=maybe_unknown(
                rng, NOW + rng.choice([-60.0, 100.0, 500.0, 2000.0, 9000.0], lots.site_idx.size)
            ),
        ),
        fridges=replace(
            fridges,
            temperature_celsius=maybe_unknown(
                rng, fridges.temperature_celsius + rng.choice([0.0, 0.0, 6.0], fridges.site_idx.size)
            ),
            excursion_minutes=maybe_unknown(
                rng, rng.choice([0.0, 30.0, 300.0], fridges.site_idx.size, p=[0.7, 0.2, 0.1])
            ),
            power_on=maybe_unknown(rng, (rng.random(fridges.site_idx.size) < 0.9).astype(float)),
            volume_used_litres=maybe_unknown(
                rng, rng.random(fridges.site_idx.size) * fridges.volume_possible_litres * 1.1
            ),
        ),
        vans=VanTable(rng.integers(-1, num_sites, num_sites), NOW + rng.choice([-5.0, -5.0, 20.0, np.nan], num_sites)),
        booked_people=maybe_unknown(rng, rng.integers(0, 15, num_sites).astype(float))[:, None] * np.ones(8),
        walk_in_share=maybe_unknown(rng, rng.random(num_sites)),
        breaks_due_people=maybe_unknown(rng, rng.integers(0, 3, (num_sites, 4)).astype(float)),
        stations_open=maybe_unknown(rng, rng.integers(0, 6, (num_sites, 4)).astype(float), 0.05),
        stations_possible=maybe_unknown(rng, rng.integers(3, 8, (num_sites, 4)).astype(float), 0.05),
        seats_possible=seats,
        is_open=rng.random(num_sites) < 0.85,
        valid_epoch_minutes=maybe_unknown(
            rng, NOW - rng.choice([5.0, 5.0, 5.0, 5.0, 40.0], tidy.valid_epoch_minutes.shape), 0.03
        ),
    )


def maybe_unknown(rng: np.random.Generator, array: np.ndarray, share: float = 0.1) -> np.ndarray:
    return np.where(rng.random(array.shape) < share, np.nan, array)


def random_commitments(rng: np.random.Generator, state: CityState, *, pins: bool = False) -> Commitments:
    """Some frozen and suspended sites, some promises and refusals; pins only where asked for."""
    ids = [site.site_id for site in state.city.sites]
    some = random_proposal(rng, state, 12, wild=0.0)
    return Commitments(
        acknowledged=tuple(some[:2]),
        under_way=tuple(some[2:4]),
        refused=tuple(some[4:6]),
        pinned=tuple(some[6:8]) if pins else (),
        frozen_site_ids=frozenset(one for one in ids if rng.random() < 0.1),
        suspended_site_ids=frozenset(one for one in ids if rng.random() < 0.1),
        overridden=tuple(some[6:7]) if pins else (),
        incidents=random_incidents(rng, state),
    )


def random_incidents(rng: np.random.Generator, state: CityState) -> Incidents:
    """Now and then a recalled lot, a failed fridge, a site without power, a surge."""
    ids = [site.site_id for site in state.city.sites]
    fridges = [(site.site_id, fridge.fridge_id) for site in state.city.sites for fridge in site.fridges]
    lots = sorted(set(state.lots.lot_number))
    return Incidents(
        recalled_lots=frozenset(one for one in lots if rng.random() < 0.1),
        failed_fridges=frozenset(one for one in fridges if rng.random() < 0.05),
        power_cut_site_ids=frozenset(one for one in ids if rng.random() < 0.05),
        surge_factor=1.5 if rng.random() < 0.2 else 1.0,
    )


def random_proposal(rng: np.random.Generator, state: CityState, size: int, wild: float = 0.1) -> list:
    """Decisions of every kind that collide with each other and the state; a share `wild` of them makes no sense."""
    makers = (_any_move, _any_move, _any_stations, _any_stations, _any_transfer, _any_transfer, _any_other)
    decisions = [makers[rng.integers(len(makers))](rng, state) for _ in range(size)]
    return [_wild(rng, one) if rng.random() < wild else one for one in decisions]


def _pair(rng: np.random.Generator, state: CityState) -> tuple[int, int, float]:
    frm = int(rng.integers(state.city.num_sites))
    column = int(rng.integers(state.city.neighbour_idx.shape[1]))
    to = int(state.city.neighbour_idx[frm, column])
    return frm, to, state.city.travel_by_pair[frm, to]


def _any_move(rng: np.random.Generator, state: CityState):
    frm, to, travel = _pair(rng, state)
    role = ROLES[rng.integers(4)]
    works_as = ROLES[rng.integers(4)] if rng.random() < 0.2 else role
    ends = SHIFT_ENDS[int(rng.random() < 0.2)]
    return StaffMove(f"s{frm}", f"s{to}", role, works_as, ends, int(rng.integers(1, 5)), travel, BECAUSE)


def _any_stations(rng: np.random.Generator, state: CityState):
    site, stage = int(rng.integers(state.city.num_sites)), int(rng.integers(4))
    now = state.stations_open[site, stage]
    before = 0 if np.isnan(now) else int(now)
    return StationChange(f"s{site}", STAGES[stage], before, int(rng.integers(0, 9)), BECAUSE)


def _any_transfer(rng: np.random.Generator, state: CityState):
    frm, to, travel = _pair(rng, state)
    lot, product, fridge = [("early", "liquid", "f1"), ("late", "liquid", "f1"), ("ice", "frozen", "cold")][
        rng.integers(3)
    ]
    standing = np.flatnonzero(state.vans.site_idx == frm)
    van = int(rng.choice(standing)) if standing.size else 0
    doses = int(rng.integers(1, 12)) * 5
    to_fridge = fridge if rng.random() < 0.8 else "f2"
    return transfer(frm, to, doses, lot, f"v{van}", product, fridge, to_fridge, travel_minutes=travel)


def _any_other(rng: np.random.Generator, state: CityState):
    frm, to, travel = _pair(rng, state)
    people, bin_idx = int(rng.integers(1, 12)), int(rng.integers(8))
    choices = (
        lambda: fridge_move(frm, int(rng.integers(1, 8)) * 5, ["early", "late"][rng.integers(2)]),
        lambda: set_point(frm, ["f1", "f2", "cold"][rng.integers(3)], float(rng.choice([4.0, 9.0, -20.0]))),
        lambda: pre_cool(frm, ["f1", "f2", "cold"][rng.integers(3)], float(rng.choice([3.0, 0.0, -18.0]))),
        lambda: mark(frm, ["early", "late"][rng.integers(2)], int(rng.integers(1, 120))),
        lambda: release(frm, bin_idx, people),
        lambda: hold(frm, bin_idx, people),
        lambda: tell(frm, people * 5, float(rng.choice([10.0, 500.0]))),
        lambda: send(frm, to, people, travel),
    )
    return choices[rng.integers(len(choices))]()


def _wild(rng: np.random.Generator, decision):
    """The same decision with one field that makes no sense."""
    amounts = {
        "people",
        "doses",
        "open_stations",
        "target_celsius",
        "set_point_celsius",
        "delay_minutes",
        "bin_idx",
        "open_before",
    }
    names = {"site_id", "from_site_id", "to_site_id", "lot_number", "van_id", "fridge_id", "to_fridge_id", "product_id"}
    fields = [name for name in decision.__dataclass_fields__ if name in amounts | names | {"travel_minutes"}]
    field = fields[rng.integers(len(fields))]
    if field in names:
        return replace(decision, **{field: "nowhere"})
    value = [float("nan"), float("inf"), -3, 10**9, 10**30, 2.5, 0][rng.integers(7)]
    why = Why("queue_relief", {"wait_minutes": float("nan")})
    return replace(decision, **{field: value, "why": why})


def moment(epoch_minutes: float) -> datetime:
    return datetime_from_epoch_minutes(epoch_minutes)


# A usual cycle, for timing: what a policy that knows the limits asks for, and where it still collides.


def usual_state(rng: np.random.Generator, num_sites: int) -> CityState:
    """A busy but orderly morning: everything known, queues uneven, some sites short of people."""
    tidy = make_state(make_city(num_sites))
    rows = tidy.staff.site_idx.size
    return replace(
        tidy,
        staff=replace(
            tidy.staff, people=np.where(np.arange(rows) % 2 == 0, rng.integers(4, 9, rows), rng.integers(0, 3, rows))
        ),
        observed_wait_minutes=rng.gamma(2.0, 8.0, num_sites),
        stations_open=rng.integers([1, 1, 2, 1], [4, 4, 5, 3], (num_sites, 4)).astype(float),
        breaks_due_people=rng.integers(0, 2, (num_sites, 4)).astype(float),
    )


def usual_proposal(rng: np.random.Generator, state: CityState, size: int) -> list:
    """A third staff moves of one or two people, a third stations, the rest doses, slots, and walk-ins."""
    makers = (
        _usual_move,
        _usual_move,
        _usual_move,
        _usual_stations,
        _usual_stations,
        _usual_stations,
        _usual_doses,
        _usual_slots,
        _usual_send,
    )
    by_key = {}
    while len(by_key) < size:
        decision = makers[len(by_key) % len(makers)](rng, state)
        by_key.setdefault(decision.key, decision)
    return list(by_key.values())


def _usual_move(rng, state):
    frm, to, travel = _pair(rng, state)
    role = ROLES[rng.integers(4)]
    return StaffMove(f"s{frm}", f"s{to}", role, role, SHIFT_ENDS[0], 1 + int(rng.random() < 0.1), travel, BECAUSE)


def _usual_stations(rng, state):
    site, stage = int(rng.integers(state.city.num_sites)), int(rng.integers(4))
    now = int(state.stations_open[site, stage])
    why = Why("stations_to_staff", {"people": float(now + 1)})
    return StationChange(f"s{site}", STAGES[stage], now, max(0, now + int(rng.choice([-1, 1, 1, 2]))), why)


def _usual_doses(rng, state):
    frm, to, travel = _pair(rng, state)
    lot = "early" if rng.random() < 0.9 else "late"
    return transfer(frm, to, int(rng.integers(2, 8)) * 5, lot, travel_minutes=travel)


def _usual_slots(rng, state):
    site, bin_idx = int(rng.integers(state.city.num_sites)), int(rng.integers(8))
    return (release if rng.random() < 0.5 else hold)(site, bin_idx, int(rng.integers(1, 4)))


def _usual_send(rng, state):
    frm, to, travel = _pair(rng, state)
    return send(frm, to, int(rng.integers(2, 12)), travel)
