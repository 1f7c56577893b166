"""The forms of the nets that are compared: who runs them, from which graph, in which precision, where."""

from __future__ import annotations

from dataclasses import dataclass

from doseflow.errors import InputWrong
from doseflow.serve.precision import Precision

EAGER, RAW, OPTIMISED = "torch_eager", "onnx_raw", "onnx"
TORCH_GRAPH, ONNX_GRAPH = "torch_cuda_graph", "onnx_cuda_graph"
CITY = "both"
"""Both nets, one after the other: what a cycle of a city asks."""
NETS = ("forecaster", "policy")
BATCHES = (1, 8, 32)
NUM_SITES = 200


@dataclass(frozen=True)
class Form:
    """
    One form of the nets.

    `torch_eager` is the net as it was trained; `onnx_raw` its export with nothing folded, run with no optimisation;
    `onnx` the file that ships, optimised when loaded. The two with `cuda_graph` replay a recorded graph, the first of
    the lean net, the second of the file with its batch fixed.
    """

    engine: str
    precision: Precision
    device: str

    @property
    def label(self) -> str:
        """A name for the terminal."""
        return f"{self.engine} {self.precision}"


def forms_on(device: str) -> tuple[Form, ...]:
    """
    The forms that are compared on a device.

    Raises
    ------
    InputWrong
        It is neither `cpu` nor `cuda`.
    """
    if device not in ("cpu", "cuda"):
        raise InputWrong(f"--device: must be cpu or cuda, got {device!r}")
    precisions: tuple[Precision, ...] = ("fp32", "fp16", "int8")
    forms = [Form(EAGER, "fp32", device), Form(RAW, "fp32", device)]
    forms += [Form(OPTIMISED, one, device) for one in precisions]
    if device == "cuda":
        forms += [Form(TORCH_GRAPH, one, device) for one in ("fp32", "fp16")]
        forms += [Form(ONNX_GRAPH, one, device) for one in precisions]
    return tuple(forms)
