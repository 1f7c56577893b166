"""OpenvinoEngine: a net run by OpenVINO on the processor."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow.errors import EngineFailed, ModelWrong
from doseflow.serve.axes import axes_of_model, sizes_of


class OpenvinoEngine:
    """
    A model compiled for this processor; thread-safe, one run at a time.

    Raises
    ------
    ModelWrong
        OpenVINO cannot open or compile the model.
    """

    def __init__(self, model: bytes, *, num_threads: int = 1) -> None:
        self.name = "openvino"
        self._input_axes, _ = axes_of_model(model)
        options = {
            "INFERENCE_NUM_THREADS": num_threads,
            "NUM_STREAMS": 1,
            "PERFORMANCE_HINT": "LATENCY",
            # Where the processor could: precision lies in the graph, and not in what a library prefers.
            "INFERENCE_PRECISION_HINT": "f32",
        }
        try:
            core = import_module("openvino").Core()
            self._compiled = core.compile_model(core.read_model(model, b""), "CPU", options)
        except Exception as error:  # the library has no error class that is its own for all of them
            raise ModelWrong(f"model.onnx: OpenVINO cannot open it: {_last_line(error)}") from error
        self._request = self._compiled.create_infer_request()
        self._asking = threading.Lock()
        self._dtypes = {one.any_name: np.dtype(one.element_type.to_dtype()) for one in self._compiled.inputs}
        self._output_names = tuple(one.any_name for one in self._compiled.outputs)

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """
        Every output by name.

        Raises
        ------
        EngineFailed
            An input is missing or has another type or shape, or the run itself failed.
        """
        # OpenVINO would stretch and convert in silence.
        sizes_of(inputs, self._input_axes)
        for name, dtype in self._dtypes.items():
            if inputs[name].dtype != dtype:
                raise EngineFailed(f"{self.name}: {name} must be {dtype}, got {inputs[name].dtype}")
        try:
            with self._asking:
                self._request.infer({name: inputs[name] for name in self._dtypes})
                return {name: self._request.get_tensor(name).data.copy() for name in self._output_names}
        except Exception as error:  # as above
            raise EngineFailed(f"{self.name}: {_last_line(error)}") from error


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
