"""A caller as columns: name, roles and sites."""

from __future__ import annotations

from typing import Any

import orjson

from doseflow.domain.caller import Caller, CallerRole
from doseflow.store.columns import AnyRow


def caller_values(caller: Caller) -> dict[str, Any]:
    """Values by column."""
    return {
        "name": caller.name,
        "roles": orjson.dumps(sorted(caller.roles)).decode(),
        "site_ids": None if caller.site_ids is None else orjson.dumps(sorted(caller.site_ids)).decode(),
    }


def caller_of(row: AnyRow, *, is_machine: bool) -> Caller:
    """The caller of a row."""
    roles = frozenset(map(CallerRole, orjson.loads(row.roles)))
    site_ids = None if row.site_ids is None else frozenset(orjson.loads(row.site_ids))
    return Caller(row.name, roles, site_ids, is_machine)
