"""A trained site value net as a bundle: ONNX, golden inputs and outputs, manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from doseflow import __version__
from doseflow.export.exported_net import exported_net
from doseflow.export.onnx_file import outputs_of
from doseflow.export.precision_policy import lowest_precision_of
from doseflow.policy.site_values import FEATURES_INPUT, VALUES_OUTPUT
from doseflow.policy.site_view import SITE_VIEW_AXES, SITE_VIEW_VERSION
from doseflow.serve.bundle import write_bundle
from doseflow.serve.manifest import OPSET, Manifest
from doseflow.simulate.scenario_file import packaged_scenarios
from doseflow.train.policy import QUICK, PolicyParams, TrainedPolicy
from doseflow.train.site_days import Rows, ViewOrder, rows_of_day

GOLDEN_ORDER = ViewOrder(900_001, stride=40, copies=1)
NUM_GOLDEN_SITES = 64
MAX_SITES = 100_000
"""Sites are rows, of which one question may hold any number; the number is written down because a manifest has one."""
_ROWS_ALONE = (FEATURES_INPUT, VALUES_OUTPUT)


def write_policy_bundle(trained: TrainedPolicy, folder: Path, golden: Rows | None = None) -> Manifest:
    """
    Write the bundle of a trained net; golden inputs are sites of a day that no training saw, unless given.

    Raises
    ------
    ModelWrong
        ONNX Runtime does not answer as the net does.
    """
    rows = rows_of_day(GOLDEN_ORDER) if golden is None else golden
    num_rows = len(rows[FEATURES_INPUT])
    inputs = {FEATURES_INPUT: rows[FEATURES_INPUT][:: max(1, num_rows // NUM_GOLDEN_SITES)][:NUM_GOLDEN_SITES]}
    exported = exported_net(trained.net, inputs, (VALUES_OUTPUT,), _ROWS_ALONE)
    facts = facts_of(trained.params)
    facts["metrics"] = trained.metrics | {"onnx_largest_difference": exported.largest_difference}
    weights = {name: tensor.detach().cpu().numpy() for name, tensor in trained.net.state_dict().items()}
    golden_outputs = outputs_of(trained.net, inputs, (VALUES_OUTPUT,))
    return write_bundle(folder, exported.model, inputs, golden_outputs, facts, weights=weights)


def facts_of(params: PolicyParams) -> dict[str, Any]:
    """What the manifest says of a net beside its files and its figures."""
    return {
        "name": "policy",
        "feature_schema_version": SITE_VIEW_VERSION,
        "licence": "Apache-2.0",
        "origin": {"command": command_of(params), "seed": params.seed, "doseflow_version": __version__},
        "data": {
            "source": "sites of simulated days of made cities of 30 to 64 sites, lived again with changes",
            "families": sorted({one.family for one in packaged_scenarios("training")}),
            "num_days": params.num_days,
        },
        "opset": OPSET,
        "max_sites": MAX_SITES,
        "axes": {FEATURES_INPUT: SITE_VIEW_AXES, VALUES_OUTPUT: "S V"},
        "lowest_precision": lowest_precision_of((VALUES_OUTPUT,)),
    }


def command_of(params: PolicyParams) -> str:
    """The command that trains such a net."""
    is_quick = params.width == QUICK.width
    usual = QUICK if is_quick else PolicyParams()
    options = {"days": "num_days", "passes": "num_passes", "steps": "num_steps"}
    given = [
        f"--{option} {getattr(params, name)}"
        for option, name in options.items()
        if getattr(params, name) != getattr(usual, name)
    ]
    device = "--quick" if is_quick else "--device cuda"
    return " ".join(["doseflow train policy --out FOLDER", device, f"--seed {params.seed}", *given])
