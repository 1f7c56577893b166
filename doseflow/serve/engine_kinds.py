"""Every kind of engine: where it runs, why it cannot run here, and how it is opened."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from doseflow.errors import EngineFailed, EngineUnfit, ModelWrong
from doseflow.ports import Engine
from doseflow.serve.bundle import Bundle
from doseflow.serve.cuda_driver import why_no_device
from doseflow.serve.engine_params import EngineName, EngineParams
from doseflow.serve.precision import PRECISIONS, Precision

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EngineKind:
    """
    One kind; `device` is that of the verdicts in a bundle's manifest.

    `why_not` says in a sentence what is missing on this machine, None where nothing is; `open_net` opens a bundle's net
    in a precision, and raises `EngineUnfit` or `ModelWrong` where it cannot.
    """

    name: EngineName
    device: str
    why_not: Callable[[], str | None]
    open_net: Callable[[Bundle, Precision, EngineParams], Engine]

    @property
    def is_accelerator(self) -> bool:
        """Whether it runs on a device whose driver may hang."""
        return self.device != "cpu"


def precisions_for(bundle: Bundle, kind: EngineKind, asked: Precision | None) -> tuple[Precision, ...]:
    """
    The precisions that may serve, in the order in which they are tried: the one asked for alone, or all that the
    manifest allows on the engine's device, the coarsest first.

    Raises
    ------
    EngineUnfit
        The manifest says that the one asked for must not serve there, and why.
    ModelWrong
        The bundle has none of it.
    """
    if asked is not None:
        why = bundle.manifest.variant(asked).why_not_on(kind.device)
        if why is not None:
            raise EngineUnfit(f"{bundle.manifest.name} in {asked} does not serve on {kind.device}: {why}")
        return (asked,)
    allowed = {one.precision for one in bundle.manifest.variants if one.serves_on(kind.device)}
    return tuple(sorted(allowed, key=PRECISIONS.index, reverse=True))


def _why_no_library(name: str, how: str) -> str | None:
    return None if importlib.util.find_spec(name) is not None else f"the library {name} is missing; {how}"


def _why_no_tensorrt() -> str | None:
    return _why_no_library("tensorrt", "install NVIDIA's wheel of TensorRT 10.12 or newer") or why_no_device()


def _why_no_tensorrt_rtx() -> str | None:
    return _why_no_library("tensorrt_rtx", "run `pip install 'doseflow[tensorrt-rtx]'`") or why_no_device()


def _why_no_openvino() -> str | None:
    return _why_no_library("openvino", "run `pip install 'doseflow[openvino]'`")


def _why_no_onnx_cuda() -> str | None:
    import onnxruntime  # type: ignore[import-untyped]

    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        return "this build of onnxruntime has no CUDA; put onnxruntime-gpu in its place"
    return why_no_device()


def _open_onnx_cpu(bundle: Bundle, precision: Precision, params: EngineParams) -> Engine:
    from doseflow.serve.onnx_engine import OnnxEngine, OnnxParams

    onnx_params = OnnxParams(num_threads=params.num_threads, shares_memory=params.shares_memory)
    return OnnxEngine(bundle.model_of(precision), params=onnx_params)


def _open_onnx_cuda(bundle: Bundle, precision: Precision, params: EngineParams) -> Engine:
    from doseflow.serve.onnx_cuda_engine import OnnxCudaEngine

    # Without gathering a city is alone, and each shape takes memory on the card.
    model, batches = bundle.model_of(precision), params.batches if params.batching.is_on else (1,)
    try:
        return OnnxCudaEngine(model, sites=params.sites, batches=batches)
    except (ModelWrong, EngineFailed) as error:
        log.warning("cuda_graph_refused", net=bundle.manifest.name, precision=precision, why=str(error))
        return OnnxCudaEngine(model, sites=params.sites, batches=batches, captures=False)


def _open_openvino(bundle: Bundle, precision: Precision, params: EngineParams) -> Engine:
    from doseflow.serve.openvino_engine import OpenvinoEngine

    return OpenvinoEngine(bundle.model_of(precision), num_threads=params.num_threads)


def _open_tensorrt(bundle: Bundle, precision: Precision, params: EngineParams) -> Engine:
    from doseflow.serve.tensorrt.opened_folder import open_built_engine

    return open_built_engine("tensorrt", bundle, precision, params.folder)


def _open_tensorrt_rtx(bundle: Bundle, precision: Precision, params: EngineParams) -> Engine:
    from doseflow.serve.tensorrt.opened_folder import open_built_engine

    return open_built_engine("tensorrt-rtx", bundle, precision, params.folder)


ENGINE_KINDS: dict[EngineName, EngineKind] = {
    kind.name: kind
    for kind in (
        EngineKind("tensorrt", "cuda", _why_no_tensorrt, _open_tensorrt),
        EngineKind("tensorrt_rtx", "cuda", _why_no_tensorrt_rtx, _open_tensorrt_rtx),
        EngineKind("onnx_cuda", "cuda", _why_no_onnx_cuda, _open_onnx_cuda),
        EngineKind("openvino", "cpu", _why_no_openvino, _open_openvino),
        EngineKind("onnx_cpu", "cpu", lambda: None, _open_onnx_cpu),
    )
}
