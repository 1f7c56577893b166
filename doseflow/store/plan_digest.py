"""What a plan decides, as one digest: two plans that order the same have the same, whatever their reasons say."""

from __future__ import annotations

import hashlib

from doseflow.domain.plan import Plan
from doseflow.store.decision_codec import KIND_TO_FIELDS
from doseflow.store.json_bytes import json_bytes


def plan_digest(plan: Plan) -> str:
    """SHA-256, hexadecimal, over the plan's decisions without their reasons, in an order of their own."""
    decisions = sorted(
        json_bytes([getattr(planned.decision, name) for name in KIND_TO_FIELDS[planned.decision.kind] if name != "why"])
        for planned in plan.decisions
    )
    return hashlib.sha256(b"\n".join(decisions)).hexdigest()
