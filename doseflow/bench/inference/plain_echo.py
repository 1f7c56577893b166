"""An engine that loads nothing, so that its process can be started many times."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray


class PlainEcho:
    """Answers with its own process's number."""

    name = "echo"

    def run(self, inputs: object) -> dict[str, NDArray[np.int64]]:
        """The number."""
        del inputs
        return {"pid": np.array([os.getpid()])}
