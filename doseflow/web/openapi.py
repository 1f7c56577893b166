"""The OpenAPI document: what the routes say, and the schemas of bodies that are read as bytes."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from doseflow import __version__
from doseflow.domain.orders import OrderReceipt
from doseflow.domain.report import SiteReport

REF_TEMPLATE = "#/components/schemas/{model}"
DESCRIPTION = (
    "Reports in, orders out. Moments are ISO 8601 with an offset; null is unknown, never 0; quantities carry their "
    "unit in their name. Every error is a problem document (RFC 9457). The live stream is /api/v1/events."
)
PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "RFC 9457. `field` and `reason` name the field at fault; a list of reports adds `refused`.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "field": {"type": "string"},
        "reason": {"type": "string"},
        "accepted": {"type": "integer"},
        "refused": {"type": "array", "items": {"type": "object"}},
        "reference": {"type": "string"},
    },
}


def body_of(schema_name: str, *, or_list: bool = False) -> dict[str, Any]:
    """`openapi_extra` of a route that reads its body as bytes."""
    one = {"$ref": REF_TEMPLATE.format(model=schema_name)}
    schema = {"oneOf": [one, {"type": "array", "items": one, "minItems": 1}]} if or_list else one
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The document, made once."""
    if app.openapi_schema is None:
        document = get_openapi(title="doseflow", version=__version__, description=DESCRIPTION, routes=app.routes)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas["Problem"] = PROBLEM_SCHEMA
        for noun in (SiteReport, OrderReceipt):
            _add_schema(schemas, noun)
        app.openapi_schema = document
    return app.openapi_schema


def _add_schema(schemas: dict[str, Any], noun: type) -> None:
    schema = TypeAdapter(noun).json_schema(ref_template=REF_TEMPLATE)
    for name, definition in schema.pop("$defs", {}).items():
        schemas.setdefault(name, definition)
    schemas.setdefault(noun.__name__, schema)
