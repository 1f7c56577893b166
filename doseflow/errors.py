"""
Everything doseflow raises on purpose.

    DoseflowError
    ├── InputWrong                 somebody gave us something we cannot take; exit code 2
    │   ├── ReportRefused          reports -> state: one report, one field, one bound
    │   │   ├── ReportMalformed    not a report at all (JSON, UTF-8, type, range)
    │   │   ├── SiteUnknown        the site is not in this city
    │   │   ├── TimeImplausible    the report is from the future or too old
    │   │   ├── ReportRepeated     the same report was accepted before
    │   │   └── ReportTooLarge     the body is over the size limit
    │   ├── MessageRefused         another system's message that cannot be used: one field, one sentence
    │   ├── ResourceRefused        a FHIR resource that cannot be used: an issue for each thing that is wrong
    │   ├── ReceiptRefused         receipts -> orders: the receipt does not fit the order
    │   ├── CommandRefused         a person in command asks for what cannot be done now
    │   ├── SettingsWrong          a setting is unknown or out of its range
    │   ├── CityWrong              a city file breaks its schema
    │   ├── ScenarioWrong          a scenario file breaks its schema
    │   ├── SnapshotWrong          a state file breaks its schema
    │   ├── HistoryWrong           a table of series cannot be forecast
    │   ├── ModelWrong             a model bundle is broken, of another version, or answers wrongly
    │   ├── TrainingWrong          a training run was asked for that cannot be
    │   ├── ReleaseRefused         a step of a release that cannot be taken from where it stands
    │   ├── SignInRefused          a name and password, or an answer of an identity provider, that proves nothing
    │   ├── SignInsTooMany         so many attempts that the next one is not listened to yet
    │   └── ResendRefused          a dead letter whose order has ended
    ├── NotFound                   the thing asked for does not exist; exit code 1
    │   ├── CycleNotFound
    │   ├── PlanNotFound
    │   ├── OrderNotFound
    │   ├── HandoverNotFound
    │   ├── PlaybookNotFound
    │   ├── ModelNotFound
    │   └── UserNotFound           a local user or a key that is not there
    ├── EnvironmentUnfit           port taken, folder read-only, library missing; exit code 2
    ├── StoreUnavailable           the database does not answer
    ├── EngineFailed               a net's engine gave no answer; the fallback answers
    │   ├── EngineTimedOut         not by its deadline
    │   └── EngineOverloaded       too many wait already; told at once
    ├── EngineUnfit                this engine cannot run on this machine; the next in line does
    ├── GatewayFailed              orders -> outside: one delivery did not arrive; it is retried
    │   ├── GatewayRefused         it arrived and is refused for good; it is a dead letter
    │   └── GatewayHeldBack        the gateway itself waits, so as not to tell too often
    └── ModelInvalid               our own optimisation model is wrong: a defect, never a normal answer

`Infeasible` is not here: that no plan is allowed is an answer, not an error.
"""

from __future__ import annotations

from typing import NamedTuple


class DoseflowError(Exception):
    """Root of every error doseflow raises on purpose; its text is one sentence for a person."""


class InputWrong(DoseflowError):
    """Input that cannot be taken; the text names the field and the bound."""


class ReportRefused(InputWrong):
    """
    A report that is not accepted.

    Parameters
    ----------
    field
        Path of the offending field, for example `stations.open.vaccination`.
    reason
        One clause naming the bound, for example `must be at least 0, got -3`.
    """

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        super().__init__(f"{field}: {reason}")


class ReportMalformed(ReportRefused):
    """The bytes are not a report: broken UTF-8, broken JSON, a wrong type or a value out of range."""


class SiteUnknown(ReportRefused):
    """The report names a site that this city does not have."""


class TimeImplausible(ReportRefused):
    """The report says it is valid in the future, or too long ago to be of use."""


class ReportRepeated(ReportRefused):
    """The same report was accepted before; it counts once."""


class ReportTooLarge(ReportRefused):
    """The body is over the size limit."""


class MessageRefused(InputWrong):
    """
    A message of another system that cannot be used.

    Parameters
    ----------
    field
        Where it is wrong, in the words of its standard: `TQ1-7`, `Appointment.start`.
    reason
        One clause naming the bound; never a value that might be somebody's name.
    """

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        super().__init__(f"{field}: {reason}")


class FhirIssue(NamedTuple):
    """What is wrong with a FHIR resource: where, as a FHIRPath, and one sentence that repeats no value."""

    expression: str
    text: str


class ResourceRefused(InputWrong):
    """A resource that FHIR R4 does not allow, or that cannot be used."""

    def __init__(self, *issues: FhirIssue) -> None:
        self.issues = issues
        super().__init__("; ".join(f"{one.expression}: {one.text}" for one in issues))


class ReceiptRefused(InputWrong):
    """
    A receipt that does not fit its order.

    Parameters
    ----------
    field
        Path of the offending field.
    reason
        One clause naming the bound.
    """

    def __init__(self, field: str, reason: str) -> None:
        self.field = field
        self.reason = reason
        super().__init__(f"{field}: {reason}")


class CommandRefused(InputWrong):
    """What a person in command asks for cannot be done as things stand; the text says why."""


class SettingsWrong(InputWrong):
    """A setting is unknown, of the wrong type or out of its range."""


class CityWrong(InputWrong):
    """A city file or a city's name cannot be read as a city."""


class ScenarioWrong(InputWrong):
    """A scenario file or a scenario's name cannot be read as a scenario."""


class SnapshotWrong(InputWrong):
    """A state file cannot be read as a snapshot."""


class HistoryWrong(InputWrong):
    """A file of past series cannot be read, or its steps are not regular."""


class ModelWrong(InputWrong):
    """A model bundle is broken, was made for another version, or its engine does not answer as it should."""


class TrainingWrong(InputWrong):
    """A training run was asked for that cannot be."""


class ReleaseRefused(InputWrong):
    """A step of a model's release that cannot be taken from where the release stands."""


class SignInRefused(InputWrong):
    """Somebody has not shown who they are; the text does not say which part was wrong."""


class SignInsTooMany(InputWrong):
    """
    So many attempts to sign in that the next one is not listened to yet.

    Parameters
    ----------
    wait_seconds
        After which one is.
    """

    def __init__(self, wait_seconds: int) -> None:
        self.wait_seconds = wait_seconds
        super().__init__(f"there were too many attempts to sign in; try again in {wait_seconds} seconds")


class ResendRefused(InputWrong):
    """A dead letter that must not be told any more, since its order has ended."""


class NotFound(DoseflowError):
    """The thing asked for does not exist."""


class CycleNotFound(NotFound):
    """No cycle has this id."""


class PlanNotFound(NotFound):
    """No plan has this id."""


class OrderNotFound(NotFound):
    """No order has this id."""


class HandoverNotFound(NotFound):
    """No hand-over has this id."""


class PlaybookNotFound(NotFound):
    """No playbook has this id."""


class ModelNotFound(NotFound):
    """No model of the store has this digest."""


class UserNotFound(NotFound):
    """No local user has this name, or no key this prefix."""


class EnvironmentUnfit(DoseflowError):
    """The machine cannot run this now: a taken port, a read-only folder, a missing library."""


class StoreUnavailable(DoseflowError):
    """The database does not answer."""


class EngineFailed(DoseflowError):
    """A net's engine gave no answer to one question."""


class EngineTimedOut(EngineFailed):
    """A net's engine had no answer by the deadline; what comes later is thrown away."""


class EngineOverloaded(EngineFailed):
    """Too many questions wait already; said at once, so that the fallback has all the time."""


class EngineUnfit(DoseflowError):
    """An engine cannot run on this machine: a library, a device or a built file is missing; the text says which."""


class GatewayFailed(DoseflowError):
    """
    One delivery to an outside system did not arrive, or it could not be asked; it is tried again.

    Parameters
    ----------
    retry_after_seconds
        How long the other side asks to be left alone; None where it says nothing.
    """

    def __init__(self, text: str, retry_after_seconds: float | None = None) -> None:
        self.retry_after_seconds = retry_after_seconds
        super().__init__(text)


class GatewayRefused(GatewayFailed):
    """A delivery arrived, and the other side will never take it: trying again is of no use."""


class GatewayHeldBack(GatewayFailed):
    """The gateway itself waits with a delivery, so as not to tell too often; nobody has failed."""


class ModelInvalid(DoseflowError):
    """Our own optimisation model was refused by the solver: a defect in doseflow."""
