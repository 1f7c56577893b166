"""The readers of files, asked in order which of them a file is for; a further format adds its line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from doseflow.interfaces.cold_chain_file import is_cold_chain, read_cold_chain_file
from doseflow.interfaces.fhir_file import is_fhir, read_fhir_file
from doseflow.interfaces.file_reading import FileReading
from doseflow.interfaces.hl7_file import is_hl7, read_hl7_file
from doseflow.interfaces.reading_context import ReadingContext
from doseflow.interfaces.sheet_file import is_sheet, read_sheet_file
from doseflow.interfaces.smart_file import is_smart, read_smart_file


@dataclass(frozen=True, slots=True)
class FileReader:
    """A format: whether some bytes are of it, by their content alone, and what they say."""

    is_mine: Callable[[bytes], bool]
    read: Callable[[bytes, ReadingContext], FileReading]


READERS = (
    FileReader(is_hl7, read_hl7_file),
    FileReader(is_smart, read_smart_file),
    FileReader(is_fhir, read_fhir_file),
    FileReader(is_cold_chain, read_cold_chain_file),
    FileReader(is_sheet, read_sheet_file),
)


def read_file(content: bytes, context: ReadingContext) -> FileReading | None:
    """What a file says, None where it is of no format that is known here."""
    reader = next((one for one in READERS if one.is_mine(content)), None)
    return None if reader is None else reader.read(content, context)
