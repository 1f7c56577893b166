"""A small made-up city, its states, decisions, cycles and reports, for the tests of the store."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import UTC, datetime, time, timedelta

import numpy as np

from doseflow.dispatch.order_difference import orders_from_difference
from doseflow.domain import decisions as d
from doseflow.domain.city import City, Fridge, Site, Van
from doseflow.domain.cycle import Cycle
from doseflow.domain.forecast import HORIZON_PERIODS, QUANTILE_LEVELS, ArrivalForecast
from doseflow.domain.orders import Commitments
from doseflow.domain.plan import Plan, PlannedDecision, Proposal, RepairPath
from doseflow.domain.products import VaccineProduct
from doseflow.domain.recent_periods import RECENT_PERIODS, RecentPeriods
from doseflow.domain.report import ReceivedReport, SiteReport
from doseflow.domain.roles import Role, Stage
from doseflow.domain.state import CityState, FridgeTable, LotTable, StaffTable, VanTable, unknown_of_loggers

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WHY = d.Why("queue_shed", {"wait_minutes": 17.25, "people": 3, "stage": "vaccination"})


def make_city(num_sites: int = 3) -> City:
    sites = tuple(
        Site(
            site_id=f"site-{idx:04d}",
            name=f"Site {idx}",
            district="north",
            latitude=50.0 + idx / 100,
            longitude=14.0,
            opens_at=time(8),
            closes_at=time(18),
            stations_possible=(4, 4, 8, 4),
            seats_possible=30,
            minimum_team=(1, 1, 1, 1),
            daily_capacity_people=600,
            fridges=(Fridge("f1", 120.0), Fridge("f2", 60.0)),
            products=("pfizer",),
        )
        for idx in range(num_sites)
    )
    neighbour_idx = np.array([[(idx + 1) % num_sites] for idx in range(num_sites)], dtype=np.int64)
    return City(
        city_id="sample",
        name="Sample",
        timezone="Europe/Prague",
        country="CZ",
        sites=sites,
        products=(VaccineProduct("pfizer", "Comirnaty", 6, 0.02, 6.0, 2.0, 8.0, 240.0),),
        vans=(Van("van-1", "site-0000", 100.0),),
        neighbour_idx=neighbour_idx,
        neighbour_travel_minutes=np.full((num_sites, 1), 12.5),
        service_minutes=(4.4, 3.0, 4.0, 15.0),
    )


def one_of_each_kind(people: int = 2) -> tuple[d.Decision, ...]:
    return (
        d.StaffMove(
            "site-0000", "site-0001", Role.VACCINATOR, Role.SCREENER, START + timedelta(hours=5), people, 12.5, WHY
        ),
        d.StationChange("site-0000", Stage.VACCINATION, 2, 2 + people, WHY),
        d.DoseTransfer("site-0001", "site-0002", "pfizer", "LOT-1", "f1", "f2", "van-1", 6 * people, 12.5, WHY),
        d.FridgeMove("site-0000", "pfizer", "LOT-1", "f1", "f2", 6 * people, WHY),
        d.PreCool("site-0000", "f1", 2.5, WHY),
        d.MarkUnusable("site-0000", "f1", "pfizer", "LOT-9", people, WHY),
        d.SetPoint("site-0000", "f2", 4.5, WHY),
        d.ReleaseSlots("site-0001", 3, people, WHY),
        d.HoldSlots("site-0002", 4, people, WHY),
        d.TellArrivalTime("site-0002", people, 20.0, WHY),
        d.SendWalkIns("site-0002", "site-0000", people, 12.5, WHY),
    )


def make_state(
    city: City, as_of: datetime = START, *, seed: int = 1, commitments: Commitments | None = None
) -> CityState:
    """A state with about a fifth of its readings unknown."""
    rng = np.random.default_rng(seed)
    sites = city.num_sites

    def counts(*shape: int) -> np.ndarray:
        values = rng.integers(0, 60, (sites, *shape)).astype(np.float64)
        values[rng.random(values.shape) < 0.2] = np.nan
        return values

    def reals(*shape: int) -> np.ndarray:
        return rng.random((sites, *shape)) * 37.3

    minutes = as_of.timestamp() / 60
    return CityState(
        city=city,
        as_of=as_of,
        arrivals_people=counts(),
        waiting_people=counts(4),
        observed_wait_minutes=reals(),
        booked_people=counts(8),
        no_show_share=reals() / 40,
        mean_early_minutes=reals(),
        walk_in_share=reals() / 40,
        doses_given=counts(),
        doses_given_past_weeks=counts(4),
        arrivals_past_weeks_people=counts(4, HORIZON_PERIODS),
        recent=RecentPeriods(counts(RECENT_PERIODS), counts(RECENT_PERIODS) / 3, counts(4, RECENT_PERIODS)),
        staff=_staff(sites, rng, minutes),
        worked_hours=reals(4),
        breaks_due_people=counts(4),
        stations_open=counts(4),
        stations_possible=counts(4),
        seats_taken=counts(),
        seats_possible=counts(),
        lots=_lots(sites, rng, minutes),
        fridges=_fridges(sites, rng),
        vans=VanTable(np.array([0]), np.array([minutes + 7.5])),
        weather_idx=rng.integers(-1, 4, sites),
        incidents=rng.random((sites, 5)) < 0.05,
        is_open=rng.random(sites) < 0.9,
        open_minutes_left=reals() * 10,
        weekday=0,
        is_holiday=None if seed % 2 else False,
        valid_epoch_minutes=minutes - rng.integers(0, 300, (sites, 17)) / 60,
        received_epoch_minutes=minutes - rng.integers(0, 300, (sites, 17)) / 60,
        changed_epoch_minutes=minutes - rng.integers(0, 300, (sites, 17)) / 60,
        source=rng.integers(0, 4, (sites, 17)),
        commitments=commitments or Commitments(),
    )


def _staff(sites: int, rng: np.random.Generator, minutes: float) -> StaffTable:
    rows = sites * 8
    return StaffTable(
        site_idx=np.repeat(np.arange(sites), 8),
        role_idx=np.tile(np.arange(4), sites * 2),
        people=rng.integers(0, 9, rows),
        shift_ends_epoch_minutes=minutes + rng.integers(0, 600, rows).astype(np.float64),
        moves_today=rng.integers(0, 2, rows),
        qualified=rng.random((rows, 4)) < 0.5,
        reserved_people=np.zeros(rows, dtype=np.int64),
    )


def _lots(sites: int, rng: np.random.Generator, minutes: float) -> LotTable:
    rows = sites * 3
    return LotTable(
        site_idx=np.repeat(np.arange(sites), 3),
        fridge_row=rng.integers(0, sites * 2, rows),
        product_idx=np.zeros(rows, dtype=np.int64),
        lot_number=tuple(f"LOT-{row % 7}" for row in range(rows)),
        unopened_doses=rng.integers(0, 400, rows) * 6,
        open_vial_doses=rng.integers(0, 6, rows),
        expires_epoch_minutes=minutes + rng.integers(0, 90_000, rows).astype(np.float64),
        reserved_doses=np.zeros(rows, dtype=np.int64),
    )


def _fridges(sites: int, rng: np.random.Generator) -> FridgeTable:
    rows = sites * 2
    return FridgeTable(
        site_idx=np.repeat(np.arange(sites), 2),
        fridge_id=tuple(f"f{row % 2 + 1}" for row in range(rows)),
        temperature_celsius=2 + rng.random(rows) * 6,
        set_point_celsius=np.full(rows, 5.0),
        excursion_minutes=np.zeros(rows),
        power_on=np.where(rng.random(rows) < 0.1, np.nan, 1.0),
        volume_used_litres=rng.random(rows) * 60,
        volume_possible_litres=np.full(rows, 120.0),
        **_of_loggers(rows, rng),
    )


def _of_loggers(rows: int, rng: np.random.Generator) -> dict[str, object]:
    codes = ("", None, "DOOR HEAT")
    told = {name: np.where(rng.random(rows) < 0.3, np.nan, rng.random(rows)) for name in unknown_of_loggers(rows)}
    return told | {"alarms": tuple(codes[row % 3] for row in range(rows))}


def make_plan(decisions: tuple[d.Decision, ...], as_of: datetime = START, **changes: object) -> Plan:
    planned = tuple(
        PlannedDecision(one, f"reason of {one.kind}", f"原因 {one.kind}", float(one.quantity)) for one in decisions
    )
    plan = Plan("rules", as_of, planned, RepairPath.SOLVER, 1.5)
    return replace(plan, **changes)


def make_cycle(
    city: City,
    cycle_id: str,
    decisions: tuple[d.Decision, ...] = (),
    *,
    as_of: datetime = START,
    open_orders: tuple = (),
    **plan_changes: object,
) -> Cycle:
    plan = make_plan(decisions, as_of, **plan_changes)
    new_orders, withdrawn = orders_from_difference(plan, open_orders, cycle_id)
    sites = city.num_sites
    forecast = ArrivalForecast(
        made_at=as_of,
        forecaster="seasonal_naive",
        arrivals_people=np.zeros((sites, HORIZON_PERIODS, len(QUANTILE_LEVELS))),
        doses_rest_of_day=np.zeros((sites, len(QUANTILE_LEVELS))),
        basis=np.zeros(sites, dtype=np.int64),
    )
    return Cycle(
        cycle_id=cycle_id,
        started_at=as_of,
        state=make_state(city, as_of),
        forecast=forecast,
        proposal=Proposal("rules", decisions),
        plan=plan,
        infeasible=None,
        new_orders=new_orders,
        withdrawn_order_ids=withdrawn,
        stage_milliseconds={"state": 1.5, "forecast": 0.5},
    )


def make_report(
    site_id: str, report_id: str, valid_at: datetime = START, arrivals_people: int | None = 5
) -> tuple[ReceivedReport, bytes]:
    """A report, and its bytes as they came: without the id, which was derived."""
    raw = json.dumps(
        {"site_id": site_id, "valid_at": valid_at.isoformat(), "arrivals_people": arrivals_people}
    ).encode()
    report = SiteReport(site_id=site_id, valid_at=valid_at, report_id=report_id, arrivals_people=arrivals_people)
    return ReceivedReport(report, valid_at + timedelta(seconds=10)), raw


def assert_same_state(one: CityState, other: CityState) -> None:
    """Equal to the last bit of every array and to its type, NaN for NaN."""
    _assert_same_fields(one, other, "")


def _assert_same_fields(one: object, other: object, path: str) -> None:
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        where = f"{path}{field.name}"
        if field.name == "city":
            continue
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, where
            np.testing.assert_array_equal(left, right, err_msg=where, strict=True)
        elif isinstance(left, StaffTable | LotTable | FridgeTable | VanTable | RecentPeriods):
            _assert_same_fields(left, right, f"{where}.")
        else:
            assert left == right, where


CITY = make_city()
"""One city for a whole test, so that what was saved and what comes back can be the same object."""
