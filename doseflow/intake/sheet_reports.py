"""A table of a site's own making into site reports, row by row; what is wrong is named by its row and column."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Any

import orjson

from doseflow.errors import ReportMalformed, ReportRefused
from doseflow.intake.refusal_sentences import got
from doseflow.intake.sheet_columns import COLUMNS, SheetColumn, column_of
from doseflow.intake.sheet_rows import MAX_CELL_CHARACTERS, Row, read_rows

_TIME_FORMS = ("%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%d.%m.%Y %H:%M", "%Y年%m月%d日 %H:%M")
_EXCEL_EPOCH = datetime(1899, 12, 30)
_EXCEL_DAYS = (20_000, 80_000)
"""Numbers that can be a day of Excel's: the years 1954 to 2119."""


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row that can be sent on: its number in the file, the report as JSON, and by field the header it stood under."""

    number: int
    report: dict[str, Any]
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that cannot be used: its number in the file, the header of the cell at fault, and why."""

    number: int
    column: str
    reason: str
    raw: bytes

    def __str__(self) -> str:
        where = f', column "{self.column}"' if self.column else ""
        return f"row {self.number}{where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class SheetReading:
    """What a table holds; `unknown_headers` are columns that nobody reads."""

    rows: list[SheetRow]
    refused: list[RefusedRow]
    unknown_headers: list[str]


def read_sheet(data: bytes, name: str, zone: tzinfo) -> SheetReading:
    """
    Read a CSV or XLSX file.

    Parameters
    ----------
    name
        Of the file; it becomes the reports' source.
    zone
        In which a time without an offset is meant: the city's.

    Raises
    ------
    ReportRefused
        It is no such file, or lacks the columns of site and time; the text names the field `file`.
    """
    rows = read_rows(data)
    if not rows:
        raise ReportMalformed("file", "must hold a header and rows, got nothing")
    headers = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    columns = [column_of(header) for header in headers]
    _check_headers(headers, columns)
    reading = SheetReading([], [], [h for h, column in zip(headers, columns, strict=True) if h and column is None])
    for number, row in enumerate(rows[1:], start=2):
        if all(cell is None or not str(cell).strip() for cell in row):
            continue
        outcome = _row(number, row, headers, columns, zone)
        if isinstance(outcome, RefusedRow):
            reading.refused.append(outcome)
        else:
            outcome.report["source"] = f"upload:{name}"[:100]
            reading.rows.append(outcome)
    return reading


def _check_headers(headers: list[str], columns: list[SheetColumn | None]) -> None:
    paths = [column.path for column in columns if column is not None]
    for needed in COLUMNS[:2]:
        if needed.path not in paths:
            reason = f"must have a column {needed.english!r} or {needed.chinese!r}, got {got(headers)}"
            raise ReportMalformed("file", reason)
    repeated = next((path for path in paths if paths.count(path) > 1), None)
    if repeated is not None:
        raise ReportMalformed("file", f"must have one column for {repeated}, got more")


def _row(
    number: int, row: Row, headers: list[str], columns: list[SheetColumn | None], zone: tzinfo
) -> SheetRow | RefusedRow:
    report: dict[str, Any] = {}
    header_of: dict[str, str] = {}
    for header, column, cell in zip(headers, columns, row, strict=False):
        if column is None:
            continue
        try:
            value = _value(column, cell, zone)
        except ReportRefused as error:
            return RefusedRow(number, header, error.reason, _bytes_of(row))
        if value is not None:
            _put(report, column.path, value)
            header_of[column.path] = header
    for needed in COLUMNS[:2]:
        if needed.path not in report:
            header = headers[[column is not None and column.path == needed.path for column in columns].index(True)]
            return RefusedRow(number, header, "must be given", _bytes_of(row))
    fridge = report.pop("fridge", None)
    if fridge is not None:
        if "fridge_id" not in fridge:
            return RefusedRow(number, header_of["fridge.temperature_celsius"], "needs the fridge", _bytes_of(row))
        report["fridges"] = [fridge]
    return SheetRow(number, report, header_of)


def _value(column: SheetColumn, cell: Any, zone: tzinfo) -> Any:
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return None
    if isinstance(cell, str):
        cell = cell.strip()
        if cell.startswith("="):
            raise ReportMalformed(column.path, "must be a value, got a formula")
        if len(cell) > MAX_CELL_CHARACTERS:
            raise ReportMalformed(column.path, f"must have at most {MAX_CELL_CHARACTERS} characters")
    if column.kind == "moment":
        return _moment(column, cell, zone)
    if column.kind == "text":
        return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
    return _number(column, cell)


def _number(column: SheetColumn, cell: Any) -> float | int:
    text = cell.replace(",", ".") if isinstance(cell, str) else cell
    try:
        number = float(text)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(cell, bool) or not math.isfinite(number):
        raise ReportMalformed(column.path, f"must be a number, got {got(cell)}")
    if column.kind == "whole":
        if not number.is_integer():
            raise ReportMalformed(column.path, f"must be a whole number, got {got(cell)}")
        return int(number)
    return number


def _moment(column: SheetColumn, cell: Any, zone: tzinfo) -> str:
    moment = cell if isinstance(cell, datetime) else None
    if isinstance(cell, int | float) and not isinstance(cell, bool) and _EXCEL_DAYS[0] <= cell <= _EXCEL_DAYS[1]:
        moment = _EXCEL_EPOCH + timedelta(seconds=round(cell * 86_400))
    if isinstance(cell, str):
        moment = _parsed(cell)
    if moment is None:
        raise ReportMalformed(column.path, f"must be a date and time such as 2026-05-04 10:00, got {got(str(cell))}")
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=zone)).isoformat()


def _parsed(text: str) -> datetime | None:
    if ":" in text:
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass  # one of the other forms
    for form in _TIME_FORMS:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None


def _put(report: dict[str, Any], path: str, value: Any) -> None:
    *steps, last = path.split(".")
    for step in steps:
        report = report.setdefault(step, {})
    report[last] = value


def _bytes_of(row: Row) -> bytes:
    return orjson.dumps(["" if cell is None else str(cell)[:MAX_CELL_CHARACTERS] for cell in row])
