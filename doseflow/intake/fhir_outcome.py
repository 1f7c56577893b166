"""OperationOutcome, in which FHIR says what became of a request (hl7.org/fhir/R4/operationoutcome.html)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from doseflow.errors import FhirIssue


def outcome_of_issues(issues: Sequence[FhirIssue], code: str = "invalid", severity: str = "error") -> dict[str, Any]:
    """An outcome with an issue for each."""
    return {"resourceType": "OperationOutcome", "issue": [_issue(one, code, severity) for one in issues]}


def outcome_of_sentence(text: str, code: str = "informational", severity: str = "information") -> dict[str, Any]:
    """An outcome of one sentence; `code` is of the value set issue-type."""
    return {"resourceType": "OperationOutcome", "issue": [{"severity": severity, "code": code, "diagnostics": text}]}


def _issue(issue: FhirIssue, code: str, severity: str) -> dict[str, Any]:
    return {"severity": severity, "code": code, "diagnostics": issue.text, "expression": [issue.expression]}
