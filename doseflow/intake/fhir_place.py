"""FHIR R4 references to a Location, and Location resources, as places (hl7.org/fhir/R4/location.html)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from doseflow.domain.appointment import Place

_REFERENCE = re.compile(r"(?:.*/)?(Location/[A-Za-z0-9\-.]{1,64})(?:/_history/.*)?")


def place_of_location(location: Mapping[str, Any]) -> Place:
    """Identifiers, id and position of a Location; its name and address are left out."""
    keys = [_identifier_key(one) for one in _dicts(location.get("identifier"))]
    if isinstance(location.get("id"), str):
        keys.append(f"Location/{location['id']}")
    position = location.get("position")
    latitude = longitude = None
    if isinstance(position, Mapping):
        latitude, longitude = _degrees(position.get("latitude"), 90), _degrees(position.get("longitude"), 180)
    return Place(tuple(dict.fromkeys(key[:200] for key in keys if key)), latitude, longitude)


def place_of_reference(reference: Mapping[str, Any], known: Mapping[str, Place]) -> Place | None:
    """
    The place that a Reference means, None where it means no Location.

    Parameters
    ----------
    known
        Places by what they may be called: `Location/id`, a `fullUrl` or `#contained`.
    """
    called = reference.get("reference")
    if isinstance(called, str) and called in known:
        return known[called]
    keys = []
    found = _REFERENCE.fullmatch(called) if isinstance(called, str) else None
    if found:
        keys.append(found[1])
    if reference.get("type") == "Location" or found:
        keys += [_identifier_key(one) for one in _dicts([reference.get("identifier")])]
    place = known.get(found[1]) if found else None
    keys = [key[:200] for key in keys if key]
    if place is not None:
        return Place(tuple(dict.fromkeys((*place.keys, *keys))), place.latitude, place.longitude)
    return Place(tuple(keys)) if keys else None


def _identifier_key(identifier: Mapping[str, Any]) -> str:
    system, value = identifier.get("system"), identifier.get("value")
    if not isinstance(value, str) or not value.strip():
        return ""
    return f"{system}|{value.strip()}" if isinstance(system, str) else value.strip()


def _degrees(value: Any, most: int) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value) if abs(value) <= most else None


def _dicts(values: Any) -> list[Mapping[str, Any]]:
    return [one for one in values if isinstance(one, Mapping)] if isinstance(values, list) else []
