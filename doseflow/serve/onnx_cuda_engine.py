"""OnnxCudaEngine: a net run by ONNX Runtime on an NVIDIA card, as one recorded graph for each shape."""

from __future__ import annotations

from collections.abc import Sequence

import onnxruntime  # type: ignore[import-untyped]
import structlog

from doseflow.errors import DoseflowError, EngineUnfit
from doseflow.serve.axes import Sizes
from doseflow.serve.cuda_driver import CudaStream
from doseflow.serve.engine_params import CUDA_BATCHES
from doseflow.serve.fixed_shapes_engine import FixedShapesEngine
from doseflow.serve.onnx_engine import opened_session
from doseflow.serve.onnx_environment import use_what_is_shared

log = structlog.get_logger(__name__)

_ERRORS_ONLY = 3


class OnnxCudaEngine(FixedShapesEngine):
    """
    A model on the card.

    Each session has every axis fixed, so that ONNX Runtime folds all shape arithmetic away: what is left runs on the
    card alone, and can be recorded once and replayed with one launch.

    Parameters
    ----------
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

    def __init__(
        self, model: bytes, *, sites: int, batches: Sequence[int] = CUDA_BATCHES, captures: bool = True
    ) -> None:
        if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
            raise EngineUnfit("onnx_cuda: this build of onnxruntime has no CUDA; put onnxruntime-gpu in its place")
        if hasattr(onnxruntime, "preload_dlls"):
            onnxruntime.preload_dlls()
        self.captures = captures

        def open_session(shape: Sizes) -> onnxruntime.InferenceSession:
            session = opened_session(model, cuda_options(shape, captures), [_provider(captures)])
            if session.get_providers()[0] != "CUDAExecutionProvider":
                raise EngineUnfit("onnx_cuda: ONNX Runtime could not start CUDA; look at its log")
            return session

        super().__init__(
            "onnx_cuda",
            model,
            sites=sites,
            batches=batches,
            open_session=open_session,
            device="cuda",
            stream=_stream(),
        )


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


def _stream() -> CudaStream | None:
    """For pinned memory; the engine runs without as well, only slower."""
    try:
        return CudaStream()
    except (DoseflowError, AttributeError) as error:
        log.warning("memory_not_pinned", why=str(error))
        return None
