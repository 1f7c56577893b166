"""The rows of a history file, checked one by one and kept as columns."""

from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from doseflow.errors import HistoryWrong
from doseflow.intake.history_bounds import LARGEST_VALUE, LONGEST_ID, MOST_ROWS, MOST_SERIES
from doseflow.intake.timestamp_form import TimestampForm, read_timestamp

REQUIRED = ("series_id", "timestamp", "value")
PLACES = {"latitude": 90.0, "longitude": 180.0}
GZIP_MAGIC = b"\x1f\x8b"
ROWS_BETWEEN_NEWS = 50_000
MOST_BYTES_A_ROW = 400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class HistoryRows:
    """Rows as columns, in the order of the file."""

    covariate_names: tuple[str, ...]
    series_idx: array[int] = field(default_factory=lambda: array("l"))
    seconds: array[float] = field(default_factory=lambda: array("d"))
    """Since 1970 in UTC."""
    values: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("l"))
    places: dict[str, array[float]] = field(default_factory=dict)
    covariates: dict[str, array[float]] = field(default_factory=dict)
    series_ids: dict[str, int] = field(default_factory=dict)
    forms: dict[str, tuple[float, TimestampForm]] = field(default_factory=dict)
    """By the timestamp's text: seconds since 1970 and the form."""
    texts: list[str] = field(default_factory=list)
    """Text of each row's timestamp."""


def read_rows(data: bytes, *, is_gzip: bool, advance: Callable[[int], None] = lambda _: None) -> HistoryRows:
    """
    Read the bytes of a CSV file, gzipped or not; `advance` hears of rows read.

    Raises
    ------
    HistoryWrong
    """
    reader = csv.reader(_lines_of(data, is_gzip=is_gzip), strict=True)
    header = _header_of(reader)
    rows = HistoryRows(tuple(name for name in header if name not in (*REQUIRED, *PLACES)))
    for names, columns in ((PLACES, rows.places), (rows.covariate_names, rows.covariates)):
        columns.update({name: array("d") for name in names if name in header})
    places = {name: idx for idx, name in enumerate(header)}
    for count, (line, cells) in enumerate(_records(reader, len(header)), start=1):
        if count > MOST_ROWS:
            raise HistoryWrong(f"--history: at most {MOST_ROWS:,} rows can be taken")
        _take_row(rows, line, cells, places)
        if count % ROWS_BETWEEN_NEWS == 0:
            advance(ROWS_BETWEEN_NEWS)
    if not rows.values:
        raise HistoryWrong("--history: the file has a header and no rows, at least one series is needed")
    return rows


def _lines_of(data: bytes, *, is_gzip: bool) -> Iterable[str]:
    if not data:
        raise HistoryWrong("--history: the file is empty")
    if data.startswith(GZIP_MAGIC):
        data = _unzipped(data)
    elif is_gzip:
        raise HistoryWrong("--history: the name ends in .gz, but the file is not gzip")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise HistoryWrong(f"--history, line {line}: must be UTF-8, byte {data[error.start]:#04x} is not") from error
    if not text.strip():
        raise HistoryWrong("--history: the file is empty")
    return io.StringIO(text, newline="")


def _unzipped(data: bytes) -> bytes:
    most = MOST_ROWS * MOST_BYTES_A_ROW
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            plain = stream.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise HistoryWrong(f"--history: the file is broken gzip ({error})") from error
    if len(plain) > most:
        raise HistoryWrong(f"--history: at most {most // 10**6:,} megabytes can be taken, unzipped")
    return plain


def _header_of(reader: Iterator[list[str]]) -> list[str]:
    try:
        header = [name.strip() for name in next(reader)]
    except (StopIteration, csv.Error) as error:
        raise HistoryWrong("--history, line 1: must be a header that names the columns") from error
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        found = ", ".join(repr(name) for name in header[:8])
        raise HistoryWrong(f"--history, line 1: the column {missing[0]} is missing, found {found}")
    for name in header:
        if not name:
            raise HistoryWrong("--history, line 1: a column has no name")
        if header.count(name) > 1:
            raise HistoryWrong(f"--history, line 1: the column {name} is there twice")
    for here, other in (("latitude", "longitude"), ("longitude", "latitude")):
        if here in header and other not in header:
            raise HistoryWrong(f"--history, line 1: the column {here} is given without {other}")
    return header


def _records(reader: Iterator[list[str]], width: int) -> Iterator[tuple[int, list[str]]]:
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise HistoryWrong(f"--history, line {reader.line_num}: cannot be read as CSV ({error})") from error  # type: ignore[attr-defined]
        line = reader.line_num  # type: ignore[attr-defined]
        if not cells:
            continue
        if len(cells) != width:
            raise HistoryWrong(f"--history, line {line}: must have {width} fields as the header, got {len(cells)}")
        yield line, cells


def _take_row(rows: HistoryRows, line: int, cells: list[str], places: dict[str, int]) -> None:
    text = cells[places["timestamp"]].strip()
    known = rows.forms.get(text)
    if known is None:
        known = rows.forms[text] = _moment_of(text, line)
    series_id = cells[places["series_id"]].strip()
    idx = rows.series_ids.get(series_id)
    if idx is None:
        idx = rows.series_ids[series_id] = _new_series(rows, series_id, line)
    rows.series_idx.append(idx)
    rows.seconds.append(known[0])
    rows.texts.append(text)
    rows.lines.append(line)
    rows.values.append(_number(cells[places["value"]], "value", line, LARGEST_VALUE))
    for name, column in rows.places.items():
        column.append(_number(cells[places[name]], name, line, PLACES[name]))
    for name, column in rows.covariates.items():
        column.append(_number(cells[places[name]], name, line, LARGEST_VALUE))


def _new_series(rows: HistoryRows, series_id: str, line: int) -> int:
    if not 1 <= len(series_id) <= LONGEST_ID:
        raise HistoryWrong(
            f"--history, line {line}: series_id must have 1 to {LONGEST_ID} characters, got {len(series_id)}"
        )
    if len(rows.series_ids) >= MOST_SERIES:
        raise HistoryWrong(f"--history, line {line}: at most {MOST_SERIES:,} series can be taken")
    return len(rows.series_ids)


def _moment_of(text: str, line: int) -> tuple[float, TimestampForm]:
    try:
        moment, form = read_timestamp(text)
    except ValueError as error:
        reason = str(error) if str(error).startswith(("must", "its", "is")) else f"is no moment ({error})"
        raise HistoryWrong(f"--history, line {line}: timestamp {reason}, got {text[:60]!r}") from error
    return (moment - _EPOCH) / timedelta(seconds=1), form


def _number(text: str, name: str, line: int, most: float) -> float:
    """The number of a cell; NaN where the cell is empty."""
    text = text.strip()
    if not text:
        return math.nan
    try:
        number = float(text)
    except ValueError:
        number = None
    if number is None or "_" in text:
        raise HistoryWrong(f"--history, line {line}: {name} must be a number or empty, got {text[:60]!r}")
    if not math.isfinite(number):
        raise HistoryWrong(f"--history, line {line}: {name} must be finite or empty, got {text[:60]!r}")
    if abs(number) > most:
        raise HistoryWrong(f"--history, line {line}: {name} must lie in {-most:g}..{most:g}, got {text[:60]}")
    return number
