"""What somebody is granted: roles, and the sites they are for; and the grants of several groups put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from doseflow.domain.caller import Caller, CallerRole


@dataclass(frozen=True, slots=True)
class Grant:
    """Roles, and the sites that they are for; without sites they are for the whole city."""

    roles: tuple[CallerRole, ...]
    site_ids: tuple[str, ...] | None = None

    def caller(self, name: str, *, is_machine: bool = False) -> Caller:
        """The caller who is granted this."""
        site_ids = None if self.site_ids is None else frozenset(self.site_ids)
        return Caller(name, frozenset(self.roles), site_ids, is_machine)


def together(grants: Iterable[Grant]) -> Grant:
    """
    All roles, for the sites that any grant names.

    Where one names sites the others add roles and no sites: roles for the whole city joined with those for one site
    would else become all roles for the whole city.
    """
    grants = list(grants)
    roles = tuple(sorted({role for grant in grants for role in grant.roles}))
    named = [grant.site_ids for grant in grants if grant.site_ids is not None]
    site_ids = tuple(sorted({site_id for each in named for site_id in each})) if named else None
    return Grant(roles, site_ids)
