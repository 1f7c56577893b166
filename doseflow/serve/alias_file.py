"""The file of a net's aliases: how they stand, and where the history ended when they were switched to it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from doseflow.errors import ModelWrong
from doseflow.serve.aliases import WHOLE_PERMILLE, Aliases, Phase

_TYPES: Mapping[str, tuple[type, ...]] = {
    "champion": (str,),
    "challenger": (str, type(None)),
    "previous": (str, type(None)),
    "share_permille": (int,),
    "salt": (str,),
    "revision": (int,),
}


@dataclass(frozen=True, slots=True)
class HistoryHead:
    """How many lines the history had, and the SHA-256 of the last one."""

    num_lines: int
    digest: str


@dataclass(frozen=True, slots=True)
class AliasFile:
    """What the file holds; `head` is None where nothing was released yet."""

    aliases: Aliases
    head: HistoryHead | None = None


def read_alias_file(path: Path) -> AliasFile:
    """
    What the file holds; of a net that nothing was released for there is none, and the packaged model is champion.

    Raises
    ------
    ModelWrong
        It cannot be read, or is not as doseflow writes it.
    """
    try:
        return _from_bytes(path.read_bytes())
    except FileNotFoundError:
        return AliasFile(Aliases())
    except OSError as error:
        raise ModelWrong(f"{path.name}: cannot be read ({error.strerror})") from error
    except (TypeError, ValueError, KeyError) as error:
        raise ModelWrong(f"{path.name}: is not as doseflow writes it: {error}") from error


def write_beside(path: Path, held: AliasFile) -> Path:
    """Write what the file shall hold beside it, on disk when this returns; gives what is to be renamed."""
    beside = path.with_name(f".{path.name}.new")
    document = asdict(held.aliases) | {"history": held.head and asdict(held.head)}
    with beside.open("wb") as file:
        file.write(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    return beside


def _from_bytes(data: bytes) -> AliasFile:
    document = orjson.loads(data)
    if not isinstance(document, dict):
        raise TypeError("must be an object")
    head, phase = document.pop("history", None), document.pop("phase")
    aliases = Aliases(**document, phase=None if phase is None else Phase(phase))
    _require_types(aliases)
    return AliasFile(aliases, None if head is None else HistoryHead(int(head["num_lines"]), str(head["digest"])))


def _require_types(aliases: Aliases) -> None:
    for name, kinds in _TYPES.items():
        # `type` and not `isinstance`: true is no share.
        if type(getattr(aliases, name)) not in kinds:
            raise TypeError(f"{name}: must be {' or '.join(kind.__name__ for kind in kinds)}")
    if not 0 <= aliases.share_permille < WHOLE_PERMILLE:
        raise ValueError(f"share_permille: must lie in 0..{WHOLE_PERMILLE - 1}, got {aliases.share_permille}")
    if (aliases.challenger is None) != (aliases.phase is None):
        raise ValueError("phase: must be there with a challenger, and only then")
