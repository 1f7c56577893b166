"""Timestamps as text: read to a moment and a form, and written back in that form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

_PATTERN = re.compile(
    r"(\d{4}-\d{2}-\d{2})"
    r"(?:([T ])(\d{2}:\d{2})(?:(:\d{2})(\.\d{1,6})?)?(?:\s?(Z|[+-]\d{2}(?::?\d{2})?))?)?"
)


@dataclass(frozen=True, slots=True)
class TimestampForm:
    """
    How a moment was written.

    Parameters
    ----------
    separator
        Between date and time; empty for a date alone.
    has_seconds
        Whether seconds are written.
    num_decimals
        Digits after the second.
    zone
        As written: empty, `Z`, `+01:00`, `+0100` or `+01`.
    """

    separator: str
    has_seconds: bool
    num_decimals: int
    zone: str

    @property
    def offset(self) -> timedelta | None:
        """Of the zone from UTC; None for a time without zone."""
        return offset_of(self.zone)

    def write(self, moment: datetime) -> str:
        """An aware moment in this form; a naive form takes it as UTC."""
        local = moment.astimezone(timezone(self.offset or timedelta()))
        if not self.separator:
            return f"{local:%Y-%m-%d}"
        text = f"{local:%Y-%m-%d}{self.separator}{local:%H:%M}"
        if self.has_seconds:
            text += f"{local:%S}".rjust(3, ":")
        if self.num_decimals:
            text += "." + f"{local.microsecond:06d}"[: self.num_decimals]
        return text + self.zone


def offset_of(zone: str) -> timedelta | None:
    """Offset from UTC of a zone as written; None for none."""
    if not zone:
        return None
    if zone == "Z":
        return timedelta()
    digits = zone[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -offset if zone[0] == "-" else offset


def read_timestamp(text: str) -> tuple[datetime, TimestampForm]:
    """
    Read an ISO 8601 date, or date and time with or without zone; a moment without zone is taken as UTC.

    Raises
    ------
    ValueError
    """
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise ValueError("must be an ISO 8601 date or date and time")
    date, separator, minutes, seconds, decimals, zone = match.groups()
    form = TimestampForm(separator or "", seconds is not None, len(decimals or ".") - 1, zone or "")
    fraction = decimals.ljust(7, "0") if decimals else ""
    local = datetime.fromisoformat(f"{date}T{minutes or '00:00'}{seconds or ''}{fraction}")
    offset = form.offset or timedelta()
    if abs(offset) >= timedelta(days=1):
        raise ValueError("its zone must be less than a day from UTC")
    try:
        return (local - offset).replace(tzinfo=UTC), form
    except OverflowError as error:
        raise ValueError("is out of the years 1 to 9999") from error
