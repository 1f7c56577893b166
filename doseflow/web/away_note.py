"""
What a browser carries while it is at an identity provider: sealed, so that it can neither read nor change it.

It lies with the browser and not with us: nobody can fill our memory by beginning sign-ins, and an answer that comes
back in another browser than the one that began is worth nothing (RFC 6749, section 10.12).
"""

from __future__ import annotations

import orjson
from cryptography.fernet import Fernet, InvalidToken

from doseflow.ports import StartedSignIn
from doseflow.web.session_cookie import AWAY_SECONDS


class AwayNotes:
    """Seals and opens notes with a key of this process; after a restart a sign-in under way begins anew."""

    def __init__(self) -> None:
        self._seal = Fernet(Fernet.generate_key())

    def seal(self, started: StartedSignIn) -> str:
        """The note of a sign-in that has begun."""
        return self._seal.encrypt(orjson.dumps([started.state, started.nonce, started.verifier])).decode()

    def open(self, note: str) -> StartedSignIn | None:
        """The sign-in of a note; None where it is none of ours or too old."""
        try:
            content = self._seal.decrypt(note.encode("utf-8", "replace"), ttl=AWAY_SECONDS)
        except InvalidToken:
            return None
        state, nonce, verifier = orjson.loads(content)
        return StartedSignIn("", state, nonce, verifier)
