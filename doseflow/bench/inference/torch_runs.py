"""A net run by torch: as it is, or as a recorded CUDA graph; torch is loaded only when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from doseflow.export.random_inputs import Arrays


class EagerRun:
    """
    A net run operation by operation.

    Parameters
    ----------
    net
        A torch module.
    num_threads
        Of the processor; None leaves them.
    """

    def __init__(self, net: Any, device: str, num_threads: int | None) -> None:
        self._torch: Any = import_module("torch")
        if num_threads is not None and device == "cpu":
            self._torch.set_num_threads(num_threads)
        self._net, self._device = net.to(device).eval(), device

    def __call__(self, inputs: Arrays) -> list[Any]:
        """From host arrays to host arrays."""
        with self._torch.inference_mode():
            said = self._net(*(self._torch.from_numpy(array).to(self._device) for array in inputs.values()))
            return [one.cpu().numpy() for one in (said if isinstance(said, tuple) else (said,))]


class GraphRun:
    """A net whose work for inputs of one size was recorded once and is replayed."""

    def __init__(self, net: Any, inputs: Arrays, precision: str) -> None:
        self._torch: Any = import_module("torch")
        torch = self._torch
        self._net = net.to("cuda").eval()
        if precision == "fp16":
            self._net = self._net.half()
        self._fixed = [self._placed(array, precision) for array in inputs.values()]
        self._host = [torch.from_numpy(array).pin_memory() for array in inputs.values()]
        with torch.inference_mode():
            stream = torch.cuda.Stream()
            with torch.cuda.stream(stream):
                for _ in range(3):
                    self._net(*self._fixed)
            torch.cuda.current_stream().wait_stream(stream)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                said = self._net(*self._fixed)
        self._said = said if isinstance(said, tuple) else (said,)

    def __call__(self, inputs: Arrays) -> list[Any]:
        """From host arrays to host arrays."""
        for fixed, host, array in zip(self._fixed, self._host, inputs.values(), strict=True):
            host.numpy()[...] = array
            fixed.copy_(host, non_blocking=True)
        self._graph.replay()
        return [one.cpu().numpy() for one in self._said]

    def _placed(self, array: Any, precision: str) -> Any:
        tensor = self._torch.from_numpy(array).to("cuda")
        return tensor.half() if precision == "fp16" and tensor.is_floating_point() else tensor


def device_memory_used() -> int:
    """Bytes of the graphics card that are in use, by anybody."""
    torch: Any = import_module("torch")
    free, whole = torch.cuda.mem_get_info()
    return int(whole - free)
