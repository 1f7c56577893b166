"""A trained arrival net as a bundle: ONNX, golden inputs and outputs, manifest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from doseflow.export.onnx_file import onnx_bytes, outputs_of
from doseflow.networks.arrival_net import ArrivalNet, input_names
from doseflow.train.forecaster import Trained
from doseflow.train.training_days import TOPOLOGY, DayOrder, TrainingDay, training_day

OUTPUTS = ("arrivals_people", "doses_rest_of_day")
GOLDEN_SEED, GOLDEN_CYCLES = 900_001, 3


def write_forecaster_bundle(trained: Trained, folder: Path) -> None:
    """Write the bundle of a trained net; golden inputs are cycles of a day that no training saw."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(trained.net.state_dict(), folder / "weights.pt")
    day = training_day(DayOrder(GOLDEN_SEED, stride=40, missing_share=0.05))
    inputs = golden_inputs(day)
    (folder / "model.onnx").write_bytes(onnx_bytes(trained.net, inputs, OUTPUTS, no_batch=TOPOLOGY))
    said = outputs_of(trained.net, inputs, OUTPUTS)
    np.savez_compressed(
        folder / "golden.npz", **{f"in_{k}": v for k, v in inputs.items()}, **{f"out_{k}": v for k, v in said.items()}
    )


def golden_inputs(day: TrainingDay) -> dict[str, np.ndarray]:
    """Some cycles of a day as the net takes them."""
    return {
        name: day.inputs[name] if name in TOPOLOGY else day.inputs[name][:GOLDEN_CYCLES].astype(np.float32)
        for name in input_names()
    }


def loaded_net(folder: Path, net: ArrivalNet) -> ArrivalNet:
    """The net of a folder's weights."""
    net.load_state_dict(torch.load(folder / "weights.pt", map_location="cpu", weights_only=True))
    return net.eval()
