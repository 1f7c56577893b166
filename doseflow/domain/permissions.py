"""Which roles may do what: the one table that the doors ask."""

from __future__ import annotations

from doseflow.domain.caller import CallerRole

_COMMAND = frozenset({CallerRole.DUTY_OFFICER})
_STOCK = frozenset({CallerRole.DUTY_OFFICER, CallerRole.LOGISTICS})
_READS_LOG = frozenset({CallerRole.DUTY_OFFICER, CallerRole.AUDITOR})
_SEES = frozenset({CallerRole.DUTY_OFFICER, CallerRole.LOGISTICS, CallerRole.SITE_HEAD, CallerRole.AUDITOR})

ACTION_TO_ROLES: dict[str, frozenset[CallerRole]] = {
    "order.approve": _COMMAND,
    "order.reject": _COMMAND,
    "order.withdraw": _COMMAND,
    "order.undo": _COMMAND,
    "order.decide": _COMMAND,
    "order.override": _COMMAND,
    "order.pin": _COMMAND,
    "order.unpin": _COMMAND,
    "site.freeze": _COMMAND,
    "site.unfreeze": _COMMAND,
    "site.suspend": _COMMAND,
    "site.resume": _COMMAND,
    "handover.give": _COMMAND,
    "handover.confirm": _COMMAND,
    "handover.read": _SEES,
    "playbook.start": _STOCK,
    "playbook.end": _STOCK,
    "playbook.read": _SEES,
    "audit.read": _READS_LOG,
}
"""By the action's name as the audit log has it; what does not stand here nobody may do."""
