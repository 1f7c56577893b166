"""Who a request comes from, by what it carries: a key, the name in a client certificate, or a session's token."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from doseflow.access.params import CertificateParams, SessionParams
from doseflow.access.secret_text import digest_of, is_secret, key_parts
from doseflow.access.user_file import UserFile
from doseflow.domain.caller import Caller
from doseflow.domain.sign_ins import Session, SignInWay
from doseflow.ports import KeyStore, SessionStore

SEEN_EVERY = timedelta(minutes=1)
"""How exactly it is kept when something was last heard of a session: a request should not cost a write."""


@dataclass(frozen=True, slots=True)
class Recognition:
    """
    Knows callers again; every answer is read anew, so that what is revoked opens nothing from the next request on.

    Parameters
    ----------
    now
        The wall's moment, also where the city's clock is a simulated one.
    """

    sessions: SessionStore
    keys: KeyStore
    users: UserFile
    params: SessionParams
    certificates: dict[str, CertificateParams]
    now: Callable[[], datetime]

    def by_key(self, text: str) -> Caller | None:
        """The machine whose key this is; None where it is none, is revoked or has ended."""
        parts = key_parts(text)
        if parts is None:
            return None
        prefix, secret = parts
        key = self.keys.find(prefix)
        if key is None or not is_secret(secret, key.secret_digest) or key.is_over(self.now()):
            return None
        return key.caller

    def by_certificate(self, subject: str) -> Caller | None:
        """The machine whose client certificate, which TLS has checked, is of this name (RFC 4514)."""
        known = self.certificates.get(subject)
        return None if known is None else known.grant().caller(known.name, is_machine=True)

    def by_token(self, token: str) -> Session | None:
        """The session of a token; None where it has ended. A local user's roles are those of the file now."""
        session = self.sessions.find(digest_of(token))
        now = self.now()
        if session is None or session.is_over(now, self.params.idle_minutes):
            return None
        if session.way is SignInWay.PASSWORD:
            user = self.users.find(session.caller.name)
            if user is None:
                return None
            session = _with_caller(session, user.grant.caller(user.name))
        if now - session.seen_at >= SEEN_EVERY:
            self.sessions.see(session.token_digest, now)
        return session


def by_subject(certificates: Iterable[CertificateParams]) -> dict[str, CertificateParams]:
    """The machines of the settings by the name in their certificate."""
    return {each.subject: each for each in certificates}


def _with_caller(session: Session, caller: Caller) -> Session:
    return Session(session.token_digest, caller, session.way, session.began_at, session.seen_at, session.ends_at)
