"""Whether engine files can run with the library, driver and card at hand; where not, what to do."""

from __future__ import annotations

from typing import Any

from doseflow.errors import EngineUnfit, ModelWrong
from doseflow.serve.cuda_driver import CudaDevice, cuda_device
from doseflow.serve.tensorrt.engine_manifest import EngineManifest
from doseflow.serve.tensorrt.library import TensorrtLibrary

_WHAT_TO_DO = {
    "VERSION_MISMATCH": "it was built by another version; build it again with the one installed",
    "UNSUPPORTED_CC": "it was not built for this card; build it with the card's --compute-capability",
    "OLD_CUDA_DRIVER": "the NVIDIA driver is too old; install a newer one",
    "OLD_CUDA_RUNTIME": "the CUDA runtime is too old; install a newer one",
    "INSUFFICIENT_GPU_MEMORY": "the card has too little memory left",
    "MALFORMED_ENGINE": "the file is no engine; build it again",
    "CUDA_ERROR": "CUDA reports an error; look at `nvidia-smi`",
}


def require_fit(manifest: EngineManifest, library: TensorrtLibrary) -> None:
    """
    Refuse engines that the library at hand could not load.

    Raises
    ------
    EngineUnfit
    """
    if manifest.library_version != library.version:
        raise EngineUnfit(
            f"built with {manifest.backend} {manifest.library_version}, and {library.version} is installed, which does"
            " not load it; run `doseflow engine build` again"
        )
    require_card(manifest, cuda_device())


def require_card(manifest: EngineManifest, card: CudaDevice) -> None:
    """
    Refuse engines that were made for another card.

    Raises
    ------
    EngineUnfit
    """
    if manifest.capabilities and card.capability not in manifest.capabilities:
        why = f" ({manifest.left_out[card.capability]})" if card.capability in manifest.left_out else ""
        raise EngineUnfit(
            f"built for compute capability {', '.join(manifest.capabilities)}, and {card.name} has"
            f" {card.capability}{why}; run `doseflow engine build --compute-capability {card.capability}`"
        )
    if manifest.card is not None and manifest.card != card.name:
        raise EngineUnfit(f"built on {manifest.card}, and this is {card.name}; run `doseflow engine build` here")
    if manifest.driver_version is not None and card.driver_version < manifest.driver_version:
        raise EngineUnfit(
            f"built with CUDA {_cuda(manifest.driver_version)}, and this driver speaks {_cuda(card.driver_version)};"
            " install a newer driver or build it here"
        )


def require_valid(library: TensorrtLibrary, runtime: Any, name: str, engine: bytes) -> None:
    """
    Ask TensorRT for RTX whether it would load an engine; TensorRT cannot be asked.

    Raises
    ------
    EngineUnfit
    ModelWrong
        The file is no engine.
    """
    if not library.is_rtx:
        return
    trt = library.module
    validity, reasons = runtime.get_engine_validity(engine)
    if validity in (trt.EngineValidity.VALID, trt.EngineValidity.SUBOPTIMAL):
        return
    flags = trt.EngineInvalidityDiagnostics.__members__.items()
    found = [key for key, flag in flags if int(reasons) & int(flag)]
    # No reason at all is what a machine without a driver gets.
    told = "; ".join(_WHAT_TO_DO.get(key, key) for key in found) or "no card can be asked"
    raise (ModelWrong if "MALFORMED_ENGINE" in found else EngineUnfit)(f"{name}: {told}")


def _cuda(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"
