"""SignIn: people come in by a password or from an identity provider, and go again; each time the audit log is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from doseflow.access.grant import together
from doseflow.access.params import SignInParams
from doseflow.access.password import is_password
from doseflow.access.recognition import Recognition, by_subject
from doseflow.access.secret_text import digest_of, new_token
from doseflow.access.throttle import Throttle
from doseflow.access.user_file import UserFile
from doseflow.domain.audit import AuditEntry
from doseflow.domain.caller import Caller
from doseflow.domain.sign_ins import Session, SignInWay
from doseflow.errors import SignInRefused, SignInsTooMany
from doseflow.ports import AuditLog, IdentityProvider, KeyStore, SessionStore

NOBODY = "nobody"
"""Whom the audit log names where a name was given that no user has: people type passwords there by mistake."""
MAX_NAME_CHARACTERS = 200


def wall_now() -> datetime:
    """The moment by the machine's clock: a sign-in lasts real hours, whatever day the city simulates."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Begun:
    """A session that has begun, with the token that only its browser keeps."""

    token: str
    session: Session


class SignIn:
    """
    Signs people in and out.

    Parameters
    ----------
    provider
        Who else may say who somebody is; None is nobody.
    """

    def __init__(
        self,
        params: SignInParams,
        *,
        sessions: SessionStore,
        keys: KeyStore,
        audit: AuditLog,
        provider: IdentityProvider | None = None,
        now: Callable[[], datetime] = wall_now,
        monotonic_seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self.params = params
        self.provider = provider
        self.audit = audit
        self.now = now
        self._sessions = sessions
        self._users = UserFile(Path(params.user_file))
        self._throttle = Throttle(params.throttle, monotonic_seconds)
        certificates = by_subject(params.certificates)
        self.recognition = Recognition(sessions, keys, self._users, params.session, certificates, now)

    @property
    def has_local_users(self) -> bool:
        """Whether anybody can sign in by a password."""
        return bool(self._users.users())

    def by_password(self, name: str, password: str, address: str) -> Begun:
        """
        Sign a local user in; `address` is where the attempt comes from.

        Raises
        ------
        SignInsTooMany, SignInRefused
        """
        wait_seconds = self._throttle.wait_seconds(name, address)
        if wait_seconds:
            raise SignInsTooMany(wait_seconds)
        user = self._users.find(name)
        if not is_password(password, None if user is None else user.password_hash) or user is None:
            self._note_refusal(NOBODY if user is None else name, SignInWay.PASSWORD, "wrong name or password")
            raise SignInRefused("the name or the password is wrong")
        self._throttle.forget(name, address)
        return self._begin(user.grant.caller(user.name), SignInWay.PASSWORD, {})

    def by_claims(self, claims: Mapping[str, Any]) -> Begun:
        """
        Sign in the person whom the identity provider tells of.

        Raises
        ------
        SignInRefused
            None of their groups is one that may come in.
        """
        provider, subject = self.params.provider, str(claims["sub"])
        name = str(claims.get(provider.name_claim) or subject)[:MAX_NAME_CHARACTERS]
        groups = claims.get(provider.group_claim, ())
        groups = [groups] if isinstance(groups, str) else groups if isinstance(groups, list | tuple) else []
        grant = together(
            provider.groups[group] for group in groups if isinstance(group, str) and group in provider.groups
        )
        if not grant.roles:
            self._note_refusal(name, SignInWay.PROVIDER, "in no group that may come in")
            raise SignInRefused(f"{name} is in no group that may come in; sign_in.provider.groups names those")
        return self._begin(grant.caller(name), SignInWay.PROVIDER, {"subject": subject[:MAX_NAME_CHARACTERS]})

    def refuse_provider(self, why: str) -> None:
        """Note that what came back from the identity provider proved nothing."""
        self._note_refusal(NOBODY, SignInWay.PROVIDER, why)

    def sign_out(self, token: str, caller: Caller) -> None:
        """End a session."""
        self._sessions.end(digest_of(token), AuditEntry(self.now(), caller.name, "caller.sign_out", caller.name))

    def note_not_allowed(self, caller: Caller, action: str, why: str) -> None:
        """Note that a person asked for something that they may not do."""
        self.audit.append(AuditEntry(self.now(), caller.name, "action.refuse", action, why))

    def _begin(self, caller: Caller, way: SignInWay, details: dict[str, Any]) -> Begun:
        token, now = new_token(), self.now()
        ends_at = now + timedelta(hours=self.params.session.most_hours)
        session = Session(digest_of(token), caller, way, now, now, ends_at)
        told = {"way": way.value, "roles": sorted(caller.roles), **details}
        self._sessions.begin(session, AuditEntry(now, caller.name, "caller.sign_in", caller.name, details=told))
        return Begun(token, session)

    def _note_refusal(self, name: str, way: SignInWay, why: str) -> None:
        self.audit.append(AuditEntry(self.now(), name, "caller.refuse", name, why, {"way": way.value}))
