"""The example files of other systems: copies packaged with the tests, and the whole set where it lies beside us."""

from __future__ import annotations

from pathlib import Path

PACKAGED = Path(__file__).parents[1] / "data" / "interfaces"
BESIDE = [parent / "shared" / "data" / "interfaces" for parent in Path(__file__).parents]


def example_files(pattern: str) -> list[Path]:
    """Files by a pattern below the folders of examples."""
    folders = [PACKAGED, *(folder for folder in BESIDE if folder.is_dir())]
    return sorted(path for folder in folders for path in folder.glob(pattern))


HL7_FILES = example_files("hl7v2/*.hl7")
APPOINTMENT_FILES = example_files("fhir_r4/Appointment-*.json")
NDJSON_FILES = example_files("**/*.ndjson")
COLD_CHAIN_FILES = example_files("cold_chain/*[!a].json")
ALL_FILES = (
    example_files("**/*.hl7")
    + example_files("fhir_r4/*.json")
    + example_files("**/rite_aid_nj/*.json")
    + NDJSON_FILES
    + COLD_CHAIN_FILES
)
