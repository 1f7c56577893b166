"""Tables that a site fills in, CSV or XLSX, with headers in English or Chinese."""

from __future__ import annotations

from doseflow.domain.appointment import UnknownCode
from doseflow.errors import EnvironmentUnfit, ReportRefused
from doseflow.intake.sheet_columns import column_of
from doseflow.intake.sheet_reports import read_sheet
from doseflow.interfaces.file_reading import FileReading
from doseflow.interfaces.reading_context import ReadingContext

XLSX = b"PK\x03\x04"
HEADER_SYSTEM = "header"
_ENCODINGS = ("utf-8-sig", "gb18030")


def is_sheet(content: bytes) -> bool:
    """Whether a file is a workbook, or text whose first line has a header that is known."""
    if content.startswith(XLSX):
        return True
    first = content.partition(b"\n")[0][:4096]
    for encoding in _ENCODINGS:
        try:
            text = first.decode(encoding)
        except UnicodeDecodeError:
            continue
        for mark in ",;\t":
            if any(column_of(cell.strip().strip('"')) for cell in text.split(mark)):
                return True
    return False


def read_sheet_file(content: bytes, context: ReadingContext) -> FileReading:
    """Read a table."""
    try:
        reading = read_sheet(content, "table", context.zone)
    except (ReportRefused, EnvironmentUnfit) as error:
        return FileReading("table of site reports", problems=[str(error)])
    kept = [f"row {row.number}: {row.report.get('site_id')} at {row.report.get('valid_at')}" for row in reading.rows]
    unknown = [UnknownCode(HEADER_SYSTEM, header, "") for header in reading.unknown_headers]
    understood = [f"{len(reading.rows)} rows"] if reading.rows else []
    return FileReading("table of site reports", understood, kept, unknown, [str(one) for one in reading.refused])
