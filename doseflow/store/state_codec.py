"""
CityState <-> compact bytes, and back equal, so that a kept cycle can be planned again to the same plan.

Layout: four bytes with the length of the header; the header, JSON; then the arrays one after the other, little-endian.
The city is not in it: it is kept once, under its digest. An array is stored as small integers only where every value
comes back the same; that shrinks a state to a third, in a third of the time that compression takes.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from doseflow.domain.city import City
from doseflow.domain.orders import Commitments
from doseflow.domain.playbooks import NO_INCIDENTS, Incidents
from doseflow.domain.recent_periods import RecentPeriods
from doseflow.domain.state import CityState, FridgeTable, LotTable, StaffTable, VanTable, unknown_of_loggers
from doseflow.store.decision_codec import decision_from_dict
from doseflow.store.json_bytes import json_bytes

CODEC = "arrays/3"
"""Name of this layout, kept beside the bytes."""
READABLE_CODECS = ("arrays/1", "arrays/2", CODEC)
"""
Layouts that can be read. The first one did not hold the last two hours, the second one not what loggers tell of
fridges; both are read as UNKNOWN.
"""

_TABLES: dict[str, type[Any]] = {"staff": StaffTable, "lots": LotTable, "fridges": FridgeTable, "vans": VanTable}
_RECENT = "recent"
_FRIDGES = "fridges"
_PARTS: dict[str, type[Any]] = _TABLES | {_RECENT: RecentPeriods}
_DECISIONS = ("acknowledged", "under_way", "sent", "refused", "pinned", "overridden")
_SITE_SETS = ("frozen_site_ids", "suspended_site_ids")
_LENGTH_BYTES = 4
_MAX_SPAN = 2**32 - 2
_MAX_EXACT = 2**53
SECONDS_PER_MINUTE = 60


class _Column(NamedTuple):
    """How one array is written: which values, as which type, and how they are turned back."""

    path: str
    dtype: str
    stored_dtype: str
    shape: list[int]
    parts: int
    """Parts of 1 that the stored integers count; 0 where the values are stored as they are."""
    base: int
    """What stored integers are counted from; where the values are floats, 0 is NaN and 1 is the base."""


def encode_state(state: CityState) -> bytes:
    """The state as bytes, without its city."""
    columns: list[_Column] = []
    blocks: list[bytes] = []
    values: dict[str, Any] = {}
    for path, value in _leaves(state):
        if isinstance(value, np.ndarray):
            stored, parts, base = _packed(value)
            columns.append(_Column(path, value.dtype.str, stored.dtype.str, list(value.shape), parts, base))
            blocks.append(stored.tobytes())
        else:
            values[path] = value
    header = json_bytes({"arrays": [list(column) for column in columns], "values": values})
    length = len(header).to_bytes(_LENGTH_BYTES, "little")
    return b"".join((length, header, *blocks))


def decode_state(data: bytes, city: City) -> CityState:
    """
    The state of its bytes.

    Raises
    ------
    ValueError
        The bytes are not a state as this version knows it.
    """
    try:
        return CityState(city=city, **_read(data, city.num_sites))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"state: must be written as {CODEC} by this version, but {error!r}") from error


def _leaves(state: CityState) -> list[tuple[str, Any]]:
    leaves: list[tuple[str, Any]] = []
    for field in fields(state):
        value = getattr(state, field.name)
        if field.name in _PARTS and is_dataclass(value):
            leaves += [(f"{field.name}.{column.name}", getattr(value, column.name)) for column in fields(value)]
        elif field.name != "city":
            leaves.append((field.name, value))
    return leaves


def _packed(array: NDArray[Any]) -> tuple[NDArray[Any], int, int]:
    """The values to store, and parts and base of `_Column`."""
    if array.dtype.kind == "f" and array.size:
        return _packed_floats(array)
    if array.dtype.kind == "i" and array.size:
        base = int(array.min())
        if int(array.max()) - base < _MAX_SPAN:
            return _smallest(array.astype(np.int64) - base), 1, base
    return array, 0, 0


def _packed_floats(array: NDArray[np.floating]) -> tuple[NDArray[Any], int, int]:
    """Integers where all that is known is whole (people, doses) or in whole seconds (moments); else the floats."""
    known = ~np.isnan(array)
    values = array[known].astype(np.float64)
    for parts in (1, SECONDS_PER_MINUTE):
        with np.errstate(over="ignore"):
            counts = np.rint(values * parts)
        if np.array_equal(counts / parts, values):
            low, high = (float(counts.min()), float(counts.max())) if counts.size else (0.0, 0.0)
            # Infinity and what a float cannot count exactly stay floats.
            if not (high - low < _MAX_SPAN and max(-low, high) <= _MAX_EXACT):
                break
            stored = np.zeros(array.shape, dtype=np.int64)
            stored[known] = (counts - low).astype(np.int64) + 1
            return _smallest(stored), parts, int(low)
    return array, 0, 0


def _smallest(counts: NDArray[np.integer]) -> NDArray[np.unsignedinteger]:
    high = int(counts.max())
    return counts.astype(next(dtype for dtype in ("<u1", "<u2", "<u4") if high <= np.iinfo(dtype).max))


def _unpacked(stored: NDArray[Any], column: _Column) -> NDArray[Any]:
    if column.parts == 0:
        return stored.astype(column.dtype)
    counts = stored.astype(np.int64)
    if np.dtype(column.dtype).kind == "i":
        return (counts + column.base).astype(column.dtype)
    values = (counts - 1 + column.base) / column.parts
    values[counts == 0] = np.nan
    return values.astype(column.dtype)


def _read(data: bytes, num_sites: int) -> dict[str, Any]:
    header_end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    header = orjson.loads(data[_LENGTH_BYTES:header_end])
    leaves = _plain_values(header["values"])
    offset = header_end
    for column in (_Column(*one) for one in header["arrays"]):
        count = int(np.prod(column.shape, dtype=np.int64))
        stored = np.frombuffer(data, dtype=column.stored_dtype, count=count, offset=offset)
        leaves[column.path] = _unpacked(stored, column).reshape(column.shape)
        offset += stored.nbytes
    return _with_parts(leaves, num_sites)


def _plain_values(values: dict[str, Any]) -> dict[str, Any]:
    leaves = {path: tuple(value) if isinstance(value, list) else value for path, value in values.items()}
    leaves["as_of"] = datetime.fromisoformat(values["as_of"])
    leaves["commitments"] = _commitments(values["commitments"])
    return leaves


def _commitments(values: dict[str, Any]) -> Commitments:
    # Bytes of an older version hold no overrides and no incidents: there were none.
    parts: dict[str, Any] = {
        name: tuple(decision_from_dict(one) for one in values.get(name, ())) for name in _DECISIONS
    }
    sets: dict[str, Any] = {name: frozenset(values[name]) for name in _SITE_SETS}
    return Commitments(**parts, **sets, incidents=_incidents(values.get("incidents")))


def _incidents(values: dict[str, Any] | None) -> Incidents:
    if values is None:
        return NO_INCIDENTS
    return Incidents(
        recalled_lots=frozenset(values["recalled_lots"]),
        failed_fridges=frozenset((site_id, fridge_id) for site_id, fridge_id in values["failed_fridges"]),
        power_cut_site_ids=frozenset(values["power_cut_site_ids"]),
        surge_factor=values["surge_factor"],
    )


def _with_parts(leaves: dict[str, Any], num_sites: int) -> dict[str, Any]:
    whole = {path: value for path, value in leaves.items() if "." not in path}
    for name, part in _PARTS.items():
        columns = {
            path.removeprefix(f"{name}."): value for path, value in leaves.items() if path.startswith(f"{name}.")
        }
        is_older = name == _RECENT and not columns
        if name == _FRIDGES:
            columns = unknown_of_loggers(len(columns["site_idx"])) | columns
        whole[name] = RecentPeriods.unknown(num_sites) if is_older else part(**columns)
    return whole
