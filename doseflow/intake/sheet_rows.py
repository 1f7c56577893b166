"""
Rows of cells out of a CSV or an XLSX file, within limits.

Excel writes CSV in the encoding of its country (GBK in China) and separates by semicolons where the comma is the
decimal sign; UTF-8 with and without byte-order mark, GBK, commas, semicolons and tabs are read. An XLSX file is a ZIP
archive that may unpack to anything, so its unpacked size is looked at first; formulas are not computed, and refused.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from itertools import islice
from typing import Any

from doseflow.errors import EnvironmentUnfit, ReportMalformed, ReportTooLarge

MAX_BYTES = 5_000_000
MAX_UNPACKED_BYTES = 50_000_000
MAX_ROWS = 5_000
MAX_COLUMNS = 100
MAX_CELL_CHARACTERS = 1_000
ZIP_MAGIC = b"PK\x03\x04"
_ENCODINGS = ("utf-8-sig", "gb18030")
_DELIMITERS = ",;\t"

Row = list[Any]


def read_rows(data: bytes) -> list[Row]:
    """
    Cells row by row, the header first; texts of CSV, values of XLSX.

    Raises
    ------
    ReportRefused
        It is no such file, or larger than the limits.
    EnvironmentUnfit
        It is XLSX and the library is not installed.
    """
    if len(data) > MAX_BYTES:
        raise ReportTooLarge("file", f"must have at most {MAX_BYTES} bytes, got {len(data)}")
    rows = list(islice(_xlsx_rows(data) if data.startswith(ZIP_MAGIC) else _csv_rows(data), MAX_ROWS + 2))
    if len(rows) > MAX_ROWS + 1:
        raise ReportTooLarge("file", f"must have at most {MAX_ROWS} rows under its header")
    return rows


def _csv_rows(data: bytes) -> Iterator[Row]:
    text = _decoded(data)
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True):
            yield list(row[:MAX_COLUMNS])
    except csv.Error as error:
        raise ReportMalformed("file", f"must be CSV: {error}") from error


def _decoded(data: bytes) -> str:
    for encoding in _ENCODINGS:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\x00" not in text:
            return text
    raise ReportMalformed("file", "must be an XLSX file, or CSV in UTF-8 or GBK")


def _xlsx_rows(data: bytes) -> Iterator[Row]:
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ImportError as error:
        raise EnvironmentUnfit("XLSX needs the library of `pip install 'doseflow[sheets]'`; CSV does not") from error
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            num_bytes = sum(one.file_size for one in archive.infolist())
        if num_bytes > MAX_UNPACKED_BYTES:
            raise ReportTooLarge("file", f"must unpack to at most {MAX_UNPACKED_BYTES} bytes, got {num_bytes}")
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=False, keep_links=False)
        try:
            sheet: Any = book.worksheets[0]
            sheet.reset_dimensions()
            for row in sheet.iter_rows(max_col=MAX_COLUMNS, values_only=True):
                yield list(row)
        finally:
            book.close()
    except ReportTooLarge:
        raise
    except Exception as error:
        raise ReportMalformed("file", f"must be a whole XLSX file: {type(error).__name__}") from error
