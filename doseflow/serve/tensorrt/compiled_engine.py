"""TensorrtEngine: a net run from engine files, each shape as one recorded graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import structlog
from numpy.typing import NDArray

from doseflow.errors import EngineFailed, EngineUnfit
from doseflow.serve.axes import Arrays, Sizes, cut, padded_to, shape_in
from doseflow.serve.cuda_driver import cuda_device
from doseflow.serve.fixed_shapes import answered_in_pieces, shape_for, text_of
from doseflow.serve.tensorrt.build_log import Listener
from doseflow.serve.tensorrt.engine_folder import EngineFolder
from doseflow.serve.tensorrt.fitness import require_fit, require_valid
from doseflow.serve.tensorrt.kept_cache import KeptCache, cache_key
from doseflow.serve.tensorrt.library import TensorrtLibrary, load_library
from doseflow.serve.tensorrt.shared_scratch import SharedScratch, scratch_of_process

log = structlog.get_logger(__name__)


class TensorrtEngine:
    """
    Engine files on the card; thread-safe, one run at a time.

    Inputs are padded to the smallest shape that holds them. Memory that is needed only while a net runs is shared with
    every other engine of the process.

    Parameters
    ----------
    kept
        Folder of what TensorRT for RTX compiles at loading; None keeps nothing.

    Raises
    ------
    EngineUnfit
        The files were made for another library, driver or card, or there is no card.
    ModelWrong
        The library does not take a file.
    """

    def __init__(self, folder: EngineFolder, kept: Path | None = None) -> None:
        self.name = folder.manifest.backend.replace("-", "_")
        self._manifest = folder.manifest
        library = load_library(folder.manifest.backend)
        require_fit(folder.manifest, library)
        self._scratch = scratch_of_process()
        self._scratch.stream.use()
        self._listener = Listener(library.module)
        self._runtime = library.module.Runtime(self._listener.logger)
        key = cache_key(library, cuda_device(), folder.manifest.model_sha256)
        self._compiled: Any = None
        self._cache = KeptCache(kept, key) if kept is not None else None
        self._shaped: list[_ShapedContext] = []
        for one in folder.manifest.engines:
            data = folder.contents[one.file]
            require_valid(library, self._runtime, one.file, data)
            self._shaped += self._contexts(library, one.file, data, one.shapes)
        self._scratch.reserve(max(one.scratch_bytes for one in self._shaped))
        for context in self._shaped:
            context.run()
        self._keep_compiled()

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """
        Every output by name.

        Raises
        ------
        EngineFailed
            The inputs fit no shape, or the run itself failed.
        """
        shapes = [one.shape for one in self._shaped]
        return answered_in_pieces(self._answered, inputs, self._manifest.input_axes, shapes)

    def _answered(self, inputs: Arrays) -> dict[str, NDArray[Any]]:
        shapes = [one.shape for one in self._shaped]
        sizes, shape = shape_for(self.name, inputs, self._manifest.input_axes, shapes)
        context = next(one for one in self._shaped if one.shape == shape)
        with self._scratch.lock:
            outputs = context.answer(inputs)
            return {name: array.copy() for name, array in cut(outputs, self._manifest.output_axes, sizes).items()}

    def _contexts(
        self, library: TensorrtLibrary, name: str, data: bytes, shapes: tuple[Sizes, ...]
    ) -> list[_ShapedContext]:
        engine = self._runtime.deserialize_cuda_engine(data)
        if engine is None:
            said = (self._listener.errors or ["it says nothing"])[-1]
            raise EngineUnfit(f"{name}: {library.backend} does not load it ({said}); build it on this machine")
        config = self._config(library, engine)
        return [_ShapedContext(library, engine, config, self._manifest, shape, self._scratch) for shape in shapes]

    def _config(self, library: TensorrtLibrary, engine: Any) -> Any:
        trt = library.module
        config = engine.create_runtime_config()
        config.set_execution_context_allocation_strategy(trt.ExecutionContextAllocationStrategy.USER_MANAGED)
        if library.is_rtx:
            config.cuda_graph_strategy = trt.CudaGraphStrategy.WHOLE_GRAPH_CAPTURE
            # Everything is compiled while nobody waits.
            eager = trt.DynamicShapesKernelSpecializationStrategy.EAGER
            config.dynamic_shapes_kernel_specialization_strategy = eager
            if self._cache is not None:
                self._compiled = self._compiled or self._kept(config, self._cache)
                config.set_runtime_cache(self._compiled)
        return config

    def _kept(self, config: Any, cache: KeptCache) -> Any:
        compiled, kept = config.create_runtime_cache(), cache.read()
        if kept and not compiled.deserialize(kept):
            log.info("compiled_kernels_not_taken", engine=self.name, why="made by another library or driver")
        return compiled

    def _keep_compiled(self) -> None:
        if self._cache is not None and self._compiled is not None:
            self._cache.write(bytes(self._compiled.serialize()))


@dataclass
class _Place:
    """Where an input or output lies: on the card, and beside it on the host."""

    address: int
    host: NDArray[Any]


@dataclass
class _ShapedContext:
    """One shape: a context of the library, its arrays, and the graph that was recorded."""

    library: TensorrtLibrary
    engine: Any
    config: Any
    manifest: Any
    shape: Sizes
    scratch: SharedScratch
    places: dict[str, _Place] = field(default_factory=dict)
    scratch_bytes: int = 0
    graph: int = 0
    graph_scratch: int = -1

    def __post_init__(self) -> None:
        self.context = self.engine.create_execution_context(self.config)
        if self.context is None:
            raise EngineUnfit(f"{self.manifest.net} at {text_of(self.shape)}: no memory left on the card")
        for name, told in (self.manifest.input_axes | self.manifest.output_axes).items():
            shape = shape_in(told, self.shape)
            if name in self.manifest.input_axes and not self.context.set_input_shape(name, shape):
                raise EngineUnfit(f"{name}: the engine does not take the shape {shape}")
            dtype = np.dtype(self.library.module.nptype(self.engine.get_tensor_dtype(name)))
            host = self.scratch.stream.pinned(shape, dtype)
            host[...] = 0
            self.places[name] = _Place(self.scratch.stream.allocate(host.nbytes), host)
            self.context.set_tensor_address(name, self.places[name].address)
        needed = int(self.context.update_device_memory_size_for_shapes())
        self.scratch_bytes = max(needed, int(self.engine.device_memory_size_v2))

    def answer(self, inputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Copy in, run, copy out; the arrays are written over by the next run."""
        for name in self.manifest.input_axes:
            place = self.places[name]
            place.host[...] = padded_to(inputs[name], place.host.shape)
        self.run()
        return {name: self.places[name].host for name in self.manifest.output_axes}

    def run(self) -> None:
        """Run what lies in the host's arrays."""
        with self.scratch.lock:
            stream = self.scratch.stream
            stream.use()
            for name in self.manifest.input_axes:
                stream.copy_in(self.places[name].address, self.places[name].host)
            if self.graph_scratch != self.scratch.address:
                self._prepare()
            if self.graph:
                stream.launch(self.graph)
            else:
                self._enqueue()
            for name in self.manifest.output_axes:
                stream.copy_out(self.places[name].host, self.places[name].address)
            stream.wait()

    def _prepare(self) -> None:
        """Take the scratch memory as it lies now, run once, and record a graph where the library does not itself."""
        self.context.set_device_memory(self.scratch.address, self.scratch_bytes)
        self._enqueue()
        self.scratch.stream.wait()
        self.graph_scratch = self.scratch.address
        if not self.library.is_rtx:
            self.scratch.stream.begin_capture()
            self._enqueue()
            self.graph = self.scratch.stream.end_capture()

    def _enqueue(self) -> None:
        if not self.context.execute_async_v3(self.scratch.stream.handle):
            raise EngineFailed(f"{self.manifest.net} at {text_of(self.shape)}: the run could not be begun")
