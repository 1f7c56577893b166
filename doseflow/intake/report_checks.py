"""What a well-formed report must also fulfil: its site, its times, the things it names, and sums that can be true."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence, Set
from datetime import datetime, timedelta

from doseflow.domain.city import City, Site
from doseflow.domain.report import NEW_FRIDGE_FIELDS, NEW_REPORT_FIELDS, SCHEMA_VERSION, ByStage, SiteReport
from doseflow.domain.roles import STAGES
from doseflow.errors import ReportMalformed, SiteUnknown, TimeImplausible
from doseflow.intake.params import IntakeParams

MAX_SEATS_OVERFULL_SHARE = 0.2
"""Seats that may be taken beyond the possible ones: chairs are carried in. Assumed."""
MAX_SHIFT_DAYS = 2
"""Days between the date of `valid_at` and the date on which a shift ends."""
EXPIRY_YEARS = (2000, 2199)
"""Years in which a lot may expire; anything else is a slip of the pen."""


def check_report(report: SiteReport, city: City, now: datetime, params: IntakeParams, *, suggest: bool = True) -> None:
    """
    Check a report against its city and the clock.

    Parameters
    ----------
    suggest
        Whether an unknown site is answered with the nearest known id; finding it takes time that grows with the city.

    Raises
    ------
    TimeImplausible, SiteUnknown, ReportMalformed
        The first problem, naming field and bound.
    """
    if report.schema_version < SCHEMA_VERSION:
        _check_version(report)
    site_idx = city.site_to_idx.get(report.site_id)
    if site_idx is None:
        raise SiteUnknown("site_id", _unknown_site(report.site_id, city, suggest))
    _check_valid_at(report.valid_at, now, params)
    site = city.sites[site_idx]
    known_fridges = city.fridges_by_id[site_idx].keys()
    if report.stations is not None:
        _check_stations(report.stations.open, report.stations.possible, site)
    if report.seats is not None and report.seats.taken is not None:
        possible = report.seats.possible if report.seats.possible is not None else site.seats_possible
        _check_seats(report.seats.taken, possible)
    if report.fridges is not None:
        _check_fridges(report, known_fridges)
    if report.lots is not None:
        _check_lots(report, city, known_fridges)
    if report.staff is not None:
        _check_shifts(report)
    if report.fatigue is not None:
        _check_given_once("fatigue", "role", [one.role for one in report.fatigue])
    if report.surroundings is not None and report.surroundings.vans:
        _check_vans(report, city)


def nearest_site_id(site_id: str, city: City) -> str | None:
    """The known `site_id` that reads most like this one, None if none is close."""
    close = difflib.get_close_matches(site_id, city.site_to_idx, n=1)
    return close[0] if close else None


def _unknown_site(site_id: str, city: City, suggest: bool) -> str:
    reason = f"must be one of the {city.num_sites} sites of {city.name}, got {site_id!r}"
    nearest = nearest_site_id(site_id, city) if suggest else None
    return reason if nearest is None else f"{reason}; did you mean {nearest!r}?"


def _check_version(report: SiteReport) -> None:
    """A field that its own version does not have is a slip of the sender, who should hear of it."""
    told = [name for name in NEW_REPORT_FIELDS if getattr(report, name) is not None]
    told += [
        f"fridges.{position}.{name}"
        for position, fridge in enumerate(report.fridges or ())
        for name in NEW_FRIDGE_FIELDS
        if getattr(fridge, name) is not None
    ]
    if told:
        raise ReportMalformed(told[0], f"is a field of schema version 2, got schema_version {report.schema_version}")


def _check_valid_at(valid_at: datetime, now: datetime, params: IntakeParams) -> None:
    age = now - valid_at
    if age < timedelta(minutes=-params.max_future_minutes):
        bound = f"must be at most {params.max_future_minutes:g} minutes ahead of {_iso(now)}"
        raise TimeImplausible("valid_at", f"{bound}, got {_iso(valid_at)}")
    if age > timedelta(hours=params.max_age_hours):
        bound = f"must be at most {params.max_age_hours:g} hours before {_iso(now)}"
        raise TimeImplausible("valid_at", f"{bound}, got {_iso(valid_at)}")


def _check_stations(opened: ByStage | None, possible: ByStage | None, site: Site) -> None:
    if opened is None:
        return
    for stage, nominal in zip(STAGES, site.stations_possible, strict=True):
        num_open = getattr(opened, stage)
        reported = getattr(possible, stage) if possible is not None else None
        num_possible = nominal if reported is None else reported
        if num_open is not None and num_open > num_possible:
            reason = f"must be at most the {num_possible} possible stations, got {num_open}"
            raise ReportMalformed(f"stations.open.{stage}", reason)


def _check_seats(taken: int, possible: int) -> None:
    bound = int(possible * (1 + MAX_SEATS_OVERFULL_SHARE) + 1e-9)
    if taken > bound:
        reason = (
            f"must be at most {bound}, the {possible} possible seats and {MAX_SEATS_OVERFULL_SHARE:.0%}, got {taken}"
        )
        raise ReportMalformed("seats.taken", reason)


def _check_fridges(report: SiteReport, known: Set[str]) -> None:
    ids = [fridge.fridge_id for fridge in report.fridges or ()]
    # A site whose fridges the city file does not list may report any.
    if known and not known >= set(ids):
        position = next(idx for idx, one in enumerate(ids) if one not in known)
        _refuse_fridge(f"fridges.{position}.fridge_id", ids[position], known)
    _check_given_once("fridges", "fridge_id", ids)


def _check_lots(report: SiteReport, city: City, known_fridges: Set[str]) -> None:
    reported = {fridge.fridge_id for fridge in report.fridges or ()}
    for position, lot in enumerate(report.lots or ()):
        if lot.product_id not in city.product_to_idx:
            reason = f"must be one of {', '.join(city.product_to_idx)}, got {lot.product_id!r}"
            raise ReportMalformed(f"lots.{position}.product_id", reason)
        if lot.fridge_id not in known_fridges and lot.fridge_id not in reported:
            _refuse_fridge(f"lots.{position}.fridge_id", lot.fridge_id, [*known_fridges, *reported])
        if lot.expires_at is not None and not EXPIRY_YEARS[0] <= lot.expires_at.year <= EXPIRY_YEARS[1]:
            reason = f"must lie in the years {EXPIRY_YEARS[0]}..{EXPIRY_YEARS[1]}, got {_iso(lot.expires_at)}"
            raise ReportMalformed(f"lots.{position}.expires_at", reason)


def _check_shifts(report: SiteReport) -> None:
    day = report.valid_at.toordinal()
    for position, group in enumerate(report.staff or ()):
        if not -MAX_SHIFT_DAYS <= group.shift_ends_at.toordinal() - day <= MAX_SHIFT_DAYS:
            reason = f"must lie within {MAX_SHIFT_DAYS} days of valid_at, got {_iso(group.shift_ends_at)}"
            raise ReportMalformed(f"staff.{position}.shift_ends_at", reason)


def _check_vans(report: SiteReport, city: City) -> None:
    ids = [sighting.van_id for sighting in report.surroundings.vans] if report.surroundings else []
    for position, van_id in enumerate(ids):
        if van_id not in city.van_to_idx:
            reason = f"must be one of the {len(city.vans)} vans of {city.name}, got {van_id!r}"
            raise ReportMalformed(f"surroundings.vans.{position}.van_id", reason)
    _check_given_once("surroundings.vans", "van_id", ids)


def _check_given_once(field: str, key: str, values: Sequence[str]) -> None:
    if len(set(values)) == len(values):
        return
    position = next(idx for idx, value in enumerate(values) if value in values[:idx])
    raise ReportMalformed(f"{field}.{position}.{key}", f"must be given once, got {str(values[position])!r} again")


def _refuse_fridge(field: str, fridge_id: str, known: Iterable[str]) -> None:
    listed = ", ".join(sorted(set(known))) or "none"
    raise ReportMalformed(field, f"must be a fridge of this site ({listed}), got {fridge_id!r}")


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
