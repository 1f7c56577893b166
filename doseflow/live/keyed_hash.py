"""A keyed hash for ids of appointments: recognises an id that comes again, tells nobody without the key whose it is."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from doseflow.errors import EnvironmentUnfit, SettingsWrong

KEY_BYTES = 32
DIGEST_BYTES = 16


class KeyedHash:
    """BLAKE2b with a key (RFC 7693, section 2.9), 128 bits as hexadecimal."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __call__(self, text: str) -> str:
        """The hash of a text."""
        content = text.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(content, key=self._key, digest_size=DIGEST_BYTES).hexdigest()


def open_keyed_hash(path: Path) -> KeyedHash:
    """
    The hash with the key of a file, which is made, readable by its owner alone, where it is missing.

    Raises
    ------
    SettingsWrong
        The file holds no key.
    EnvironmentUnfit
        The file can neither be read nor made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_key(path)
        text = path.read_text("ascii").strip()
        key = bytes.fromhex(text)
    except OSError as error:
        raise EnvironmentUnfit(f"appointments.key_file: {path} cannot be used: {error.strerror}") from error
    except ValueError as error:
        raise SettingsWrong(f"appointments.key_file: {path} must hold {KEY_BYTES} bytes as hexadecimal") from error
    if len(key) != KEY_BYTES:
        raise SettingsWrong(f"appointments.key_file: {path} must hold {KEY_BYTES} bytes, got {len(key)}")
    return KeyedHash(key)


def _make_key(path: Path) -> None:
    """Written beside and linked into place, so that two processes that begin at once get one key, and a whole one."""
    if path.exists():
        return
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(KEY_BYTES))
    try:
        os.link(beside, path)
    except FileExistsError:
        pass
    finally:
        beside.unlink()
