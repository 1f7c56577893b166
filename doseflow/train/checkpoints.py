"""Checkpoints of training runs, as far as reading them goes: a run goes on from its own, and any other is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from doseflow.errors import TrainingWrong

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def kept_state(path: Path, params: DataclassInstance, device: str) -> dict[str, Any] | None:
    """
    What a checkpoint holds, None where there is none.

    Raises
    ------
    TrainingWrong
        It cannot be read, or is that of a run with other parameters.
    """
    if not path.exists():
        return None
    with refused_where_unreadable(path):
        state: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
        kept_params = state["params"]
    if kept_params != asdict(params):
        raise TrainingWrong(f"--out: {path} was made with other parameters; give another folder or remove it")
    return state


@contextmanager
def refused_where_unreadable(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong with a checkpoint that is read into one sentence."""
    try:
        yield
    except Exception as error:  # bytes that are no checkpoint fail in any way there is
        raise TrainingWrong(f"--out: {path} cannot be read as a checkpoint; remove it") from error
