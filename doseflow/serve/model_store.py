"""
ModelStore: bundles under the digest of their manifest, aliases that are switched at once, and their history.

    objects/DIGEST/    a bundle; DIGEST is the SHA-256 of its manifest, which holds the digests of all other files
    aliases/NET.json   champion, challenger, previous, the phase of the release, and where the history ended then;
                       replaced by renaming
    history.jsonl      what became of the aliases, only ever added to
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from doseflow.errors import EnvironmentUnfit, ModelNotFound, ModelWrong
from doseflow.serve.alias_file import AliasFile, read_alias_file, write_beside
from doseflow.serve.aliases import PACKAGED, Aliases
from doseflow.serve.bundle import MAX_MANIFEST_BYTES, Bundle, open_bundle
from doseflow.serve.folder_lock import folder_lock
from doseflow.serve.manifest import MANIFEST_FILE, Manifest, read_manifest
from doseflow.serve.release_history import HISTORY_FILE, ReleaseEvent, appended, next_line, trail_of
from doseflow.serve.signatures import MAX_SIGNATURE_BYTES, SIGNATURE_FILE, TrustedKeys

NETS = ("forecaster", "policy")
PATIENCE_SECONDS = 10.0
"""How long a person's step waits for another one that is being taken, or a model that is being added."""
MIN_PREFIX = 6
"""Digits of a digest that a person must give at least."""


@dataclass(frozen=True)
class StoredModel:
    """A bundle whose files are those of its manifest; `signer` is None where nobody has signed it."""

    digest: str
    folder: Path
    manifest: Manifest
    signer: str | None


class ModelStore:
    """
    A folder of models. Thread-safe, and safe between processes on one machine: changes hold a lock of the folder.

    Raises
    ------
    EnvironmentUnfit
        The folder cannot be written.
    """

    def __init__(self, folder: Path, trusted: TrustedKeys, *, allows_unsigned: bool = False) -> None:
        self.folder = folder
        self._trusted, self._allows_unsigned = trusted, allows_unsigned
        self._history = folder / HISTORY_FILE
        try:
            for name in ("objects", "aliases"):
                (folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentUnfit(f"models.folder: {folder} cannot be written ({error.strerror})") from error

    def add(self, bundle: Path) -> StoredModel:
        """
        Keep a bundle; one that is there already is kept once.

        Raises
        ------
        ModelWrong
            The bundle is broken, or its signature is missing and must not be, or is not trusted.
        """
        open_bundle(bundle)
        with self._locked(), tempfile.TemporaryDirectory(dir=self.folder, prefix=".adding-") as beside:
            copy = Path(beside) / "bundle"
            copy.mkdir()
            manifest = read_manifest(_read(bundle / MANIFEST_FILE, MAX_MANIFEST_BYTES))
            for name in (MANIFEST_FILE, *manifest.files):
                shutil.copyfile(bundle / name, copy / name)
            if (bundle / SIGNATURE_FILE).exists():
                shutil.copyfile(bundle / SIGNATURE_FILE, copy / SIGNATURE_FILE)
            added = self._checked(copy)
            self._put(copy, self._place(added.digest))
        return self.verify(added.digest)

    def find(self, prefix: str) -> str:
        """
        The digest that begins so.

        Raises
        ------
        ModelNotFound
            No model begins so, or several do, or too few digits were given.
        """
        found = [digest for digest in self.digests() if digest.startswith(prefix)]
        if len(prefix) < MIN_PREFIX or len(found) != 1:
            raise ModelNotFound(f"model: {len(found)} begin with {prefix!r}; give at least {MIN_PREFIX} digits of one")
        return found[0]

    def digests(self) -> list[str]:
        """Every model that is kept or that an alias names, be it whole or not."""
        return sorted({path.name for path in (self.folder / "objects").iterdir() if path.is_dir()} | self._named())

    def verify(self, digest: str) -> StoredModel:
        """
        Check every file and the signature of a model.

        Raises
        ------
        ModelNotFound
        ModelWrong
        """
        place = self._place(digest)
        if not place.is_dir():
            raise ModelNotFound(f"model: there is none with the digest {digest[:12]}")
        model = self._checked(place)
        if model.digest != digest:
            raise ModelWrong(f"{MANIFEST_FILE}: its SHA-256 must be {digest}, got {model.digest}")
        return model

    def aliases(self, net: str) -> Aliases:
        """
        How the aliases of a net stand; of one that nothing was released for, the packaged model is champion.

        Raises
        ------
        ModelWrong
            The file is damaged or cannot be read.
        """
        return read_alias_file(self.alias_path(net)).aliases

    def alias_path(self, net: str) -> Path:
        """The file that changes whenever the aliases of a net do."""
        return self.folder / "aliases" / f"{net}.json"

    def switch(
        self,
        net: str,
        step: Callable[[Aliases], Aliases],
        *,
        event: str,
        by: str,
        why: str,
        at: datetime,
        city_at: datetime | None = None,
        evidence: Mapping[str, Any] | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> Aliases:
        """
        Take a step from the aliases as they stand, at once for everybody, and note it in the history.

        Raises
        ------
        ReleaseRefused
            The step cannot be taken from where they stand.
        ModelWrong
            The aliases are damaged.
        EnvironmentUnfit
            The folder cannot be written, or is being changed for longer than the patience; nothing has changed.
        """
        with self._locked(patience_seconds):
            after = step(self.aliases(net))
            self._put_aliases(ReleaseEvent(at, net, event, by, why, after, evidence or {}, city_at))
        return after

    def note(
        self,
        net: str,
        *,
        event: str,
        by: str,
        why: str,
        at: datetime,
        city_at: datetime | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """
        Note in the history what left the aliases as they stand.

        Raises
        ------
        ModelWrong, EnvironmentUnfit
        """
        with self._locked(patience_seconds):
            self._put_aliases(ReleaseEvent(at, net, event, by, why, self.aliases(net), city_at=city_at))

    def history(self, net: str | None = None) -> list[dict[str, Any]]:
        """
        What happened, the oldest first; of one net or of all.

        Raises
        ------
        ModelWrong
            The history was changed.
        """
        trail = trail_of(self.folder)
        if trail.damage:
            raise ModelWrong(trail.damage[0])
        return trail.events if net is None else trail.of_net(net)

    def _named(self) -> set[str]:
        named: set[str] = set()
        for net in NETS:
            with suppress(ModelWrong):
                one = self.aliases(net)
                named |= {name for name in (one.champion, one.challenger, one.previous) if name is not None}
        return named - {PACKAGED}

    def _put_aliases(self, event: ReleaseEvent) -> None:
        line, head = next_line(self._history, event)
        path = self.alias_path(event.net)
        beside = write_beside(path, AliasFile(event.aliases, head))
        # What may fail for want of space comes first, so that nothing is told that was not done. Of a crash between the
        # last two, the history tells of one switch too many, never too few.
        with appended(self._history, line):
            beside.replace(path)

    def _place(self, digest: str) -> Path:
        return self.folder / "objects" / digest

    def _put(self, copy: Path, place: Path) -> None:
        """Put a bundle in its place; one that is there and whole stays, for it may be in use, its signature aside."""
        signature = copy / SIGNATURE_FILE
        if not place.exists():
            copy.rename(place)
        elif not _is_whole(place):
            shutil.rmtree(place)
            copy.rename(place)
        elif signature.exists():
            signature.replace(place / SIGNATURE_FILE)

    def _checked(self, folder: Path) -> StoredModel:
        manifest_bytes = _read(folder / MANIFEST_FILE, MAX_MANIFEST_BYTES)
        signer = self._signer(folder, manifest_bytes)
        manifest = read_manifest(manifest_bytes)
        require_same_manifest(open_bundle(folder), manifest)
        return StoredModel(hashlib.sha256(manifest_bytes).hexdigest(), folder, manifest, signer)

    def _signer(self, folder: Path, manifest: bytes) -> str | None:
        path = folder / SIGNATURE_FILE
        if path.exists():
            return self._trusted.signer(manifest, _read(path, MAX_SIGNATURE_BYTES))
        if not self._allows_unsigned:
            raise ModelWrong(f"{SIGNATURE_FILE}: is missing, and models.allow_unsigned is not set")
        return None

    @contextmanager
    def _locked(self, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[None]:
        try:
            with folder_lock(self.folder, patience_seconds):
                yield
        except OSError as error:
            raise EnvironmentUnfit(f"models.folder: {self.folder} cannot be written ({error.strerror})") from error


def require_same_manifest(bundle: Bundle, manifest: Manifest) -> None:
    """
    Check that a bundle was read by the manifest whose signature was looked at, and not by one put there since.

    Raises
    ------
    ModelWrong
    """
    if bundle.manifest != manifest:
        raise ModelWrong(f"{MANIFEST_FILE}: has changed while it was read")


def _is_whole(folder: Path) -> bool:
    try:
        open_bundle(folder)
    except ModelWrong:
        return False
    return True


def _read(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise ModelWrong(f"{path}: cannot be read ({error.strerror})") from error
    if len(data) > limit:
        raise ModelWrong(f"{path.name}: must have at most {limit} bytes")
    return data
