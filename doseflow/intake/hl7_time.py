"""HL7 v2 time stamps: `YYYY[MM[DD[HH[MM[SS[.S[S[S[S]]]]]]]]][+/-ZZZZ]` (HL7 v2.8, chapter 2.A.22, DTM)."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone, tzinfo

_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(?:\.(\d{1,6}))?([+-]\d{4})?", re.ASCII)
_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)", re.ASCII)
_OFFSET = re.compile(r"[+-]\d{4}\Z", re.ASCII)


def moment_of(stamp: str, zone: tzinfo) -> datetime | None:
    """
    The moment of a stamp to the minute or finer, None for anything else.

    Parameters
    ----------
    zone
        What a stamp without an offset means: local time there; of an hour that comes twice the first.
    """
    found = _STAMP.fullmatch(stamp.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, offset = found.groups()
    microsecond = int((fraction or "0").ljust(6, "0"))
    try:
        there = offset_of(offset) if offset else zone
        local = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0), microsecond, there)
        local.utctimetuple()
    except (ValueError, OverflowError):
        return None
    return local


def day_of(stamp: str) -> date | None:
    """The day that a stamp begins with."""
    found = _DAY.match(stamp.strip())
    try:
        return date(*(int(part) for part in found.groups())) if found else None
    except ValueError:
        return None


def zone_of(header_stamp: str, default: tzinfo) -> tzinfo:
    """The zone of stamps without an offset: that of MSH-7, which counts for its whole message, else the default."""
    found = _OFFSET.search(header_stamp.strip())
    try:
        return offset_of(found[0]) if found else default
    except ValueError:
        return default


def offset_of(text: str) -> timezone:
    """An offset such as `+0215`."""
    minutes = int(text[1:3]) * 60 + int(text[3:5])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))
