"""A trained arrival net as a bundle: ONNX, golden inputs and outputs, manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from doseflow import __version__
from doseflow.export.exported_net import exported_net
from doseflow.export.onnx_file import outputs_of
from doseflow.export.precision_policy import lowest_precision_of
from doseflow.forecast.net_inputs import BUCKETS, NET_INPUT_AXES, NET_INPUTS_VERSION
from doseflow.networks.arrival_net import input_names
from doseflow.serve.bundle import write_bundle
from doseflow.serve.manifest import OPSET, Manifest
from doseflow.simulate.scenario_file import packaged_scenarios
from doseflow.train.forecaster import QUICK, ForecasterParams, Trained
from doseflow.train.training_days import TOPOLOGY, DayOrder, TrainingDay, training_day

OUTPUT_AXES = {"arrivals_people": "B S T Q", "doses_rest_of_day": "B S Q"}
OUTPUTS = tuple(OUTPUT_AXES)
GOLDEN_SEED, GOLDEN_CYCLES = 900_001, 3


def write_forecaster_bundle(trained: Trained, folder: Path) -> Manifest:
    """
    Write the bundle of a trained net; golden inputs are cycles of a day that no training saw.

    Raises
    ------
    ModelWrong
        ONNX Runtime does not answer as the net does.
    """
    inputs = golden_inputs(training_day(DayOrder(GOLDEN_SEED, stride=40, missing_share=0.05)))
    exported = exported_net(trained.net, inputs, OUTPUTS)
    facts = facts_of(trained)
    facts["metrics"] = trained.metrics | {"onnx_largest_difference": exported.largest_difference}
    weights = {name: tensor.detach().cpu().numpy() for name, tensor in trained.net.state_dict().items()}
    golden_outputs = outputs_of(trained.net, inputs, OUTPUTS)
    return write_bundle(folder, exported.model, inputs, golden_outputs, facts, weights=weights)


def golden_inputs(day: TrainingDay) -> dict[str, NDArray[Any]]:
    """Some cycles of a day as the net takes them."""
    return {
        name: np.stack([day.inputs[name]] * GOLDEN_CYCLES)
        if name in TOPOLOGY
        else day.inputs[name][:GOLDEN_CYCLES].astype(np.float32)
        for name in input_names()
    }


def facts_of(trained: Trained) -> dict[str, Any]:
    """What the manifest says of a net beside its files."""
    families = sorted({one.family for one in packaged_scenarios("training")})
    return {
        "name": "forecaster",
        "feature_schema_version": NET_INPUTS_VERSION,
        "licence": "Apache-2.0",
        "origin": {
            "command": command_of(trained.params),
            "seed": trained.params.seed,
            "doseflow_version": __version__,
        },
        "data": {
            "source": "simulated days of made cities of 30 to 64 sites",
            "families": families,
            "num_days": trained.params.num_days,
        },
        "metrics": trained.metrics,
        "opset": OPSET,
        "max_sites": BUCKETS[-1],
        "axes": NET_INPUT_AXES | OUTPUT_AXES,
        "lowest_precision": lowest_precision_of(OUTPUTS),
    }


def command_of(params: ForecasterParams) -> str:
    """The command that trains such a net."""
    is_quick = params.width == QUICK.width
    usual = QUICK if is_quick else ForecasterParams()
    options = {"days": "num_days", "steps": "num_steps", "encoder": "encoder", "attention-layers": "attention_layers"}
    given = [
        f"--{option} {getattr(params, name)}"
        for option, name in options.items()
        if getattr(params, name) != getattr(usual, name)
    ]
    device = "--quick" if is_quick else "--device cuda"
    return " ".join(["doseflow train forecaster --out FOLDER", device, f"--seed {params.seed}", *given])
