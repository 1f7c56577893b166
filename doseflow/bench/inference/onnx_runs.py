"""A net run by ONNX Runtime on the processor or through its CUDA provider, for measuring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnxruntime  # type: ignore[import-untyped]

from doseflow.errors import EnvironmentUnfit
from doseflow.export.random_inputs import Arrays

_CUDA = "CUDAExecutionProvider"


def session_of(
    model: bytes,
    device: str,
    *,
    num_threads: int | None = None,
    is_optimised: bool = True,
    sizes: Mapping[str, int] | None = None,
    has_graph: bool = False,
) -> Any:
    """
    A session.

    Parameters
    ----------
    sizes
        Sizes of free axes by letter, which are fixed then; what follows from them is computed when the model is loaded.
    has_graph
        Record a CUDA graph; needs `sizes`.

    Raises
    ------
    EnvironmentUnfit
        This ONNX Runtime has no such provider.
    """
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = num_threads or 0
    if not is_optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    for letter, size in (sizes or {}).items():
        options.add_free_dimension_override_by_name(letter, size)
    if device == "cpu":
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    if _CUDA not in onnxruntime.get_available_providers():
        raise EnvironmentUnfit("device cuda: needs the package onnxruntime-gpu in place of onnxruntime")
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1" if has_graph else "0")
    cuda = (_CUDA, {"enable_cuda_graph": "1" if has_graph else "0", "use_tf32": "0"})
    session = onnxruntime.InferenceSession(model, options, providers=[cuda])
    if _CUDA not in session.get_providers():
        raise EnvironmentUnfit(
            "device cuda: ONNX Runtime's CUDA provider did not load: see that its libraries are found"
        )
    return session


class PlainRun:
    """A session that is given host arrays."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def __call__(self, inputs: Arrays) -> list[Any]:
        """From host arrays to host arrays."""
        return list(self._session.run(None, inputs))


class BoundRun:
    """
    A session whose inputs and outputs of one size keep their places on the card; a recorded graph needs that.

    Parameters
    ----------
    outputs
        Arrays of the outputs' sizes, in the model's order.
    """

    def __init__(self, session: Any, inputs: Arrays, outputs: Arrays, device: str = "cuda") -> None:
        self._session, self._binding = session, session.io_binding()
        self._inputs, self._outputs = _placed(inputs, device), _placed(outputs, device)
        for name, placed in self._inputs.items():
            self._binding.bind_ortvalue_input(name, placed)
        for name, placed in self._outputs.items():
            self._binding.bind_ortvalue_output(name, placed)

    def __call__(self, inputs: Arrays) -> list[Any]:
        """From host arrays to host arrays."""
        for name, array in inputs.items():
            self._inputs[name].update_inplace(array)
        self._session.run_with_iobinding(self._binding)
        return [placed.numpy() for placed in self._outputs.values()]


def _placed(arrays: Arrays, device: str) -> dict[str, Any]:
    return {name: onnxruntime.OrtValue.ortvalue_from_numpy(array, device, 0) for name, array in arrays.items()}
