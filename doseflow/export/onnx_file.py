"""A net as an ONNX file: opset 18, replicas and sites free, topology an input."""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from doseflow.serve.manifest import OPSET

BATCH_AXIS, SITE_AXIS = "B", "S"


def onnx_bytes(
    net: nn.Module,
    example: Mapping[str, NDArray[np.generic]],
    outputs: Sequence[str],
    no_batch: Sequence[str] = (),
    *,
    fold_constants: bool = True,
) -> bytes:
    """
    The ONNX file of a net as torch writes it.

    Parameters
    ----------
    example
        Inputs by name, in the order that the net takes them. Their first axis is B and their second S; those named in
        `no_batch` begin with S.
    fold_constants
        False writes every operation as it is traced, nothing computed beforehand: the raw export.
    """
    tensors = tuple(torch.as_tensor(array) for array in example.values())
    free = {
        name: ({0: SITE_AXIS} if name in no_batch else {0: BATCH_AXIS, 1: SITE_AXIS}) for name in (*example, *outputs)
    }
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        warnings.simplefilter("ignore")
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        torch.onnx.export(
            net.eval(),
            tensors,
            str(file),
            input_names=list(example),
            output_names=list(outputs),
            dynamic_axes=free,
            opset_version=OPSET,
            do_constant_folding=fold_constants,
            dynamo=False,
        )
        return file.read_bytes()


def outputs_of(
    net: nn.Module, inputs: Mapping[str, NDArray[np.generic]], outputs: Sequence[str]
) -> dict[str, NDArray[np.float32]]:
    """What the net itself says, by output name."""
    with torch.no_grad():
        said = net.eval()(*(torch.as_tensor(array) for array in inputs.values()))
    several = (said,) if isinstance(said, torch.Tensor) else said
    return {name: one.numpy() for name, one in zip(outputs, several, strict=True)}
