"""The process of one form: it opens both nets, and runs them when told to."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from doseflow.bench.inference.forms import CITY, EAGER, NETS, ONNX_GRAPH, RAW, TORCH_GRAPH, Form
from doseflow.bench.inference.inputs import free_sizes, inputs_of_cities, outputs_for
from doseflow.bench.inference.onnx_runs import BoundRun, PlainRun, session_of
from doseflow.bench.inference.torch_runs import EagerRun, GraphRun, device_memory_used
from doseflow.errors import ModelWrong
from doseflow.export.random_inputs import Arrays
from doseflow.serve.bundle import Bundle, open_bundle
from doseflow.serve.golden_difference import size_off
from doseflow.serve.precision import MOST_SIZE_OFF

WARM_UP_RUNS = 3
_INPUT_SEED = 1


@dataclass(frozen=True)
class WorkerOrder:
    """What a process needs: its form, the bundles and raw exports of both nets, batches, and threads of a run."""

    form: Form
    bundles: dict[str, Path]
    raw_models: dict[str, bytes]
    batches: tuple[int, ...]
    num_threads: int


@dataclass(frozen=True)
class Ready:
    """A process that may be told to run; memory in bytes, on the card 0 where there is none."""

    device_bytes: int


@dataclass(frozen=True)
class Failed:
    """Why a form cannot run here, in a sentence."""

    reason: str


def work(order: WorkerOrder, pipe: Connection) -> None:
    """Say whether the form can run here, then run what the pipe says until it says None."""
    try:
        nets = _Nets(order)
        pipe.send(Ready(nets.device_bytes))
    except Exception as error:  # noqa: BLE001 - the boundary of a form: one that cannot run must not end the others
        pipe.send(Failed(f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"))
        return
    gc.disable()
    while (told := pipe.recv()) is not None:
        net, batch, num_runs = told
        pipe.send([nets.milliseconds(net, batch) for _ in range(num_runs)])
    pipe.send(_peak_bytes())


def _peak_bytes() -> int:
    """The most memory this process ever held; not `ru_maxrss`, which begins with that of the process it came from."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


class _Nets:
    """Both nets of a form, warm for every batch."""

    def __init__(self, order: WorkerOrder) -> None:
        self._order = order
        before = device_memory_used() if order.form.device == "cuda" else 0
        self._runs: dict[tuple[str, int], tuple[Callable[[Arrays], list[Any]], Arrays]] = {}
        for net in NETS:
            self._open(net, open_bundle(order.bundles[net]))
        for run, inputs in self._runs.values():
            for _ in range(WARM_UP_RUNS):
                run(inputs)
        for net in NETS:
            self._check(net, open_bundle(order.bundles[net]))
        self.device_bytes = device_memory_used() - before if order.form.device == "cuda" else 0

    def _open(self, net: str, bundle: Bundle) -> None:
        order, form = self._order, self._order.form
        serves_every_batch = form.engine == EAGER or form.device == "cpu"
        shared = self._shared_run(net, bundle) if serves_every_batch else None
        for batch in order.batches:
            inputs = inputs_of_cities(bundle, batch, _INPUT_SEED)
            self._runs[net, batch] = (shared or self._run_of_size(net, bundle, inputs), inputs)

    def _check(self, net: str, bundle: Bundle) -> None:
        """An engine that its device does not suit may be fast and silently wrong."""
        run, inputs = self._runs[net, self._order.batches[0]]
        precision = self._order.form.precision
        same_file = session_of(bundle.model_of(precision), "cpu")
        for name, one, other in zip(
            bundle.manifest.outputs, run(inputs), same_file.run(list(bundle.manifest.outputs), inputs), strict=True
        ):
            off, most = size_off(one, other), MOST_SIZE_OFF[precision]
            if not off <= most:
                raise ModelWrong(f"{name} is off by {off:.2g} of its size, more than {most:g}")

    def _run_of_size(self, net: str, bundle: Bundle, inputs: Arrays) -> Callable[[Arrays], list[Any]]:
        if self._order.form.engine == TORCH_GRAPH:
            return GraphRun(_lean(bundle), inputs, self._order.form.precision)
        return self._bound(bundle, inputs, net)

    def _shared_run(self, net: str, bundle: Bundle) -> Callable[[Arrays], list[Any]]:
        """What answers every batch."""
        order, form = self._order, self._order.form
        if form.engine == EAGER:
            return EagerRun(_trained(bundle), form.device, order.num_threads)
        is_raw = form.engine == RAW
        model = order.raw_models[net] if is_raw else bundle.model_of(form.precision)
        return PlainRun(session_of(model, "cpu", num_threads=order.num_threads, is_optimised=not is_raw))

    def _bound(self, bundle: Bundle, inputs: Arrays, net: str) -> BoundRun:
        form = self._order.form
        is_raw, has_graph = form.engine == RAW, form.engine == ONNX_GRAPH
        model = self._order.raw_models[net] if is_raw else bundle.model_of(form.precision)
        sizes = free_sizes(bundle, inputs) if has_graph else None
        session = session_of(model, "cuda", is_optimised=not is_raw, sizes=sizes, has_graph=has_graph)
        return BoundRun(session, inputs, outputs_for(bundle, inputs))

    def milliseconds(self, net: str, batch: int) -> float:
        """One request for so many cities."""
        runs = [self._runs[one, batch] for one in (NETS if net == CITY else (net,))]
        began = time.perf_counter()
        for run, inputs in runs:
            run(inputs)
        return (time.perf_counter() - began) * 1000


def _trained(bundle: Bundle) -> Any:
    from doseflow.train.net_kinds import net_of_bundle

    return net_of_bundle(bundle)


def _lean(bundle: Bundle) -> Any:
    from doseflow.export.lean_net import lean_net

    return lean_net(_trained(bundle))
