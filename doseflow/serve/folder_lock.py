"""The lock of a folder, which holds between threads and between processes of one machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from doseflow.errors import EnvironmentUnfit

RETRY_SECONDS = 0.005


@contextmanager
def folder_lock(folder: Path, patience_seconds: float) -> Iterator[None]:
    """
    Hold the lock of a folder.

    Parameters
    ----------
    patience_seconds
        How long to wait for whoever holds it; 0 asks once.

    Raises
    ------
    EnvironmentUnfit
        Somebody else holds it for longer.
    OSError
        The folder cannot be written.
    """
    # Here, since there are systems without it, on which everything else of doseflow runs.
    import fcntl

    give_up_seconds = time.monotonic() + patience_seconds
    with (folder / ".lock").open("ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= give_up_seconds:
                    why = f"is being changed by somebody else for more than {patience_seconds:g} s"
                    raise EnvironmentUnfit(f"models.folder: {folder} {why}") from None
                time.sleep(RETRY_SECONDS)
        yield
