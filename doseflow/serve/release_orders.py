"""What a person may order of a release, from the command line or over HTTP: the same checks wherever it is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from doseflow.errors import ReleaseRefused
from doseflow.serve.aliases import PACKAGED, Aliases, Phase, begin, go_to_canary, promote, roll_back
from doseflow.serve.model_store import NETS, ModelStore

Opens = Callable[[str], None]
"""Takes a digest; raises where the model cannot answer for the net."""


@dataclass(frozen=True, slots=True)
class ReleaseOrder:
    """Who ordered something for a net, why, and when; `city_at` is the city's time, where a city was there."""

    net: str
    by: str
    why: str
    at: datetime
    city_at: datetime | None = None

    def __post_init__(self) -> None:
        if self.net not in NETS:
            raise ReleaseRefused(f"net: must be one of {', '.join(NETS)}, got {self.net!r}")

    def switch(self, store: ModelStore, step: Callable[[Aliases], Aliases], event: str) -> Aliases:
        """
        Take the ordered step.

        Raises
        ------
        ReleaseRefused, ModelWrong, EnvironmentUnfit
        """
        return store.switch(self.net, step, event=event, by=self.by, why=self.why, at=self.at, city_at=self.city_at)


def let_in(store: ModelStore, order: ReleaseOrder, digest: str, share_permille: int, opens: Opens) -> Aliases:
    """
    Make a model the challenger, in shadow where its share is 0; one that is in already gets the share.

    Raises
    ------
    ReleaseRefused, ModelNotFound, ModelWrong, EngineFailed
    """
    if not 0 <= share_permille < 1000:
        raise ReleaseRefused(f"share: must lie in 0..99.9 %, got {share_permille / 10:g} %; promote for all of it")
    opens(digest)

    def step(aliases: Aliases) -> Aliases:
        if aliases.challenger == digest and share_permille:
            return go_to_canary(aliases, share_permille)
        return begin(aliases, digest, share_permille)

    event = "canary" if share_permille else "shadow"
    return order.switch(store, step, event)


def promote_challenger(store: ModelStore, order: ReleaseOrder, opens: Opens, *, force: bool = False) -> Aliases:
    """
    Make the challenger champion, once it has passed every gate or where it is forced.

    Raises
    ------
    ReleaseRefused, ModelWrong, EngineFailed
    """
    standing = store.aliases(order.net)
    if standing.challenger is not None:
        opens(standing.challenger)

    def step(aliases: Aliases) -> Aliases:
        if aliases.challenger is not None and aliases.phase is not Phase.READY and not force:
            raise ReleaseRefused(f"challenger: is in {aliases.phase} and has not passed every gate; force it, or wait")
        if aliases.challenger != standing.challenger:
            raise ReleaseRefused("challenger: another one was let in meanwhile")
        return promote(aliases)

    event = "promoted_by_force" if force else "promoted"
    return order.switch(store, step, event)


def take_back(store: ModelStore, order: ReleaseOrder, opens: Opens) -> Aliases:
    """
    Drop the challenger; where there is none, go back to the previous champion.

    Raises
    ------
    ReleaseRefused, ModelNotFound, ModelWrong, EngineFailed
        There is nothing to go back to, or what there is cannot answer.
    """
    standing = store.aliases(order.net)
    if standing.challenger is None and standing.previous not in {None, PACKAGED}:
        opens(str(standing.previous))
    return order.switch(store, roll_back, "rolled_back")
