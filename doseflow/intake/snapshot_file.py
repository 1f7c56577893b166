"""A snapshot: a city, the reports of one moment, and what binds the plan; the file of `doseflow plan --state`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, ClassVar

import numpy as np
import orjson
from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import AwareDatetime, ConfigDict, TypeAdapter, ValidationError

from doseflow.domain.city import City, FloatArray
from doseflow.domain.forecast import HORIZON_PERIODS
from doseflow.domain.orders import Commitments
from doseflow.domain.recent_periods import RECENT_PERIODS, RecentPeriods
from doseflow.domain.report import PAST_WEEKS, ReceivedReport, SiteReport
from doseflow.errors import CityWrong, ReportRefused, SnapshotWrong
from doseflow.intake.city_file import city_from_json, city_to_json
from doseflow.intake.json_text import parse_json
from doseflow.intake.params import IntakeParams
from doseflow.intake.refusal_sentences import first_problem
from doseflow.intake.report_checks import check_report

_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

_Arrivals = Annotated[float, Ge(0), Le(100_000)] | None
_Week = Annotated[tuple[_Arrivals, ...], MinLen(HORIZON_PERIODS), MaxLen(HORIZON_PERIODS)]
_RecentRow = Annotated[tuple[_Arrivals, ...], MinLen(RECENT_PERIODS), MaxLen(RECENT_PERIODS)]


@dataclass(frozen=True, slots=True)
class _RecentDocument:
    """The last two hours of one site, the oldest period first; null or left out is unknown."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    arrivals_people: _RecentRow | None = None
    booked_people: _RecentRow | None = None
    past_weeks_people: Annotated[tuple[_RecentRow, ...], MaxLen(PAST_WEEKS)] = ()


@dataclass(frozen=True, slots=True)
class _SnapshotDocument:
    """The form of a state file; city and reports are read by those who know them."""

    __pydantic_config__: ClassVar[ConfigDict] = _STRICT
    city: dict[str, Any]
    as_of: AwareDatetime
    reports: tuple[SiteReport, ...]
    frozen_site_ids: tuple[str, ...] = ()
    suspended_site_ids: tuple[str, ...] = ()
    arrivals_past_weeks_people: dict[str, Annotated[tuple[_Week, ...], MaxLen(PAST_WEEKS)]] = field(
        default_factory=dict
    )
    recent_periods: dict[str, _RecentDocument] = field(default_factory=dict)


_SNAPSHOT = TypeAdapter(_SnapshotDocument)
_REPORT = TypeAdapter(SiteReport)


@dataclass(frozen=True)
class Snapshot:
    """
    What one plan is made from.

    Parameters
    ----------
    as_of
        The moment planned for; the reports count as received then.
    arrivals_past_weeks_people
        Arrivals in the coming 24 periods of past weeks, (S, W, T), the last week first; NaN unknown.
    recent
        What the two hours before `as_of` brought, as far as it is known.
    """

    city: City
    as_of: datetime
    reports: list[ReceivedReport]
    commitments: Commitments
    arrivals_past_weeks_people: FloatArray
    recent: RecentPeriods


def read_snapshot(data: bytes) -> Snapshot:
    """
    Read a snapshot.

    Raises
    ------
    SnapshotWrong
        The file is not a snapshot; the text names the field and the bound.
    """
    try:
        parse_json(data)
        document = _SNAPSHOT.validate_json(data)
    except ValidationError as error:
        where, reason = first_problem(error, "snapshot")
        raise SnapshotWrong(f"{where}: {reason}") from error
    except ValueError as error:
        raise SnapshotWrong(f"snapshot: {error}") from error
    try:
        city = city_from_json(orjson.dumps(document.city))
    except CityWrong as error:
        raise SnapshotWrong(f"city.{error}") from error
    return Snapshot(
        city=city,
        as_of=document.as_of,
        reports=_received(document, city),
        commitments=_commitments(document, city),
        arrivals_past_weeks_people=_past_weeks(document, city),
        recent=_recent(document, city),
    )


def write_snapshot(snapshot: Snapshot) -> bytes:
    """Write a snapshot; of the commitments only the frozen and the suspended sites have a place in the file."""
    city = snapshot.city
    document: dict[str, Any] = {
        "city": orjson.Fragment(city_to_json(city)),
        "as_of": snapshot.as_of.isoformat(),
        "reports": [
            orjson.Fragment(_REPORT.dump_json(received.report, exclude_none=True)) for received in snapshot.reports
        ],
        "frozen_site_ids": sorted(snapshot.commitments.frozen_site_ids),
        "suspended_site_ids": sorted(snapshot.commitments.suspended_site_ids),
        "arrivals_past_weeks_people": {
            site.site_id: _null_where_unknown(weeks)
            for site, weeks in zip(city.sites, snapshot.arrivals_past_weeks_people, strict=True)
            if not np.isnan(weeks).all()
        },
    }
    recent_by_site = _recent_by_site(snapshot)
    if recent_by_site:
        document["recent_periods"] = recent_by_site
    return orjson.dumps(document)


def _received(document: _SnapshotDocument, city: City) -> list[ReceivedReport]:
    params = IntakeParams()
    for position, report in enumerate(document.reports):
        try:
            check_report(report, city, document.as_of, params)
        except ReportRefused as error:
            raise SnapshotWrong(f"reports.{position}.{error}") from error
    return [ReceivedReport(report, document.as_of) for report in document.reports]


def _commitments(document: _SnapshotDocument, city: City) -> Commitments:
    for name in ("frozen_site_ids", "suspended_site_ids"):
        _check_known(name, getattr(document, name), city)
    return Commitments(
        frozen_site_ids=frozenset(document.frozen_site_ids), suspended_site_ids=frozenset(document.suspended_site_ids)
    )


def _past_weeks(document: _SnapshotDocument, city: City) -> FloatArray:
    _check_known("arrivals_past_weeks_people", list(document.arrivals_past_weeks_people), city)
    people = np.full((city.num_sites, PAST_WEEKS, HORIZON_PERIODS), np.nan)
    for site_id, weeks in document.arrivals_past_weeks_people.items():
        if weeks:
            people[city.site_to_idx[site_id], : len(weeks)] = np.array(weeks, dtype=np.float64)
    return people


def _recent(document: _SnapshotDocument, city: City) -> RecentPeriods:
    _check_known("recent_periods", list(document.recent_periods), city)
    recent = RecentPeriods.unknown(city.num_sites)
    for site_id, told in document.recent_periods.items():
        site_idx = city.site_to_idx[site_id]
        for row, values in (
            (recent.arrivals_people[site_idx], told.arrivals_people),
            (recent.booked_people[site_idx], told.booked_people),
            *zip(recent.past_weeks_people[site_idx], told.past_weeks_people, strict=False),
        ):
            if values is not None:
                row[:] = np.array(values, dtype=np.float64)
    return recent


def _recent_by_site(snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    """The last two hours of the sites of which anything is known."""
    recent = snapshot.recent
    rows = zip(recent.arrivals_people, recent.booked_people, recent.past_weeks_people, strict=True)
    return {
        site.site_id: {
            "arrivals_people": _null_where_unknown(arrivals[None])[0],
            "booked_people": _null_where_unknown(booked[None])[0],
            "past_weeks_people": _null_where_unknown(weeks),
        }
        for site, (arrivals, booked, weeks) in zip(snapshot.city.sites, rows, strict=True)
        if not (np.isnan(arrivals).all() and np.isnan(booked).all() and np.isnan(weeks).all())
    }


def _check_known(name: str, site_ids: Sequence[str], city: City) -> None:
    for position, site_id in enumerate(site_ids):
        if site_id not in city.site_to_idx:
            where = f"{name}.{position}" if name.endswith("_site_ids") else name
            raise SnapshotWrong(f"{where}: must be a site of the city, got {site_id!r}")


def _null_where_unknown(weeks: FloatArray) -> list[list[float | None]]:
    return [[None if np.isnan(people) else people for people in week] for week in weeks.tolist()]
