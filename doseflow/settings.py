"""
Settings: what each room may be told, composed once from a TOML file and the environment.

`doseflow.toml` in the working folder, or the file named by `DOSEFLOW_SETTINGS`, is read first;
`DOSEFLOW_<SECTION>__<KEY>` overrides it. A key that nobody knows is refused, so that a misspelt one is never silently
without effect.
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from doseflow.access.params import SignInParams
from doseflow.circuit_breaker import BreakerParams
from doseflow.dispatch.relay import RelayParams
from doseflow.domain.approvals import ApprovalParams
from doseflow.errors import SettingsWrong
from doseflow.feasible.layer import FeasibleParams
from doseflow.forecast.seasonal_naive import SeasonalNaiveParams
from doseflow.gateways.mllp_listener import MllpParams
from doseflow.gateways.mqtt_loggers import MqttLoggerParams
from doseflow.gateways.params import GatewayParams
from doseflow.gateways.slot_publisher import SlotFeedParams
from doseflow.intake.params import IntakeParams
from doseflow.live.appointment_params import AppointmentParams
from doseflow.live.sources import SourceParams
from doseflow.live.ticker import TickParams
from doseflow.policy.learned_policy import LearnedParams
from doseflow.policy.rules_policy import RulesParams
from doseflow.serve.engine_params import EngineParams
from doseflow.serve.release_gates import ReleaseParams
from doseflow.store.retention import MIN_REPORT_DAYS, KeepParams

DEFAULT_FILE = "doseflow.toml"
FILE_VARIABLE = "DOSEFLOW_SETTINGS"
_STRICT_SECTION = ConfigDict(extra="forbid", frozen=True)


class HttpSettings(BaseModel):
    """Where the doors stand. Loopback by default: opening them to a network is a decision."""

    model_config = _STRICT_SECTION
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: Annotated[int, Ge(1), Le(65535)] = 8080
    """Port to listen on."""
    allowed_hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    """Names by which the doors may be called; others are refused, so that a foreign page cannot reach them."""
    tls_certificate: Annotated[str, MinLen(1)] | None = None
    """File of the service's certificate and those above it, PEM; not set is plain HTTP."""
    tls_key: Annotated[str, MinLen(1)] | None = None
    """File of its private key, PEM."""
    tls_client_authority: Annotated[str, MinLen(1)] | None = None
    """File of the authorities whose client certificates are believed, PEM; `sign_in.certificates` names the callers."""
    tls_client_is_required: bool = False
    """Whether nobody gets through to anything without such a certificate."""

    @model_validator(mode="after")
    def _tls_is_whole(self) -> HttpSettings:
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ValueError("tls_key: must be given with tls_certificate, and only then")
        if self.tls_client_authority is not None and self.tls_certificate is None:
            raise ValueError("tls_client_authority: must be given with tls_certificate, got none")
        if self.tls_client_is_required and self.tls_client_authority is None:
            raise ValueError("tls_client_is_required: must be given with tls_client_authority, got none")
        return self


class StoreSettings(BaseModel):
    """Where everything is kept, and for how long."""

    model_config = _STRICT_SECTION
    url: Annotated[str, MinLen(1)] = "sqlite:///var/doseflow.sqlite"
    """Database; the folder is made when it is missing."""
    keep_cycle_inputs_days: Annotated[int, Ge(1), Le(36_500)] = 14
    """Days for which a cycle can be replayed."""
    keep_reports_days: Annotated[int, Ge(MIN_REPORT_DAYS), Le(36_500)] = 42
    """Days for which reports are kept as they came; their arrivals stay, by period of five minutes."""
    keep_quarantine_days: Annotated[int, Ge(1), Le(36_500)] = 90
    """Days for which refused reports are kept; of any age only the newest 10,000."""
    keep_records_days: Annotated[int, Ge(MIN_REPORT_DAYS), Le(36_500)] = 730
    """Days for which cycles, plans, orders and receipts are kept, at least as long as reports and inputs."""

    @property
    def keep(self) -> KeepParams:
        """All of it as the store takes it."""
        return KeepParams(
            self.keep_cycle_inputs_days, self.keep_reports_days, self.keep_quarantine_days, self.keep_records_days
        )

    @model_validator(mode="after")
    def _records_outlive_what_names_them(self) -> StoreSettings:
        longest = max(self.keep_cycle_inputs_days, self.keep_reports_days)
        if self.keep_records_days < longest:
            raise ValueError(
                f"keep_records_days: must be at least keep_reports_days and keep_cycle_inputs_days, {longest}, "
                f"got {self.keep_records_days}"
            )
        return self


class WebhookSettings(BaseModel):
    """An outside system that orders are posted to, signed; without a URL they wait in the site inbox."""

    model_config = _STRICT_SECTION
    url: str | None = None
    """Where orders are posted to."""
    secret: str | None = None
    """Key of the Standard Webhooks signature, `whsec_...`."""
    timeout_seconds: Annotated[float, Ge(0.1), Le(60)] = 5.0
    """How long one delivery may take before it is tried again."""


class TracingSettings(BaseModel):
    """Where traces go."""

    model_config = _STRICT_SECTION
    endpoint: Annotated[str, MinLen(1)] | None = None
    """OpenTelemetry collector, such as `http://127.0.0.1:4318/v1/traces`; not set is no traces. `doseflow[tracing]`."""


class FhirSettings(BaseModel):
    """The door for FHIR R4 appointments."""

    model_config = _STRICT_SECTION
    is_on: bool = False
    """Take FHIR R4 Appointments at /api/v1/fhir/Appointment. `doseflow[fhir]`."""


class BundleSettings(BaseModel):
    """Where the trained nets are."""

    model_config = _STRICT_SECTION
    forecaster: Annotated[str, MinLen(1)] | None = None
    """Folder of the arrival net's bundle; not set is the one that comes with doseflow."""
    policy: Annotated[str, MinLen(1)] | None = None
    """Folder of the site value net's bundle; not set is the one that comes with doseflow."""


class ModelSettings(BaseModel):
    """Where released models are kept, and whose signature they need; without a folder the bundles above answer."""

    model_config = _STRICT_SECTION
    folder: Annotated[str, MinLen(1)] | None = None
    """Folder of the model store, which `doseflow models` fills."""
    trusted_keys: Annotated[str, MinLen(1)] | None = None
    """File of the public keys whose signatures count, one line each: owner and key."""
    allow_unsigned: bool = False
    """Whether models that nobody has signed may be used; a wrong signature is refused all the same."""


class Settings(BaseSettings):
    """Everything that can be set, one section a room."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix="DOSEFLOW_",
        env_nested_delimiter="__",
        nested_model_default_partial_update=True,
    )

    city: Annotated[str, MinLen(1)] = "czech"
    """czech, synthetic:N, or the path of a city file."""
    planner: Annotated[str, MinLen(1)] = "rules"
    """
    static (nobody is moved), rules, proportional, max_pressure, c_mu, index, lp, mpc6, mpc12, scenario_mpc or learned
    (a trained net says what people are worth); see docs/background/ladder.md.
    """
    forecaster: Annotated[str, MinLen(1)] = "bookings_first"
    """learned (a trained net), bookings_first, seasonal_naive or last_value."""
    bundles: BundleSettings = Field(default_factory=BundleSettings)
    breaker: BreakerParams = Field(default_factory=BreakerParams)
    models: ModelSettings = Field(default_factory=ModelSettings)
    release: ReleaseParams = Field(default_factory=ReleaseParams)
    engines: EngineParams = Field(default_factory=EngineParams)
    http: HttpSettings = Field(default_factory=HttpSettings)
    sign_in: SignInParams = Field(default_factory=SignInParams)
    tracing: TracingSettings = Field(default_factory=TracingSettings)
    store: StoreSettings = Field(default_factory=StoreSettings)
    webhook: WebhookSettings = Field(default_factory=WebhookSettings)
    gateways: GatewayParams = Field(default_factory=GatewayParams)
    tick: TickParams = Field(default_factory=TickParams)
    intake: IntakeParams = Field(default_factory=IntakeParams)
    sources: SourceParams = Field(default_factory=SourceParams)
    mqtt_loggers: MqttLoggerParams = Field(default_factory=MqttLoggerParams)
    forecast: SeasonalNaiveParams = Field(default_factory=SeasonalNaiveParams)
    rules: RulesParams = Field(default_factory=RulesParams)
    learned: LearnedParams = Field(default_factory=LearnedParams)
    feasible: FeasibleParams = Field(default_factory=FeasibleParams)
    relay: RelayParams = Field(default_factory=RelayParams)
    approvals: ApprovalParams = Field(default_factory=ApprovalParams)
    appointments: AppointmentParams = Field(default_factory=AppointmentParams)
    fhir: FhirSettings = Field(default_factory=FhirSettings)
    hl7: MllpParams = Field(default_factory=MllpParams)
    slot_feeds: SlotFeedParams = Field(default_factory=SlotFeedParams)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is the library's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is the library's
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """First what the caller says, then the environment, then the file."""
        return (init_settings, env_settings, TomlConfigSettingsSource(settings_cls, _settings_file()))


def read_settings(**overrides: Any) -> Settings:
    """
    Read the settings once.

    Raises
    ------
    SettingsWrong
        A key is unknown or a value is out of its range; the text names it.
    """
    path = _settings_file()
    if os.environ.get(FILE_VARIABLE) and not path.is_file():
        raise SettingsWrong(f"{FILE_VARIABLE}: there is no file {path}")
    _refuse_unknown_variables()
    try:
        return Settings(**overrides)
    except ValidationError as error:
        first = error.errors()[0]
        raise SettingsWrong(_sentence(first)) from error
    except ValueError as error:
        raise SettingsWrong(f"{path}: {error}") from error


def require_sign_in_on_a_network(settings: Settings) -> None:
    """
    Check that doors which open to a network ask who comes, or that somebody has said that they need not.

    Raises
    ------
    SettingsWrong
    """
    host, sign_in = settings.http.host, settings.sign_in
    if sign_in.is_on or sign_in.anybody_who_can_connect_may_do_anything or is_loopback(host):
        return
    raise SettingsWrong(
        f"sign_in.is_on: must be true where http.host is not loopback, got {host!r}; or say "
        "sign_in.anybody_who_can_connect_may_do_anything = true"
    )


def is_loopback(host: str) -> bool:
    """Whether an address to listen on can only be reached from this machine."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _settings_file() -> Path:
    return Path(os.environ.get(FILE_VARIABLE) or DEFAULT_FILE)


def _refuse_unknown_variables() -> None:
    known = {f"DOSEFLOW_{name.upper()}" for name in Settings.model_fields} | {FILE_VARIABLE}
    for name in os.environ:
        if name.startswith("DOSEFLOW_") and name.split("__")[0] not in known:
            raise SettingsWrong(f"{name}: no setting has this name; `doseflow config show` lists them")


def _sentence(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    own = str(error.get("ctx", {}).get("error", "")) if error["type"] == "value_error" else ""
    # A section that checks itself names its key and what it got, as "key: must ..., got ...".
    if ": " in own and own.partition(": ")[0].isidentifier():
        return f"{where}.{own}"
    return f"{where}: {own or _plain(error)}"


def _plain(error: Any) -> str:
    if error["type"] in {"extra_forbidden", "unexpected_keyword_argument"}:
        return "no setting has this name; `doseflow config show` lists them"
    message = str(error["msg"])
    return f"{message[0].lower()}{message[1:]}, got {error['input']!r}"
