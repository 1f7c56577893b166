"""What a TensorRT library says while it builds: its errors, the kernels it made, and the memory they take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_KERNEL = re.compile(r"^Name: (?P<name>\S+), LayerType: (?P<kind>\w+),", re.MULTILINE)
_NODE = re.compile(r"\[ONNX Layer: ([^\]]+)\]")
_BYTES = re.compile(r"^Total (?P<what>Activation|Weights) Memory: (?P<bytes>\d+) bytes", re.MULTILINE)
_NO_WORK = ("signal", "wait")


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel of an engine and the nodes of the net that it does."""

    name: str
    kind: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What became of a net: layers as parsed, kernels, and bytes on the card while it runs and for its weights."""

    num_layers: int
    kernels: tuple[Kernel, ...]
    activation_bytes: int
    weight_bytes: int


def report_of(messages: Sequence[str], num_layers: int) -> BuildReport:
    """Read what was said; where it built for several cards, of the last."""
    told = [message for message in messages if _KERNEL.search(message)]
    kernels = _kernels(told[-1]) if told else ()
    memory = {found["what"]: int(found["bytes"]) for message in messages for found in _BYTES.finditer(message)}
    return BuildReport(num_layers, kernels, memory.get("Activation", 0), memory.get("Weights", 0))


def _kernels(message: str) -> tuple[Kernel, ...]:
    lines = [line for line in message.splitlines() if _KERNEL.match(line)]
    kernels = []
    for line in lines:
        found = _KERNEL.match(line)
        if found is not None and found["kind"] not in _NO_WORK:
            kernels.append(Kernel(found["name"], found["kind"], tuple(_NODE.findall(line))))
    return tuple(kernels)


class Listener:
    """Keeps what the library says; `logger` is what the library is given."""

    def __init__(self, module: Any) -> None:
        self.messages: list[str] = []
        self.errors: list[str] = []
        messages, errors, severity = self.messages, self.errors, module.ILogger.Severity

        class Logger(module.ILogger):  # type: ignore[misc]
            def __init__(self) -> None:
                module.ILogger.__init__(self)

            def log(self, level: Any, message: str) -> None:
                messages.append(message)
                if level in (severity.ERROR, severity.INTERNAL_ERROR):
                    errors.append(" ".join(message.split()))

        self.logger = Logger()
