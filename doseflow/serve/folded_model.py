"""A net with free axes fixed, so that what is left has no shape arithmetic and can run on a card alone."""

from __future__ import annotations

import tempfile
from pathlib import Path

import onnxruntime  # type: ignore[import-untyped]

from doseflow.serve.axes import Sizes
from doseflow.serve.onnx_engine import opened_session
from doseflow.serve.onnx_environment import use_what_is_shared

_ERRORS_ONLY = 3


def folded_model(model: bytes, shape: Sizes) -> bytes:
    """
    The model with these axes fixed and all shape arithmetic folded away.

    Raises
    ------
    ModelWrong
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    # What goes beyond the basic level is no standard ONNX any more.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    for axis, length in shape.items():
        options.add_free_dimension_override_by_name(axis, length)
    use_what_is_shared(options)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "folded.onnx"
        options.optimized_model_filepath = str(file)
        opened_session(model, options, ["CPUExecutionProvider"])
        return file.read_bytes()
