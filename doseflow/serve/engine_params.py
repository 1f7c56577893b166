"""Which engines are tried, in which order, and how they are run: the settings section `engines`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, MinLen
from pydantic import BeforeValidator

from doseflow.serve.precision import Precision

EngineName = Literal["tensorrt", "tensorrt_rtx", "onnx_cuda", "openvino", "onnx_cpu"]

SITES, BATCHES = 256, (1, 8, 32)
"""Shapes that an engine of fixed shapes is made for, unless something else is said."""
CUDA_BATCHES = (1, 2, 4, 8, 12, 16, 24, 32)
"""The same where a shape costs a second at opening and some memory, and no build."""
MOST_BATCH = 32


@dataclass(frozen=True, slots=True)
class BatchParams:
    """How questions of several cities are gathered; see `serve/batcher.py`."""

    is_on: bool = False
    """Gather at all; a process with one city has nothing to gather."""
    most_together: Annotated[int, Ge(1), Le(32)] = 32
    """Questions answered in one run at most."""
    most_sites: Annotated[int, Ge(1), Le(1_000_000)] = 8192
    """Sites of one run at most, padding counted; the first question may have more."""
    gather_milliseconds: Annotated[float, Ge(0), Le(1000)] = 45.0
    """
    How long the first question waits for others, never past half of its time: within the 100 ms that an answer may
    take, the wait, a run before it, and its own.
    """
    most_waiting: Annotated[int, Ge(1), Le(10_000)] = 256
    """Questions that wait at most; one more is refused at once."""
    most_waiting_of_city: Annotated[int, Ge(1), Le(10_000)] = 32
    """The same for one city, so that none can fill the queue."""


def _split(given: Any) -> Any:
    """Names with commas between them, as a variable of the environment has them."""
    return tuple(one.strip() for one in given.split(",")) if isinstance(given, str) else given


@dataclass(frozen=True, slots=True)
class EngineParams:
    """How both nets are run."""

    order: Annotated[tuple[EngineName, ...], MinLen(1), BeforeValidator(_split)] = ("onnx_cpu",)
    """
    Engines in order of preference: tensorrt, tensorrt_rtx, onnx_cuda, openvino, onnx_cpu. The first that runs here and
    gives the golden answers serves.
    """
    precision: Precision | None = None
    """fp32, fp16 or int8; not set is the coarsest that the bundle's manifest lets serve on the engine's device."""
    num_threads: Annotated[int, Ge(1), Le(16)] = 1
    """Threads of one run on a processor."""
    shares_memory: bool = False
    """One pool of threads and one arena for all nets of the process; see docs/background/engines.md."""
    in_own_process: bool | None = None
    """Run each net in a process of its own; not set is yes on an accelerator, whose driver may hang, and else no."""
    starts_on_cpu: bool = True
    """Where the first in order is an accelerator's: let onnx_cpu answer while that is opened or built."""
    deadline_milliseconds: Annotated[float, Ge(1), Le(60_000)] = 1000.0
    """By when after a cycle's start both nets must have answered; what is late is left to bookings_first and rules."""
    folder: str | None = None
    """Folder of built TensorRT engines (`doseflow engine build`), and of what they keep between starts."""
    batches: Annotated[tuple[Annotated[int, Ge(1), Le(MOST_BATCH)], ...], MinLen(1), BeforeValidator(_split)] = (
        CUDA_BATCHES
    )
    """Cities of each shape that onnx_cuda is opened for, where questions are gathered; a run takes the next larger."""
    sites: Annotated[int, Ge(1), Le(4096)] = SITES
    """Sites that an accelerator's engine is made for: at least those of the city's bucket, or it fails every cycle."""
    batching: BatchParams = field(default_factory=BatchParams)
