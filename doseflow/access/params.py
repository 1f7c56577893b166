"""How people and machines sign in: the settings section `sign_in`. Off by default, which only loopback allows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Ge, Le, MinLen

from doseflow.access.grant import Grant
from doseflow.domain.caller import CallerRole


@dataclass(frozen=True, slots=True)
class SessionParams:
    """How long a person stays signed in."""

    idle_minutes: Annotated[float, Ge(1), Le(24 * 60)] = 60.0
    """A session of which nothing is heard for so long ends."""
    most_hours: Annotated[float, Ge(0.1), Le(24 * 7)] = 12.0
    """A session ends after so long however busy it is: the length of a shift."""


@dataclass(frozen=True, slots=True)
class ThrottleParams:
    """How many wrong passwords are listened to."""

    window_minutes: Annotated[float, Ge(1), Le(24 * 60)] = 15.0
    """Attempts are counted over so long."""
    most_for_name_from_address: Annotated[int, Ge(1), Le(1000)] = 5
    """For one name from one address."""
    most_from_address: Annotated[int, Ge(1), Le(10_000)] = 30
    """From one address, for all names."""
    most_for_name: Annotated[int, Ge(1), Le(10_000)] = 50
    """For one name, from all addresses."""


@dataclass(frozen=True, slots=True)
class ProviderParams:
    """An OpenID Connect provider, which signs people in; without an issuer there is none. `doseflow[sign-in]`."""

    issuer: Annotated[str, MinLen(1)] | None = None
    """Its address, below which `/.well-known/openid-configuration` lies."""
    title: str = "OpenID Connect"
    """What the sign-in page calls it."""
    client_id: str = "doseflow"
    """As what doseflow is registered there."""
    client_secret: str | None = None
    """Its secret, where it was given one; PKCE protects the sign-in either way."""
    scopes: tuple[str, ...] = ("openid", "profile")
    """What is asked for."""
    name_claim: Annotated[str, MinLen(1)] = "preferred_username"
    """Claim by which the audit log calls somebody; where it is missing, `sub`."""
    group_claim: Annotated[str, MinLen(1)] = "groups"
    """Claim with the groups of somebody: a text or a list of texts."""
    groups: dict[str, Grant] = field(default_factory=dict)
    """
    By group its `roles`, and `site_ids` where they are not for the whole city; a person of no such group is refused.
    """
    timeout_seconds: Annotated[float, Ge(0.1), Le(60)] = 5.0
    """How long one answer of it may take."""


@dataclass(frozen=True, slots=True)
class CertificateParams:
    """A machine that is known by its client certificate."""

    subject: Annotated[str, MinLen(1)]
    """Name in the certificate as RFC 4514 writes it: `CN=records,O=City`."""
    name: Annotated[str, MinLen(1)]
    """How the audit log calls it."""
    roles: tuple[CallerRole, ...] = (CallerRole.MACHINE,)
    """What it is."""
    site_ids: tuple[str, ...] | None = None
    """Sites that it answers for; not set is all."""

    def grant(self) -> Grant:
        """What it is granted."""
        return Grant(self.roles, self.site_ids)


@dataclass(frozen=True, slots=True)
class SignInParams:
    """Whether and how callers must say who they are."""

    is_on: bool = False
    """Whether anybody has to sign in."""
    anybody_who_can_connect_may_do_anything: bool = False
    """Said in so many words, opens the doors to a network without sign-in; otherwise that is refused."""
    public_url: str | None = None
    """Address by which people reach the service, such as `https://flow.city.example`; an identity provider needs it."""
    user_file: Annotated[str, MinLen(1)] = "var/users.json"
    """File of the local users, which `doseflow users` writes."""
    session: SessionParams = field(default_factory=SessionParams)
    throttle: ThrottleParams = field(default_factory=ThrottleParams)
    provider: ProviderParams = field(default_factory=ProviderParams)
    certificates: tuple[CertificateParams, ...] = ()
    """Machines known by client certificates; see `http.tls_client_authority`."""

    def __post_init__(self) -> None:
        if self.provider.issuer is not None and not self.public_url:
            raise ValueError("public_url: must be given with provider.issuer, which sends people back there, got none")
