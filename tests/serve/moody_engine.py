"""An engine that can be told to hang, to die or to fail; it loads little, so that many processes can be started."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from doseflow.errors import EngineFailed, ModelWrong

HANGS, DIES, FAILS = -1.0, -2.0, -3.0


class Moody:
    """Doubles `x`, unless its first number says otherwise."""

    name = "moody"

    def run(self, inputs):
        x = inputs["x"]
        if x.size and x.flat[0] == HANGS:
            time.sleep(60)
        if x.size and x.flat[0] == DIES:
            os.kill(os.getpid(), signal.SIGKILL)
        if x.size and x.flat[0] == FAILS:
            raise EngineFailed("moody: not today")
        return {"y": 2 * x, "pid": np.array([os.getpid()])}


def refusing():
    raise ModelWrong("golden check: y is off by 1, more than 0.0001")


def opens_after(flag: Path):
    if not flag.exists():
        raise ModelWrong("not there yet")
    return Moody()
