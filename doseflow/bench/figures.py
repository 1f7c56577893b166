"""A figure as others read it: value, unit, what it was measured on, how often, its interval, its target."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from doseflow import __version__

BOOTSTRAP_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure; `ci95` is a bootstrap interval, None where none was made; `met` is None without a target."""

    name: str
    value: float
    unit: str
    params: dict[str, Any]
    n: int
    seed: int | None = None
    ci95: tuple[float, float] | None = None
    target: float | None = None
    met: bool | None = None
    notes: str = ""


@dataclass(frozen=True)
class Machine:
    """Where it was measured."""

    processor: str
    cores: int
    memory_gibibytes: float
    system: str
    python: str
    packages: dict[str, str] = field(default_factory=dict)


def this_machine() -> Machine:
    """The machine at hand, as Linux tells it."""
    return Machine(
        processor=_first_line("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        memory_gibibytes=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
    )


def percentile_figure(
    name: str,
    samples_milliseconds: Sequence[float],
    percentile: float,
    params: dict[str, Any],
    *,
    seed: int,
    target: float | None,
) -> Figure:
    """A percentile of latencies with its bootstrap 95 % interval."""
    samples = np.asarray(samples_milliseconds, dtype=np.float64)
    value = float(np.percentile(samples, percentile))
    draws = np.random.default_rng(0).choice(samples, size=(BOOTSTRAP_RESAMPLES, samples.size))
    low, high = np.percentile(np.percentile(draws, percentile, axis=1), [2.5, 97.5])
    return Figure(
        name,
        value,
        "milliseconds",
        params,
        n=samples.size,
        seed=seed,
        ci95=(float(low), float(high)),
        target=target,
        met=None if target is None else value <= target,
    )


def write_figures(path: Path, figures: Sequence[Figure], facts: Mapping[str, Any] | None = None) -> None:
    """Write figures in the agreed form; `facts` are further fields beside them, of what was measured."""
    document = {
        "command": sys.argv,
        "version": __version__,
        "machine": asdict(this_machine()),
        **(facts or {}),
        "figures": [asdict(figure) for figure in figures],
    }
    path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY))


def _first_line(path: str, start: str) -> str | None:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(start)), None)
