"""
Memory of several nets together and apart.

Three nets: the arrival net, the site value net, and a second arrival net as a candidate that is being tried. Apart is
each in a process of its own with its own threads and arena; `sessions` is one process in which each has its own;
together is one process with one pool and one arena. Each is measured in a fresh process above what that had before it
opened a net, so that libraries count for nobody.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Sequence

from doseflow.bench.figures import Figure
from doseflow.errors import EnvironmentUnfit

NETS = ("forecaster", "policy", "forecaster")
TARGET_SHARE = 0.35
MEBIBYTE = 2**20


def memory_figures(num_times: int = 3) -> list[Figure]:
    """Peak memory by way, and the share that is saved."""
    apart = sum(_peak_bytes("own", [net], num_times) for net in NETS)
    sessions = _peak_bytes("own", NETS, num_times)
    together = _peak_bytes("shared", NETS, num_times)
    told = {"nets": ", ".join(NETS), "sites": 200}
    peaks = [
        Figure("peak_memory", peak / MEBIBYTE, "MiB", told | {"way": way}, num_times)
        for way, peak in (("processes", apart), ("sessions", sessions), ("together", together))
    ]
    saved = 1 - together / apart
    of_sessions = 1 - together / sessions
    return [
        *peaks,
        Figure(
            "memory_saved_share",
            saved,
            "1",
            told | {"against": "processes"},
            num_times,
            target=TARGET_SHARE,
            met=saved >= TARGET_SHARE,
        ),
        Figure("memory_saved_share", of_sessions, "1", told | {"against": "sessions"}, num_times),
    ]


def _peak_bytes(way: str, nets: Sequence[str], num_times: int) -> float:
    command = [sys.executable, "-m", "doseflow.bench.inference.memory_worker", way, *nets]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    told = []
    for _ in range(num_times):
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
        if ended.returncode:
            raise EnvironmentUnfit(f"memory of {', '.join(nets)} could not be measured: {ended.stderr.strip()[-200:]}")
        told.append(int(ended.stdout))
    return statistics.median(told)
