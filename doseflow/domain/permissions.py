"""Who may do what: one table from action to roles, and which actions show or change the whole city at once."""

from __future__ import annotations

from doseflow.domain.caller import Caller, CallerRole

_OFFICER, _HEAD = CallerRole.DUTY_OFFICER, CallerRole.SITE_HEAD
_LOGISTICS, _AUDITOR, _MACHINE = CallerRole.LOGISTICS, CallerRole.AUDITOR, CallerRole.MACHINE

EVERYBODY = frozenset(CallerRole)
PEOPLE = EVERYBODY - {_MACHINE}

ACTION_TO_ROLES: dict[str, frozenset[CallerRole]] = {
    "anomaly.read": PEOPLE,
    "appointment.read": PEOPLE,
    "appointment.send": frozenset({_MACHINE}),
    "api.read": EVERYBODY,
    "audit.read": frozenset({_OFFICER, _AUDITOR}),
    "caller.read_self": EVERYBODY,
    "city_day.read": PEOPLE,
    "cold_chain.send": frozenset({_MACHINE}),
    "cycle.read": EVERYBODY,
    "cycle.run": frozenset({_OFFICER, _MACHINE}),
    "drift.read": frozenset({_OFFICER, _AUDITOR}),
    "event.read": EVERYBODY,
    "handover.confirm": frozenset({_OFFICER}),
    "handover.give": frozenset({_OFFICER}),
    "handover.read": PEOPLE,
    "letter.dismiss": frozenset({_OFFICER}),
    "letter.read": frozenset({_OFFICER, _LOGISTICS, _AUDITOR}),
    "letter.resend": frozenset({_OFFICER, _LOGISTICS}),
    "metrics.read": frozenset({_OFFICER, _AUDITOR, _MACHINE}),
    "model.canary": frozenset({_OFFICER}),
    "model.promote": frozenset({_OFFICER}),
    "model.read": frozenset({_OFFICER, _AUDITOR}),
    "model.rollback": frozenset({_OFFICER}),
    "order.approve": frozenset({_OFFICER}),
    "order.decide": frozenset({_OFFICER}),
    "order.override": frozenset({_OFFICER}),
    "order.pin": frozenset({_OFFICER}),
    "order.read": EVERYBODY,
    "order.receipt": frozenset({_OFFICER, _HEAD, _LOGISTICS, _MACHINE}),
    "order.reject": frozenset({_OFFICER}),
    "order.undo": frozenset({_OFFICER}),
    "order.unpin": frozenset({_OFFICER}),
    "order.withdraw": frozenset({_OFFICER}),
    "plan.read": frozenset({_OFFICER, _LOGISTICS, _AUDITOR, _MACHINE}),
    "playbook.end": frozenset({_OFFICER, _LOGISTICS}),
    "playbook.read": PEOPLE,
    "playbook.start": frozenset({_OFFICER, _LOGISTICS}),
    "push.subscribe": frozenset({_OFFICER, _HEAD, _LOGISTICS}),
    "quarantine.read": frozenset({_OFFICER, _HEAD, _AUDITOR}),
    "report.read": PEOPLE,
    "report.send": frozenset({_HEAD, _MACHINE}),
    "site.freeze": frozenset({_OFFICER}),
    "site.read": EVERYBODY,
    "site.resume": frozenset({_OFFICER}),
    "site.suspend": frozenset({_OFFICER}),
    "site.unfreeze": frozenset({_OFFICER}),
    "source.read": frozenset({_OFFICER, _AUDITOR}),
    "summary.read": frozenset({_OFFICER, _AUDITOR}),
    "what_if.run": frozenset({_OFFICER, _LOGISTICS}),
}
"""By action, as `noun.verb`, the roles that may do it; an action that does not stand here nobody may do."""

CITY_WIDE_ACTIONS = frozenset(
    {
        "appointment.read",
        "appointment.send",
        "audit.read",
        "city_day.read",
        "cold_chain.send",
        "cycle.run",
        "drift.read",
        "handover.confirm",
        "handover.give",
        "handover.read",
        "metrics.read",
        "model.canary",
        "model.promote",
        "model.read",
        "model.rollback",
        "plan.read",
        "playbook.end",
        "playbook.read",
        "playbook.start",
        "source.read",
        "summary.read",
        "what_if.run",
    }
)
"""Actions that cannot be done for some sites only: whoever answers for some sites may not do them, in any role."""


def may(caller: Caller, action: str) -> bool:
    """Whether somebody may do something at all; the sites it is done to are asked for by `Caller.may_touch`."""
    return not why_not(caller, action)


def why_not(caller: Caller, action: str) -> str:
    """In one sentence why somebody may not do something; empty where they may."""
    roles = ACTION_TO_ROLES.get(action, frozenset())
    if not roles & caller.roles:
        return f"{action} needs one of the roles {_words(roles)}; {caller.name} is {_words(caller.roles)}"
    if action in CITY_WIDE_ACTIONS and caller.site_ids is not None:
        return f"{action} is about the whole city; {caller.name} answers for {len(caller.site_ids)} of its sites"
    return ""


def _words(roles: frozenset[CallerRole]) -> str:
    return ", ".join(sorted(roles)) or "none"
