"""
Passwords: Argon2id as RFC 9106 recommends where memory is bounded (section 4: 64 MiB, 3 passes, 4 lanes).

One check takes some tenths of a second and 64 MiB, so no more than two run at once; others wait.
"""

from __future__ import annotations

import os
import threading
import unicodedata

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from doseflow.errors import InputWrong

MIN_CHARACTERS = 15
"""NIST SP 800-63B-4, section 3.1.1.2, for a password that is the only proof."""
MAX_CHARACTERS = 256
_PASSES, _LANES, _MEMORY_KIB = 3, 4, 64 * 1024
_SALT_BYTES, _HASH_BYTES = 16, 32
_AT_ONCE = threading.BoundedSemaphore(2)


def require_good_password(password: str) -> None:
    """
    Check a new password: long enough, and more than a few characters over and over.

    Raises
    ------
    InputWrong
    """
    if not MIN_CHARACTERS <= len(password) <= MAX_CHARACTERS:
        raise InputWrong(f"password: must have {MIN_CHARACTERS} to {MAX_CHARACTERS} characters, got {len(password)}")
    if len(set(password)) < 6:
        raise InputWrong("password: must have at least 6 different characters")


def hash_password(password: str) -> str:
    """The hash to keep, with its own salt and costs (a PHC string)."""
    hashing = Argon2id(
        salt=os.urandom(_SALT_BYTES), length=_HASH_BYTES, iterations=_PASSES, lanes=_LANES, memory_cost=_MEMORY_KIB
    )
    with _AT_ONCE:
        return hashing.derive_phc_encoded(_bytes(password))


def is_password(password: str, kept_hash: str | None) -> bool:
    """
    Whether the password is the one that was hashed, compared in constant time.

    Where there is no hash as much work is done for nothing: a name that nobody has cannot be told by the time it takes.
    """
    if len(password) > MAX_CHARACTERS:
        return False
    with _AT_ONCE:
        try:
            Argon2id.verify_phc_encoded(_bytes(password), kept_hash or _NOBODYS_HASH)
        except (InvalidKey, ValueError):
            return False
    return kept_hash is not None


def _bytes(password: str) -> bytes:
    # One form for what two keyboards write differently.
    return unicodedata.normalize("NFC", password).encode("utf-8", "replace")


_NOBODYS_HASH = (
    f"$argon2id$v=19$m={_MEMORY_KIB},t={_PASSES},p={_LANES}"
    "$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
)
