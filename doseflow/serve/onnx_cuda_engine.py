"""OnnxCudaEngine: a net run by ONNX Runtime on an NVIDIA card, as one recorded graph for each shape."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray

from doseflow.errors import EngineFailed, EngineUnfit
from doseflow.serve.axes import Arrays, Axes, Sizes, axes_of_model, cut, padded_to, shape_in
from doseflow.serve.fixed_shapes import answered_in_pieces, shape_for, shapes_for, text_of
from doseflow.serve.onnx_engine import first_line, opened_session
from doseflow.serve.onnx_environment import use_what_is_shared

_ERRORS_ONLY = 3
_CAPTURE_RUNS = 3
"""The first run allocates, the next records, the last replays."""
_DTYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int64)": np.int64}


class OnnxCudaEngine:
    """
    A model on the card, one session for each shape; thread-safe, one run at a time.

    Each session has every axis fixed, so that ONNX Runtime folds all shape arithmetic away: what is left runs on the
    card alone, and can be recorded once and replayed with one launch. Inputs are padded to the smallest shape.

    Parameters
    ----------
    sites, batches
        Sites of every shape, and cities of each.
    captures
        Record graphs, for which nothing may run on the processor; without, the same sessions run node by node.

    Raises
    ------
    EngineUnfit
        ONNX Runtime has no CUDA here.
    EngineFailed
        A run at opening failed.
    ModelWrong
        ONNX Runtime cannot open the model.
    """

    def __init__(self, model: bytes, *, sites: int, batches: Sequence[int] = (1, 8, 32), captures: bool = True) -> None:
        if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
            raise EngineUnfit("onnx_cuda: this build of onnxruntime has no CUDA; put onnxruntime-gpu in its place")
        if hasattr(onnxruntime, "preload_dlls"):
            onnxruntime.preload_dlls()
        self.name = "onnx_cuda"
        self.captures = captures
        self.input_axes, self.output_axes = axes_of_model(model)
        self._asking = threading.Lock()
        self._shapes = shapes_for(self.input_axes, sites, batches)
        self._shaped = {
            tuple(shape.values()): _ShapedSession(model, shape, self.input_axes, self.output_axes, captures)
            for shape in self._shapes
        }

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """
        Every output by name.

        Raises
        ------
        EngineFailed
            The inputs fit no shape, or the run itself failed.
        """
        return answered_in_pieces(self._answered, inputs, self.input_axes, self._shapes)

    def _answered(self, inputs: Arrays) -> dict[str, NDArray[Any]]:
        sizes, shape = shape_for(self.name, inputs, self.input_axes, self._shapes)
        session = self._shaped[tuple(shape.values())]
        try:
            with self._asking:
                outputs = session.run(inputs)
        except Exception as error:  # the library has no error class that is its own for all of them
            raise EngineFailed(f"{self.name}: {first_line(error)}") from error
        return cut(outputs, self.output_axes, sizes)


class _ShapedSession:
    """One session with every axis fixed, and the memory on the card that it reads and writes."""

    def __init__(self, model: bytes, shape: Sizes, input_axes: Axes, output_axes: Axes, captures: bool) -> None:
        self.shape = shape
        self._session = opened_session(model, cuda_options(shape, captures), [_provider(captures)])
        if self._session.get_providers()[0] != "CUDAExecutionProvider":
            raise EngineUnfit("onnx_cuda: ONNX Runtime could not start CUDA; look at its log")
        self._binding = self._session.io_binding()
        self._input_shapes = {name: shape_in(told, shape) for name, told in input_axes.items()}
        types = {one.name: _DTYPES[one.type] for one in (*self._session.get_inputs(), *self._session.get_outputs())}
        self._inputs = {name: _on_card(at, types[name]) for name, at in self._input_shapes.items()}
        self._outputs = {name: _on_card(shape_in(told, shape), types[name]) for name, told in output_axes.items()}
        for name, value in self._inputs.items():
            self._binding.bind_ortvalue_input(name, value)
        for name, value in self._outputs.items():
            self._binding.bind_ortvalue_output(name, value)
        for _ in range(_CAPTURE_RUNS):
            self._run()

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        for name, value in self._inputs.items():
            value.update_inplace(padded_to(inputs[name], self._input_shapes[name]))
        self._run()
        return {name: value.numpy() for name, value in self._outputs.items()}

    def _run(self) -> None:
        try:
            self._session.run_with_iobinding(self._binding)
        except Exception as error:  # as above
            raise EngineFailed(f"onnx_cuda at {text_of(self.shape)}: {first_line(error)}") from error


def cuda_options(shape: Sizes, captures: bool) -> onnxruntime.SessionOptions:
    """Options of a session whose free axes have these lengths; to be recorded, nothing may run on the processor."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ERRORS_ONLY
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if captures:
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    for axis, length in shape.items():
        options.add_free_dimension_override_by_name(axis, length)
    use_what_is_shared(options)
    return options


def _provider(captures: bool) -> tuple[str, dict[str, str]]:
    return "CUDAExecutionProvider", {
        "enable_cuda_graph": "1" if captures else "0",
        "arena_extend_strategy": "kSameAsRequested",
        "use_tf32": "0",
    }


def _on_card(shape: tuple[int, ...], dtype: type) -> onnxruntime.OrtValue:
    return onnxruntime.OrtValue.ortvalue_from_numpy(np.zeros(shape, dtype=dtype), "cuda", 0)
