"""The site report as JSON Schema, one for each version that is accepted."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from doseflow.domain.report import NEW_FRIDGE_FIELDS, NEW_REPORT_FIELDS, SCHEMA_VERSION, SiteReport

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def report_schema(version: int) -> dict[str, Any]:
    """JSON Schema of one report; a city's own sites, fridges and clock are checked besides."""
    schema = TypeAdapter(SiteReport).json_schema()
    if version < SCHEMA_VERSION:
        _leave_out(schema, NEW_REPORT_FIELDS)
        _leave_out(schema["$defs"]["FridgeReading"], NEW_FRIDGE_FIELDS)
    number = schema["properties"]["schema_version"]
    number.clear()
    # The newest is meant where a report names none.
    number |= {"const": version, "default": version} if version == SCHEMA_VERSION else {"const": version}
    if version < SCHEMA_VERSION:
        schema["required"] = [*schema["required"], "schema_version"]
    return {"$schema": DIALECT, "title": f"doseflow site report, version {version}"} | {
        key: value for key, value in schema.items() if key != "title"
    }


def _leave_out(schema: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        del schema["properties"][name]
