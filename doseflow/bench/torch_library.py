"""torch as the simulator's array library, on the processor or on a graphics card: for benchmarks alone."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from doseflow.bench.simulator import ArrayLibrary
from doseflow.errors import EnvironmentUnfit
from doseflow.simulate.draws import NamespaceDraws


def torch_library(device: str) -> ArrayLibrary:
    """
    A device with torch, such as `cpu` or `cuda`.

    Raises
    ------
    EnvironmentUnfit
        torch is not installed, or has no such device.
    """
    try:
        torch = import_module("torch")
    except ImportError as error:
        raise EnvironmentUnfit(f"device {device}: needs the package torch: pip install torch.") from error
    if not re.fullmatch(r"cpu|cuda(:\d)?", device):
        raise EnvironmentUnfit(f"device: must be numpy, cpu, cuda or cuda:N, got {device!r}")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise EnvironmentUnfit(f"device {device}: this machine has no graphics card that torch can use")
    name = f"{device} ({torch.cuda.get_device_name()})" if device.startswith("cuda") else f"torch {device}"
    return ArrayLibrary(
        name=name,
        convert=lambda array: torch.as_tensor(array, device=device),
        draws=lambda seed: _draws(torch, device, seed),
        wait=torch.cuda.synchronize if device.startswith("cuda") else lambda: None,
    )


def _draws(torch: Any, device: str, seed: int) -> NamespaceDraws:
    generator = torch.Generator(device=device).manual_seed(seed)
    return NamespaceDraws(lambda shape: torch.rand(shape, generator=generator, device=device))
