"""
From error to answer: one table gives each error class its status, its problem type and its title (RFC 9457).

The domain knows no HTTP; whoever adds an error adds its line here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from doseflow import errors
from doseflow.web.json_answer import PROBLEM_MEDIA_TYPE, ProblemAnswer

log = structlog.get_logger(__name__)

PROBLEM_URN = "urn:doseflow:problem:"


@dataclass(frozen=True, slots=True)
class ProblemKind:
    """How one kind of error is answered."""

    status: int
    slug: str
    title: str

    @property
    def type(self) -> str:
        """Identifier of the kind, for programs."""
        return PROBLEM_URN + self.slug


STORE_UNAVAILABLE = ProblemKind(503, "store-unavailable", "The store does not answer")

CYCLES_STUCK = ProblemKind(503, "cycles-stuck", "No cycle completes any more")

ERROR_TO_PROBLEM: dict[type[errors.DoseflowError], ProblemKind] = {
    errors.ReportMalformed: ProblemKind(422, "malformed-report", "The report is not well formed"),
    errors.SiteUnknown: ProblemKind(404, "unknown-site", "This city has no such site"),
    errors.TimeImplausible: ProblemKind(422, "implausible-time", "The report's time cannot be true"),
    errors.ReportRepeated: ProblemKind(409, "repeated-report", "The report was accepted before"),
    errors.ReportTooLarge: ProblemKind(413, "too-large-report", "The body is too large"),
    errors.MessageRefused: ProblemKind(422, "refused-message", "The message cannot be used"),
    errors.ResourceRefused: ProblemKind(422, "refused-resource", "The FHIR resource cannot be used"),
    errors.ReceiptRefused: ProblemKind(409, "refused-receipt", "The receipt does not fit the order"),
    errors.CommandRefused: ProblemKind(409, "refused-command", "The command cannot be carried out as things stand"),
    errors.HandoverNotFound: ProblemKind(404, "unknown-handover", "There is no such hand-over"),
    errors.PlaybookNotFound: ProblemKind(404, "unknown-playbook", "There is no such playbook"),
    errors.SettingsWrong: ProblemKind(500, "wrong-settings", "A setting is wrong"),
    errors.CityWrong: ProblemKind(500, "wrong-city", "The city file is wrong"),
    errors.ScenarioWrong: ProblemKind(422, "wrong-scenario", "A scenario file is wrong"),
    errors.SnapshotWrong: ProblemKind(422, "wrong-snapshot", "The state file is wrong"),
    errors.HistoryWrong: ProblemKind(422, "wrong-history", "A table of series cannot be forecast"),
    errors.TrainingWrong: ProblemKind(422, "wrong-training", "A training run cannot be as it was asked for"),
    errors.ModelWrong: ProblemKind(409, "wrong-model", "A model bundle is wrong"),
    errors.ReleaseRefused: ProblemKind(409, "refused-release", "The release cannot take this step"),
    errors.SignInRefused: ProblemKind(401, "refused-sign-in", "Nobody was signed in"),
    errors.SignInsTooMany: ProblemKind(429, "too-many-sign-ins", "Too many attempts to sign in"),
    errors.UserNotFound: ProblemKind(404, "unknown-user", "There is no such user or key"),
    errors.ResendRefused: ProblemKind(409, "refused-resend", "The order of this letter has ended"),
    errors.NotFound: ProblemKind(404, "not-found", "There is no such thing"),
    errors.ModelNotFound: ProblemKind(404, "unknown-model", "There is no such model"),
    errors.CycleNotFound: ProblemKind(404, "unknown-cycle", "There is no such cycle"),
    errors.PlanNotFound: ProblemKind(404, "unknown-plan", "There is no such plan"),
    errors.OrderNotFound: ProblemKind(404, "unknown-order", "There is no such order"),
    errors.EnvironmentUnfit: ProblemKind(503, "unfit-environment", "The machine cannot do this now"),
    errors.StoreUnavailable: STORE_UNAVAILABLE,
    errors.EngineFailed: ProblemKind(503, "engine-failed", "A net's engine gave no answer"),
    errors.EngineTimedOut: ProblemKind(503, "engine-timed-out", "A net's engine gave no answer in time"),
    errors.EngineOverloaded: ProblemKind(503, "engine-overloaded", "A net's engine has too much to answer"),
    errors.EngineUnfit: ProblemKind(503, "engine-unfit", "No engine can run a net on this machine"),
    errors.GatewayFailed: ProblemKind(502, "gateway-failed", "An outside system did not answer"),
    errors.GatewayRefused: ProblemKind(502, "gateway-refused", "An outside system refused what it was told"),
    errors.GatewayHeldBack: ProblemKind(503, "gateway-held-back", "A gateway waits, so as not to tell too often"),
    errors.ModelInvalid: ProblemKind(500, "invalid-model", "The optimisation model is wrong"),
}

BROKEN_BODY = ProblemKind(400, "broken-body", "The body cannot be read as reports")
REPORTS_REFUSED = ProblemKind(422, "refused-reports", "Some reports of the list were refused")
MALFORMED_RECEIPT = ProblemKind(422, "malformed-receipt", "The receipt is not well formed")
MALFORMED_REQUEST = ProblemKind(422, "malformed-request", "The request is not well formed")
NO_CYCLE_YET = ProblemKind(404, "no-cycle-yet", "No cycle has run yet")
NO_CYCLE_THEN = ProblemKind(404, "no-cycle-then", "Nothing is kept of that moment")
FOREIGN_HOST = ProblemKind(421, "foreign-host", "This host name is not served here")
FOREIGN_ORIGIN = ProblemKind(403, "foreign-origin", "Another origin may not change anything here")
NOT_SIGNED_IN = ProblemKind(401, "not-signed-in", "Say who you are")
NOT_ALLOWED = ProblemKind(403, "not-allowed", "This is not yours to do")
FORGED_CHANGE = ProblemKind(403, "forged-change", "The change may come from a page of somebody else")
NO_SIGN_IN = ProblemKind(404, "no-sign-in", "This way of signing in is not set up here")
UNEXPECTED = ProblemKind(500, "unexpected", "Something went wrong here")
NO_SUCH_PAGE = ProblemKind(404, "no-such-page", "There is nothing at this address")
WRONG_METHOD = ProblemKind(405, "wrong-method", "This address does not take this method")
REFUSED_REQUEST = ProblemKind(400, "refused-request", "The request was refused")

OTHER_PROBLEMS: tuple[ProblemKind, ...] = (
    BROKEN_BODY,
    REPORTS_REFUSED,
    MALFORMED_RECEIPT,
    MALFORMED_REQUEST,
    NO_CYCLE_YET,
    NO_CYCLE_THEN,
    FOREIGN_HOST,
    FOREIGN_ORIGIN,
    NOT_SIGNED_IN,
    NOT_ALLOWED,
    FORGED_CHANGE,
    NO_SIGN_IN,
    UNEXPECTED,
    NO_SUCH_PAGE,
    WRONG_METHOD,
    REFUSED_REQUEST,
)
"""Problems that are not errors of the domain: they arise at the door itself."""

_STATUS_TO_PROBLEM = {404: NO_SUCH_PAGE, 405: WRONG_METHOD}


class Problem(Exception):
    """An answer that is a problem, raised at the door; `members` are added to the document."""

    def __init__(self, kind: ProblemKind, detail: str, **members: Any) -> None:
        self.kind = kind
        self.detail = detail
        self.members = members
        super().__init__(detail)


def problem_of(error: errors.DoseflowError) -> ProblemKind:
    """
    How an error is answered; a subclass that has no line of its own is answered like its parent.

    A body that cannot be read at all is 400, a report that can be read and is wrong is 422.
    """
    if isinstance(error, errors.ReportMalformed) and error.field in WHOLE_BODY_FIELDS:
        return BROKEN_BODY
    for cls in type(error).__mro__:
        if cls in ERROR_TO_PROBLEM:
            return ERROR_TO_PROBLEM[cls]
    return UNEXPECTED


WHOLE_BODY_FIELDS = frozenset({"body"})
"""Field names by which intake says that the body as a whole is not JSON or not UTF-8."""


def problem_document(kind: ProblemKind, detail: str, **members: Any) -> dict[str, Any]:
    """The body of a problem+json answer."""
    return {"type": kind.type, "title": kind.title, "status": kind.status, "detail": detail, **members}


def problem_answer(kind: ProblemKind, detail: str, **members: Any) -> ProblemAnswer:
    """A problem as a response."""
    return ProblemAnswer(problem_document(kind, detail, **members), status_code=kind.status)


def add_error_responses(app: FastAPI) -> None:
    """Answer everything that is raised on purpose by the table."""
    app.exception_handler(Problem)(_of_problem)
    app.exception_handler(errors.DoseflowError)(_of_domain_error)
    app.exception_handler(RequestValidationError)(_of_validation)
    app.exception_handler(HTTPException)(_of_http)


def documented(*kinds: ProblemKind) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route, so that the OpenAPI page names its problems."""
    responses: dict[int | str, dict[str, Any]] = {}
    for kind in (*kinds, FOREIGN_HOST, UNEXPECTED):
        entry = responses.setdefault(kind.status, {"description": "", "content": _PROBLEM_CONTENT})
        entry["description"] = "; ".join(filter(None, (entry["description"], kind.title)))
    return responses


_PROBLEM_CONTENT = {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}


async def _of_problem(_request: Request, error: Problem) -> ProblemAnswer:
    return problem_answer(error.kind, error.detail, **error.members)


async def _of_domain_error(request: Request, error: errors.DoseflowError) -> ProblemAnswer:
    return domain_problem(request.url.path, error)


def domain_problem(path: str, error: errors.DoseflowError) -> ProblemAnswer:
    """The answer to what was raised on purpose; what is not the caller's fault is logged."""
    kind = problem_of(error)
    if kind.status >= 500:
        log.error("request_failed", path=path, problem=kind.slug, exc_info=error)
    members = {}
    if isinstance(error, errors.ReportRefused | errors.ReceiptRefused):
        members = {"field": error.field, "reason": error.reason}
    answer = problem_answer(kind, str(error), **members)
    if isinstance(error, errors.SignInsTooMany):
        answer.headers["Retry-After"] = str(error.wait_seconds)
    return answer


async def _of_validation(_request: Request, error: RequestValidationError) -> ProblemAnswer:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
    reason = f"{first['msg'][0].lower()}{first['msg'][1:]}"
    return problem_answer(MALFORMED_REQUEST, f"{field}: {reason}", field=field, reason=reason)


async def _of_http(request: Request, error: HTTPException) -> ProblemAnswer:
    kind = _STATUS_TO_PROBLEM.get(error.status_code, REFUSED_REQUEST)
    answer = problem_answer(kind, f"{request.method} {request.url.path}: {error.detail}")
    answer.status_code = error.status_code
    answer.headers.update(error.headers or {})
    return answer
