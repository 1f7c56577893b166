"""
Whether a resource is well formed by FHIR R4 (hl7.org/fhir/R4), asked of the library fhir.resources (R4B, whose
Appointment, Slot, Schedule and Location are R4's). Only structure and types: its value sets are left to whoever reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ValidationError

from doseflow.errors import EnvironmentUnfit, FhirIssue, ResourceRefused

_OWN_WORDS = {"missing": "must be given", "extra_forbidden": "must have only elements that FHIR R4 knows"}
_PLAIN_TYPES = re.compile(r"\w+_type|list_\w+|too_\w+|string_\w+|\w+_parsing")
_MISSING = "appointments: FHIR needs the libraries of `pip install 'doseflow[fhir]'`; {} is missing"


def check_resource(resource: Mapping[str, Any]) -> None:
    """
    Check a resource as a whole.

    Raises
    ------
    ResourceRefused
        With an issue for each thing that is wrong.
    EnvironmentUnfit
        The library is not installed.
    """
    kind = resource.get("resourceType")
    model = _model_of(kind) if isinstance(kind, str) else None
    if model is None:
        raise ResourceRefused(FhirIssue("resourceType", "must be a resource of FHIR R4"))
    try:
        model.model_validate(resource)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise ResourceRefused(*(_issue(str(kind), one) for one in found[:20])) from None
    except (RecursionError, OverflowError, TypeError, AttributeError, KeyError) as error:
        # What the library itself trips over is no resource either.
        raise ResourceRefused(FhirIssue(str(kind), "must be well formed")) from error


def require_fhir_library() -> None:
    """
    See that resources can be checked, before a door is opened that needs it.

    Raises
    ------
    EnvironmentUnfit
    """
    _model_of("Appointment")


@lru_cache(256)
def _model_of(kind: str) -> type[BaseModel] | None:
    try:
        from fhir.resources.R4B import get_fhir_model_class
    except ImportError as error:
        raise EnvironmentUnfit(_MISSING.format(error.name)) from error
    if not re.fullmatch(r"[A-Z][A-Za-z]{1,60}", kind):
        return None
    try:
        found: type[BaseModel] = get_fhir_model_class(kind)
    except (LookupError, ImportError, AttributeError, ValueError):
        return None
    return found


def _issue(kind: str, error: Any) -> FhirIssue:
    path = kind
    # The name of an element that FHIR does not know is the sender's own word, and may be anything.
    is_foreign = error["type"] == "extra_forbidden"
    for part in error["loc"][: -1 if is_foreign else None]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    said, own = str(error["msg"]), _OWN_WORDS.get(error["type"])
    # Other messages of the library may repeat what it was given, which may be somebody's name.
    shown = f"must be as FHIR R4 says: {said[0].lower()}{said[1:]}" if _PLAIN_TYPES.fullmatch(error["type"]) else ""
    return FhirIssue(path[:300], (own or shown or "must be as FHIR R4 says")[:200])
