"""The table to fill in, as CSV or XLSX, in either language, with one row as an example."""

from __future__ import annotations

import csv
import io

from doseflow.errors import EnvironmentUnfit
from doseflow.intake.sheet_columns import COLUMNS, Language, header_of


def csv_template(language: Language) -> bytes:
    """UTF-8 with a byte-order mark, without which Excel takes it for another encoding."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(_rows(language))
    return out.getvalue().encode("utf-8-sig")


def xlsx_template(language: Language) -> bytes:
    """
    One sheet.

    Raises
    ------
    EnvironmentUnfit
        The library is not installed.
    """
    try:
        from openpyxl import Workbook  # type: ignore[import-untyped]
    except ImportError as error:
        raise EnvironmentUnfit("XLSX needs the library of `pip install 'doseflow[sheets]'`; CSV does not") from error
    book = Workbook()
    for row in _rows(language):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _rows(language: Language) -> list[list[str]]:
    return [[header_of(one, language) for one in COLUMNS], [one.example for one in COLUMNS]]
