"""OnnxEngine: a net run by ONNX Runtime on the processor."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import onnxruntime  # type: ignore[import-untyped]
from annotated_types import Ge, Le
from numpy.typing import NDArray

from doseflow.errors import EngineFailed, EngineTimedOut, ModelWrong
from doseflow.serve.onnx_environment import share_threads_and_memory, use_what_is_shared
from doseflow.telemetry.deadline import current_deadline

_ERRORS_ONLY = 3
WARM_UP_RUNS = 2
"""The first run of a shape plans its memory."""


@dataclass(frozen=True, slots=True)
class OnnxParams:
    """How ONNX Runtime uses the processor; what `doseflow bench engines` measures gave the defaults."""

    num_threads: Annotated[int, Ge(1), Le(16)] = 1
    """Threads of one run, which sleep between runs instead of spinning: a cycle has other work for them."""
    shares_memory: bool = False
    """One pool of threads and one arena for all nets of the process; the first net decides how many threads."""
    has_arena: bool = False
    """Keep memory between runs; without, one large city does not hold it for ever."""
    binds_outputs: bool = False
    """Go through ONNX Runtime's binding of arrays; on a processor there is no copy that it would save."""


class OnnxEngine:
    """
    A model in memory, ready to answer; thread-safe.

    A run that begins after its deadline, or is not done by it, is an `EngineTimedOut`; a run on the processor always
    ends, so that nothing has to be killed for it.

    Parameters
    ----------
    model
        An ONNX file's bytes, with all weights inside.
    num_threads
        Threads of one run, where `params` are not given.

    Raises
    ------
    ModelWrong
        ONNX Runtime cannot open the model.
    """

    def __init__(
        self, model: bytes, *, name: str = "onnx_cpu", num_threads: int = 1, params: OnnxParams | None = None
    ) -> None:
        self.name = name
        self._params = params or OnnxParams(num_threads=num_threads)
        self._session = opened_session(model, session_options(self._params), ["CPUExecutionProvider"])
        self.input_names = tuple(one.name for one in self._session.get_inputs())
        self.output_names = tuple(one.name for one in self._session.get_outputs())

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """
        Every output by name.

        Raises
        ------
        EngineFailed
            An input is missing or has another type or shape, or the run itself failed.
        EngineTimedOut
            The deadline that holds here has passed.
        """
        deadline = current_deadline()
        _refuse_late(self.name, deadline)
        missing = [name for name in self.input_names if name not in inputs]
        if missing:
            raise EngineFailed(f"{self.name}: inputs must have {', '.join(missing)}")
        try:
            outputs = self._outputs({name: inputs[name] for name in self.input_names})
        except Exception as error:  # the library has no error class that is its own for all of them
            raise EngineFailed(f"{self.name}: {first_line(error)}") from error
        _refuse_late(self.name, deadline)
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

    def _outputs(self, inputs: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
        if not self._params.binds_outputs:
            outputs: list[NDArray[Any]] = self._session.run(None, inputs)
            return outputs
        binding = self._session.io_binding()
        for name, array in inputs.items():
            binding.bind_cpu_input(name, array)
        for name in self.output_names:
            binding.bind_output(name)
        self._session.run_with_iobinding(binding)
        copied: list[NDArray[Any]] = binding.copy_outputs_to_cpu()
        return copied


def session_options(params: OnnxParams) -> onnxruntime.SessionOptions:
    """Options of a session on the processor."""
    options = onnxruntime.SessionOptions()
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = _ERRORS_ONLY
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if params.shares_memory:
        share_threads_and_memory(params.num_threads)
    if not use_what_is_shared(options):
        options.intra_op_num_threads = params.num_threads
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = params.has_arena
    return options


def opened_session(
    model: bytes, options: onnxruntime.SessionOptions, providers: list[Any]
) -> onnxruntime.InferenceSession:
    """
    A session of a model.

    Raises
    ------
    ModelWrong
        ONNX Runtime cannot open the model.
    """
    try:
        return onnxruntime.InferenceSession(model, options, providers=providers)
    except Exception as error:  # the library has no error class that is its own for all of them
        raise ModelWrong(f"model.onnx: ONNX Runtime cannot open it: {first_line(error)}") from error


def first_line(error: Exception) -> str:
    """What an error says, in one line."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _refuse_late(name: str, deadline: float | None) -> None:
    late_seconds = 0.0 if deadline is None else time.monotonic() - deadline
    if late_seconds > 0:
        raise EngineTimedOut(f"{name}: no answer by the deadline; it passed {1000 * late_seconds:.0f} ms ago")
