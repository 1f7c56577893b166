"""OnnxEngine: a net run by ONNX Runtime on the processor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnxruntime  # type: ignore[import-untyped]
from numpy.typing import NDArray

from doseflow.errors import EngineFailed, ModelWrong

_ERRORS_ONLY = 3
WARM_UP_RUNS = 2
"""The first run of a shape plans its memory."""


class OnnxEngine:
    """
    A model in memory, ready to answer; thread-safe.

    It shares the machine with everything else of a cycle: few threads, which sleep between runs instead of spinning,
    and memory that is given back, so that one large city does not hold it for ever.

    Parameters
    ----------
    model
        An ONNX file's bytes, with all weights inside.
    num_threads
        Threads of one run.

    Raises
    ------
    ModelWrong
        ONNX Runtime cannot open the model.
    """

    def __init__(self, model: bytes, *, name: str = "onnx_cpu", num_threads: int = 1) -> None:
        self.name = name
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = num_threads
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.enable_cpu_mem_arena = False
        options.log_severity_level = _ERRORS_ONLY
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library has no error class that is its own for all of them
            raise ModelWrong(f"model.onnx: ONNX Runtime cannot open it: {_first_line(error)}") from error
        self.input_names = tuple(one.name for one in self._session.get_inputs())
        self.output_names = tuple(one.name for one in self._session.get_outputs())

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """
        Every output by name.

        Raises
        ------
        EngineFailed
            An input is missing or has another type or shape, or the run itself failed.
        """
        missing = [name for name in self.input_names if name not in inputs]
        if missing:
            raise EngineFailed(f"{self.name}: inputs must have {', '.join(missing)}")
        try:
            outputs = self._session.run(None, {name: inputs[name] for name in self.input_names})
        except Exception as error:  # as above
            raise EngineFailed(f"{self.name}: {_first_line(error)}") from error
        return dict(zip(self.output_names, outputs, strict=True))

    def warm_up(self, inputs: Mapping[str, NDArray[Any]]) -> None:
        """
        Run a few times for nothing, so that the first city does not wait for it.

        Raises
        ------
        EngineFailed
        """
        for _ in range(WARM_UP_RUNS):
            self.run(inputs)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
