"""Precisions a net can run in, from the finest to the coarsest, and what each may be off by."""

from __future__ import annotations

from typing import Literal

Precision = Literal["fp32", "fp16", "int8"]

PRECISIONS: tuple[Precision, ...] = ("fp32", "fp16", "int8")
MODEL_FILES: dict[Precision, str] = {"fp32": "model.onnx", "fp16": "model.fp16.onnx", "int8": "model.int8.onnx"}
WIDEST_TOLERANCE: dict[Precision, float] = {"fp32": 1e-4, "fp16": 0.05, "int8": 0.9}
"""
The most that a manifest may allow an engine to be off a golden output, in its unit or, above 1, as a share of it. It
finds an engine that answers zeros; whether a precision is good enough is for the gates on decisions.
"""
MOST_SIZE_OFF: dict[Precision, float] = {"fp32": 1e-3, "fp16": 0.02, "int8": 0.1}
"""
Root mean square of what an output may be off, as a share of its own. The shipped INT8 files are 0.05 (policy) and 0.008
(forecaster) off their golden outputs on a processor.
"""


def is_finer_or_same(precision: Precision, lowest: Precision) -> bool:
    """Whether a precision is at least as fine as another."""
    return PRECISIONS.index(precision) <= PRECISIONS.index(lowest)
