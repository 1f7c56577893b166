"""
Signatures of bundles: Ed25519 (RFC 8032) over the manifest, which holds the digests of all other files.

Private keys stay where models are made; a serving machine has a trust file alone, one line a key: its owner and the
public key in base64.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from doseflow.errors import InputWrong, ModelWrong

SIGNATURE_FILE = "signature.json"
MAX_SIGNATURE_BYTES = 4096
MAX_TRUST_BYTES = 256 * 1024
_CONTEXT = b"doseflow model manifest 1\n"
"""Signed in front of the manifest, so that the key's signature under anything else is none here."""


@dataclass(frozen=True)
class TrustedKeys:
    """Public keys by their id, each with its owner."""

    keys: Mapping[str, tuple[str, Ed25519PublicKey]]

    @classmethod
    def none(cls) -> TrustedKeys:
        """Nobody is trusted."""
        return cls({})

    @classmethod
    def read(cls, path: Path) -> TrustedKeys:
        """
        Read a trust file; empty lines and lines that begin with # do not count.

        Raises
        ------
        InputWrong
        """
        try:
            text = path.read_bytes()[: MAX_TRUST_BYTES + 1].decode()
        except (OSError, UnicodeDecodeError) as error:
            raise InputWrong(f"models.trusted_keys: {path} cannot be read: {error}") from error
        if len(text) > MAX_TRUST_BYTES:
            raise InputWrong(f"models.trusted_keys: {path} must have at most {MAX_TRUST_BYTES} bytes")
        lines = [line.strip() for line in text.splitlines()]
        rows = [_trusted(line) for line in lines if line and not line.startswith("#")]
        return cls({key_id(key): (owner, key) for owner, key in rows})

    def signer(self, manifest: bytes, signature: bytes) -> str:
        """
        Owner of the key that has signed a manifest.

        Raises
        ------
        ModelWrong
            The signature is none, is of an unknown key, or does not fit.
        """
        told_id, raw = _read_signature(signature)
        if told_id not in self.keys:
            raise ModelWrong(f"{SIGNATURE_FILE}: key {told_id} is not among the trusted keys")
        owner, key = self.keys[told_id]
        try:
            key.verify(raw, _CONTEXT + manifest)
        except InvalidSignature as error:
            raise ModelWrong(f"{SIGNATURE_FILE}: the signature of {owner} does not fit the manifest") from error
        return owner


def make_key(folder: Path, owner: str) -> tuple[Path, str]:
    """
    Make a key pair: the private key goes into a file that only its owner can read.

    Returns
    -------
    tuple
        The file, and the line for trust files.

    Raises
    ------
    InputWrong
        The owner's name cannot stand in a trust file, or the file is there already.
    """
    if not owner or any(not (sign.isalnum() or sign in "._@-") for sign in owner):
        raise InputWrong(f"owner: must have letters, digits and . _ @ - only, got {owner!r}")
    private = Ed25519PrivateKey.generate()
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{owner}.pem"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise InputWrong(f"{path}: is there already; a key is never written over") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)
    return path, f"{owner} {base64.b64encode(private.public_key().public_bytes_raw()).decode()}"


def sign(manifest: bytes, private_pem: bytes) -> bytes:
    """
    What the signature file of a manifest holds.

    Raises
    ------
    InputWrong
        The key is no unencrypted Ed25519 key in PEM.
    """
    try:
        private = serialization.load_pem_private_key(private_pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InputWrong(f"key: must be an unencrypted private key in PEM: {error}") from error
    if not isinstance(private, Ed25519PrivateKey):
        raise InputWrong("key: must be an Ed25519 key")
    signature = base64.b64encode(private.sign(_CONTEXT + manifest)).decode()
    document = {"algorithm": "ed25519", "key_id": key_id(private.public_key()), "signature": signature}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def key_id(key: Ed25519PublicKey) -> str:
    """First 16 hexadecimal digits of the SHA-256 of a public key."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:16]


def _trusted(line: str) -> tuple[str, Ed25519PublicKey]:
    try:
        owner, text = line.split()
        return owner, Ed25519PublicKey.from_public_bytes(base64.b64decode(text, validate=True))
    except (ValueError, binascii.Error) as error:
        raise InputWrong(f"models.trusted_keys: a line must be an owner and a key in base64, got {line!r}") from error


def _read_signature(data: bytes) -> tuple[str, bytes]:
    try:
        document: Any = orjson.loads(data)
        if document["algorithm"] != "ed25519":
            raise ModelWrong(f"{SIGNATURE_FILE}: algorithm must be ed25519, got {document['algorithm']!r}")
        return str(document["key_id"]), base64.b64decode(document["signature"], validate=True)
    except (orjson.JSONDecodeError, KeyError, TypeError, binascii.Error) as error:
        raise ModelWrong(f"{SIGNATURE_FILE}: must have algorithm, key_id and signature in base64") from error
