"""
One net, one shape, one engine file; and the process of its own that each is built in.

In a fresh process the same net gives the same bytes; a second build in one process may not.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doseflow.errors import DoseflowError, EngineUnfit, ModelWrong
from doseflow.serve.axes import BATCH_AXIS, Axes, Sizes, axes_of_model, shape_in
from doseflow.serve.tensorrt.build_log import BuildReport, Listener, report_of
from doseflow.serve.tensorrt.library import Backend, TensorrtLibrary, load_library

WORKSPACE_BYTES = 512 * 2**20
"""Most that one kernel may use beside its inputs and outputs."""
BUILD_SECONDS = 600.0
_PACKAGE_FOLDER = Path(__file__).parents[3]


@dataclass(frozen=True)
class BuildOrder:
    """
    What is to be built.

    `shapes` is one shape, or three of which the batch may lie between the first and the last and is fastest at the
    second. `capabilities` are compute capabilities for TensorRT for RTX; none is the card at hand. `timings` is what
    earlier builds on this card measured, empty at first; only TensorRT uses it.
    """

    backend: Backend
    model: bytes
    shapes: tuple[Sizes, ...]
    capabilities: tuple[str, ...] = ()
    timings: bytes = b""


@dataclass(frozen=True)
class BuiltEngine:
    """An engine file, what is in it, and the timings for the next build."""

    engine: bytes
    report: BuildReport
    timings: bytes = b""


def build_apart(order: BuildOrder) -> BuiltEngine:
    """
    Build in a fresh process.

    Raises
    ------
    EngineUnfit
        The library cannot build it, with the library's own words.
    ModelWrong
        The library cannot read the net.
    """
    with tempfile.TemporaryDirectory() as folder:
        asked, done = Path(folder) / "order", Path(folder) / "built"
        asked.write_bytes(pickle.dumps(order))
        command = [sys.executable, "-P", "-m", "doseflow.serve.tensorrt.build_worker", str(asked), str(done)]
        path = os.pathsep.join((str(_PACKAGE_FOLDER), *sys.path))
        try:
            ended = subprocess.run(  # noqa: S603 - our own interpreter and module
                command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, check=False, timeout=BUILD_SECONDS
            )
        except subprocess.TimeoutExpired as error:
            raise EngineUnfit(f"{order.backend}: the build took more than {BUILD_SECONDS:g} s") from error
        if ended.returncode or not done.exists():
            last = ended.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["nothing"]
            raise EngineUnfit(f"{order.backend}: the build ended with exit code {ended.returncode} and said {last[0]}")
        built: BuiltEngine | DoseflowError = pickle.loads(done.read_bytes())  # noqa: S301 - our own process wrote it
    if isinstance(built, DoseflowError):
        raise built
    return built


def build_here(order: BuildOrder) -> BuiltEngine:
    """
    Build in this process.

    Raises
    ------
    EngineUnfit, ModelWrong, InputWrong
    """
    library = load_library(order.backend)
    trt = library.module
    listener = Listener(trt)
    builder = trt.Builder(listener.logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    parser = trt.OnnxParser(network, listener.logger)
    if not parser.parse(order.model):
        said = "; ".join(" ".join(str(parser.get_error(idx)).split()) for idx in range(parser.num_errors))
        raise ModelWrong(f"{library.backend} cannot read the net: {said}")
    config = builder.create_builder_config()
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, WORKSPACE_BYTES)
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    _set_shapes(builder, network, config, order)
    _set_capabilities(library, config, order.capabilities)
    timings = _use_timings(library, config, order.timings)
    num_layers = network.num_layers
    engine = builder.build_serialized_network(network, config)
    if engine is None:
        raise EngineUnfit(f"{library.backend} cannot build it: {(listener.errors or ['it says nothing'])[-1]}")
    measured = bytes(timings.serialize()) if timings is not None else b""
    return BuiltEngine(bytes(engine), report_of(listener.messages, num_layers), measured)


def _set_shapes(builder: Any, network: Any, config: Any, order: BuildOrder) -> None:
    axes, _ = axes_of_model(order.model)
    inputs = {tensor.name: tensor for tensor in (network.get_input(idx) for idx in range(network.num_inputs))}
    if len(order.shapes) == 1:
        for name, tensor in inputs.items():
            tensor.shape = shape_in(axes[name], order.shapes[0])
        return
    profile = builder.create_optimization_profile()
    for name, tensor in inputs.items():
        _fix_sites(tensor, axes, order.shapes[0])
        profile.set_shape(name, *(shape_in(axes[name], shape) for shape in order.shapes))
    config.add_optimization_profile(profile)


def _fix_sites(tensor: Any, axes: Axes, shape: Sizes) -> None:
    """Leave only the batch free."""
    free = {BATCH_AXIS: -1} if BATCH_AXIS in shape else dict.fromkeys(shape, -1)
    tensor.shape = shape_in(axes[tensor.name], dict(shape) | free)


def _set_capabilities(library: TensorrtLibrary, config: Any, capabilities: tuple[str, ...]) -> None:
    if not capabilities:
        return
    config.num_compute_capabilities = len(capabilities)
    for idx, capability in enumerate(capabilities):
        config.set_compute_capability(library.capability(capability), idx)


def _use_timings(library: TensorrtLibrary, config: Any, timings: bytes) -> Any:
    # TensorRT for RTX measures nothing at building, and asks for a card when it is told to.
    if library.is_rtx:
        return None
    cache = config.create_timing_cache(timings)
    config.set_timing_cache(cache, ignore_mismatch=False)
    return cache
