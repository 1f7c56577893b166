"""Files of cold-chain loggers: transmissions of WHO PQS E006/DS01, or bare records, packed by gzip or not."""

from __future__ import annotations

import re

from doseflow.domain.appointment import UnknownCode
from doseflow.errors import ReportRefused
from doseflow.intake.cold_chain_records import LoggerRecord, read_cold_chain
from doseflow.intake.gzip_body import unpacked
from doseflow.interfaces.file_reading import FileReading
from doseflow.interfaces.reading_context import ReadingContext

MAX_BYTES = 64 * 2**20
SHOWN_RECORDS = 20
"""Records told one by one; a day of a logger has a hundred."""
_ELEMENT = re.compile(rb'"(?:ABST|TVC|TAMB|TFRZ|ALRM|DORV|HOLD|CMPR|LSER|ESER)"\s*:')


def is_cold_chain(content: bytes) -> bool:
    """Whether a file is JSON with elements of the standard, or packed and says so when unpacked."""
    try:
        body = unpacked(content, MAX_BYTES)
    except ReportRefused:
        return False
    return body[:200].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in {b"{", b"["} and _ELEMENT.search(body[:65536]) is not None


def read_cold_chain_file(content: bytes, context: ReadingContext) -> FileReading:  # noqa: ARG001 - one form of readers
    """Read a transmission."""
    try:
        reading = read_cold_chain(unpacked(content, MAX_BYTES), "the logger")
    except ReportRefused as error:
        return FileReading("cold-chain records (WHO PQS E006/DS01)", problems=[str(error)])
    records = reading.records
    codes = sorted({code for record in records for code in record.values})
    understood = [f"{len(records)} records with {', '.join(codes)}"] if records else []
    kept = [_record(record) for record in records[:SHOWN_RECORDS]]
    if len(records) > SHOWN_RECORDS:
        kept.append(f"and {len(records) - SHOWN_RECORDS} records more")
    unknown = [UnknownCode(one.system, one.code, one.text) for one in reading.unknown]
    problems = [f"record {one.position}: {one.error}" for one in reading.refused]
    return FileReading("cold-chain records (WHO PQS E006/DS01)", understood, kept, unknown, problems)


def _record(record: LoggerRecord) -> str:
    celsius = record.fridge_celsius if record.fridge_celsius is not None else record.freezer_celsius
    told = "no temperature" if celsius is None else f"{celsius:g} °C"
    name = record.logger_ids[0] if record.logger_ids else "a logger that names itself nowhere"
    return f"logger {name}: {record.at.isoformat()}, {told}"
