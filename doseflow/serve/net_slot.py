"""
NetSlot: the models of one net that are warm in this process, kept as the store's aliases say.

Whoever changes the aliases, in this process or in another, the next cycle sees it: the file is looked at each time. A
model is opened beside the flow and takes its place when it is warm; until then, and where it cannot be opened, those
that are there go on, as long as the aliases name them. Whom they name no more answers nothing from the next cycle on.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

import structlog

from doseflow.errors import DoseflowError, ReleaseRefused
from doseflow.serve.aliases import PACKAGED, WHOLE_PERMILLE, Aliases
from doseflow.serve.batcher import Batcher
from doseflow.serve.guarded_engine import GuardedEngine
from doseflow.serve.model_store import ModelStore
from doseflow.serve.release_stop import ReleaseStop

T = TypeVar("T")
PATIENCE_SECONDS = 0.05
"""How long a living city waits for the store's lock; a stop that could not be written is tried again each cycle."""
log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class WarmModel(Generic[T]):
    """
    A model that can answer now: `answers` is a policy or a forecaster round its guarded engine, `batcher` what gathers
    its questions, None where nothing does.
    """

    digest: str
    label: str
    engine: GuardedEngine
    answers: T
    batcher: Batcher | None = None


@dataclass(frozen=True)
class Standing(Generic[T]):
    """Who answers, as of one moment."""

    aliases: Aliases
    champion: WarmModel[T]
    challenger: WarmModel[T] | None

    def is_challengers(self, key: str) -> bool:
        """Whether what has this key (a district, a block of time) is answered by the challenger, always the same."""
        return self.challenger is not None and self.drawn(key) < self.aliases.share_permille

    def drawn(self, key: str) -> int:
        """Number that the key has in this release, 0..999; those below the share are the challenger's."""
        digest = hashlib.sha256(f"{self.aliases.salt}|{key}".encode()).digest()
        return int.from_bytes(digest[:8]) % WHOLE_PERMILLE

    def as_record(self) -> dict[str, Any]:
        """What is needed to ask the same models the same way again; see `standing_of_record`."""
        return {
            "champion": self.champion.digest,
            "challenger": None if self.challenger is None else self.challenger.digest,
            "share_permille": self.aliases.share_permille,
            "salt": self.aliases.salt,
        }

    @property
    def share(self) -> str:
        """The challenger's share in words."""
        return f"{self.aliases.share_permille / 10:g} %"


def standing_of_record(record: Mapping[str, Any], open_warm: Callable[[str], WarmModel[T]]) -> Standing[T]:
    """
    The standing that `as_record` was made of.

    Raises
    ------
    DoseflowError
        One of its models cannot be opened any more.
    """
    challenger = record["challenger"]
    aliases = Aliases(record["champion"], challenger, share_permille=record["share_permille"], salt=record["salt"])
    return Standing(aliases, open_warm(aliases.champion), None if challenger is None else open_warm(challenger))


class FixedSlot(Generic[T]):
    """A slot whose models never change: what a replay has."""

    def __init__(self, standing: Standing[T]) -> None:
        self.standing = standing

    def refresh(self) -> Standing[T]:
        """Who answers, always the same."""
        return self.standing


class NetSlot(Generic[T]):
    """
    The models of one net. `refresh` is for the thread of the cycles alone; the rest is thread-safe.

    Parameters
    ----------
    store
        None is a city without a model store: the packaged model answers, always.
    open_warm
        Opens the model of a digest, or the packaged one; raises DoseflowError where it cannot answer.
    now
        The city's time, for the history.
    """

    def __init__(
        self,
        net: str,
        store: ModelStore | None,
        open_warm: Callable[[str], WarmModel[T]],
        now: Callable[[], datetime],
    ) -> None:
        self.net, self.store = net, store
        self._open_warm, self._now = open_warm, now
        self._warm: dict[str, WarmModel[T]] = {}
        self._opening: threading.Thread | None = None
        self._failed: dict[str, str] = {}
        self._stop: ReleaseStop | None = None
        self._unwritten: ReleaseStop | None = None
        self._stop_lock = threading.Lock()
        self._said: set[str] = set()
        self._stamp: tuple[int, int] | None = None
        self._wanted = Aliases()
        self._read_again(self._file_stamp())
        self.standing = Standing(self._wanted, self._first_champion(self._wanted), None)
        self._open_missing()
        self.settle()
        self._take_place()

    def refresh(self) -> Standing[T]:
        """Who answers from now on; looks at the store's file and waits for nothing."""
        self._write_stop(patience_seconds=0.0)
        stamp = self._file_stamp()
        if stamp != self._stamp:
            self._read_again(stamp)
        self._open_missing()
        self._take_place()
        return self.standing

    def settle(self) -> None:
        """Wait until nothing is being opened."""
        opening = self._opening
        if opening is not None:
            opening.join()

    def close(self) -> None:
        """Let go of every model; nothing must be asked any more."""
        self.settle()
        for model in self._warm.values():
            _let_go(model)

    def require_opens(self, digest: str) -> None:
        """
        Check that a model can answer here, by opening it.

        Raises
        ------
        ModelWrong, ModelNotFound, EngineFailed
        """
        if self.store is not None and digest != PACKAGED:
            self.store.verify(digest)
        if digest not in self._warm:
            _let_go(self._open_warm(digest))

    def switch(self, step: Callable[[Aliases], Aliases], **told: Any) -> bool:
        """Take a step; False where it can no longer be taken, or the store cannot be written now."""
        try:
            return self._written(step, PATIENCE_SECONDS, **told)
        except DoseflowError as error:
            self._say_once("release_step_not_written", error)
            return False

    def stop(self, aliases: Aliases, *, by: str, why: str, evidence: Mapping[str, Any] | None = None) -> None:
        """
        Take the challenger of these aliases out of the flow, from the next cycle on, and out of the store.

        A store that cannot be written now is tried again with each cycle; until then the stop is known here alone.
        """
        if self.store is None or aliases.challenger is None:
            return
        held = self._stop
        if held is None or not held.is_about(aliases):
            self._stop = self._unwritten = ReleaseStop(aliases.challenger, aliases.salt, why, by, evidence or {})
            self._write_stop(PATIENCE_SECONDS)

    def _write_stop(self, patience_seconds: float) -> None:
        """Write a stop that is held in memory, unless another thread does."""
        stop = self._unwritten
        if stop is None or not self._stop_lock.acquire(blocking=False):
            return
        try:
            told = {"event": "rolled_back", "by": stop.by, "why": stop.why, "evidence": stop.evidence}
            self._written(stop.step, patience_seconds, **told)
            if self._unwritten is stop:
                self._unwritten = None
        except DoseflowError as error:
            self._say_once("stop_held_in_memory", error)
        finally:
            self._stop_lock.release()

    def _written(self, step: Callable[[Aliases], Aliases], patience_seconds: float, **told: Any) -> bool:
        if self.store is None:
            return False
        told |= {"at": datetime.now(UTC), "city_at": self._now(), "patience_seconds": patience_seconds}
        try:
            self.store.switch(self.net, step, **told)
        except ReleaseRefused as error:
            log.warning("release_step_refused", net=self.net, reason=str(error))
            return False
        log.warning("release_step", net=self.net, step=told["event"], by=told["by"], why=told["why"])
        return True

    def _read_again(self, stamp: tuple[int, int] | None) -> None:
        """Follow the file as it is now; one that cannot be read is looked at again each time."""
        try:
            wanted = self._aliases()
        except DoseflowError as error:
            self._say_once("aliases_not_read", error)
            return
        self._stamp = stamp
        self._said.clear()
        if wanted != self._wanted:
            self._wanted = wanted
            self._failed.clear()
        if self._stop is not None and not self._stop.is_about(wanted):
            self._stop = self._unwritten = None

    def _say_once(self, event: str, error: DoseflowError) -> None:
        """Log what lasts, and would be said again with each cycle."""
        if f"{event} {error}" not in self._said:
            self._said.add(f"{event} {error}")
            log.error(event, net=self.net, why=str(error))

    def _in_force(self) -> Aliases:
        return self._wanted if self._stop is None else self._stop.in_force(self._wanted)

    def _first_champion(self, aliases: Aliases) -> WarmModel[T]:
        for digest in dict.fromkeys((aliases.champion, aliases.previous or PACKAGED, PACKAGED)):
            try:
                return self._warm.setdefault(digest, self._open_warm(digest))
            except (DoseflowError, OSError) as error:
                if digest == PACKAGED:
                    raise
                self._note_failure(digest, error)
        raise AssertionError  # the last one is PACKAGED

    def _needed(self) -> list[str]:
        """Who must be warm; the packaged model too, which answers where nobody else may."""
        aliases = self._in_force()
        needed = (aliases.champion, aliases.challenger, aliases.previous, PACKAGED)
        return [digest for digest in dict.fromkeys(needed) if digest is not None]

    def _open_missing(self) -> None:
        missing = [one for one in self._needed() if one not in self._warm and one not in self._failed]
        if missing and (self._opening is None or not self._opening.is_alive()):
            self._opening = threading.Thread(target=self._open_all, args=(missing,), name=f"open {self.net}")
            self._opening.daemon = True
            self._opening.start()

    def _open_all(self, digests: list[str]) -> None:
        for digest in digests:
            try:
                self._warm[digest] = self._open_warm(digest)
            except Exception as error:  # noqa: BLE001 - the boundary of a load: those that are warm go on
                self._note_failure(digest, error)

    def _note_failure(self, digest: str, error: Exception) -> None:
        why = f"{digest[:12]} cannot be opened: {error}"
        self._failed[digest] = why
        log.error("model_not_opened", net=self.net, digest=digest, why=why)
        wanted = self._wanted
        if wanted.challenger == digest:
            self.stop(wanted, by="release", why=why)
        elif self.store is not None:
            self._note(self.store, why)

    def _note(self, store: ModelStore, why: str) -> None:
        told: dict[str, Any] = {"at": datetime.now(UTC), "city_at": self._now(), "patience_seconds": PATIENCE_SECONDS}
        try:
            store.note(self.net, event="load_failed", by="release", why=why, **told)
        except DoseflowError as error:
            self._say_once("load_failure_not_written", error)

    def _take_place(self) -> None:
        """Let those answer that the aliases name and that are warm; who is not wanted any more is let go of."""
        wanted = self._in_force()
        champion = self._warm.get(wanted.champion)
        # A challenger is measured against the champion, so that it waits for it.
        challenger = None if champion is None or wanted.challenger is None else self._warm.get(wanted.challenger)
        champion = champion or self._meanwhile(wanted)
        now = self.standing
        if wanted != now.aliases or champion is not now.champion or challenger is not now.challenger:
            self.standing = Standing(wanted, champion, challenger)
        kept = {*self._needed(), self.standing.champion.digest}
        for digest in [one for one in list(self._warm) if one not in kept]:
            _let_go(self._warm.pop(digest))

    def _meanwhile(self, wanted: Aliases) -> WarmModel[T]:
        """Who answers while the champion is not warm: never one that the aliases name no more."""
        for digest in (wanted.previous, PACKAGED):
            if digest is not None and digest in self._warm:
                return self._warm[digest]
        # Only where even the packaged model does not open is there nobody else.
        return self.standing.champion

    def _aliases(self) -> Aliases:
        return Aliases() if self.store is None else self.store.aliases(self.net)

    def _file_stamp(self) -> tuple[int, int] | None:
        path: Path | None = None if self.store is None else self.store.alias_path(self.net)
        try:
            found = None if path is None else path.stat()
        except OSError:
            return None
        return None if found is None else (found.st_mtime_ns, found.st_ino)


def _let_go(model: WarmModel[Any]) -> None:
    # The packaged model is the process's own, opened once for all who use it.
    model.engine.close(with_engine=model.digest != PACKAGED)
