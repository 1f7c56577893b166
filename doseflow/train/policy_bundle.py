"""A trained site value net as a bundle: ONNX, golden inputs and outputs, manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from doseflow import __version__
from doseflow.errors import ModelWrong
from doseflow.export.onnx_check import largest_difference
from doseflow.export.onnx_file import OPSET, onnx_bytes, outputs_of
from doseflow.policy.site_values import FEATURES_INPUT, VALUES_OUTPUT
from doseflow.policy.site_view import SITE_VIEW_VERSION
from doseflow.serve.bundle import GOLDEN_TOLERANCE, write_bundle
from doseflow.serve.manifest import Manifest
from doseflow.simulate.scenario_file import packaged_scenarios
from doseflow.train.policy import QUICK, PolicyParams, TrainedPolicy
from doseflow.train.site_days import LIVES, PROGRAMME, Rows, ViewOrder, rows_of_day

GOLDEN_ORDER = ViewOrder(900_001, stride=40, copies=1)
NUM_GOLDEN_SITES = 64
MAX_SITES = 100_000
"""Sites are rows, of which one question may hold any number; the number is written down because a manifest has one."""
_SOURCES = {
    LIVES: "sites of simulated days of made cities of 30 to 64 sites, lived again with changes",
    PROGRAMME: "sites of simulated days of made cities of 30 to 64 sites, valued by the programme of scenario_mpc",
}
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
    model = onnx_bytes(trained.net, inputs, (VALUES_OUTPUT,), no_batch=_ROWS_ALONE)
    difference = largest_difference(trained.net, model, inputs, (VALUES_OUTPUT,), no_batch=_ROWS_ALONE)
    if not difference <= GOLDEN_TOLERANCE:
        raise ModelWrong(f"model.onnx: must be within {GOLDEN_TOLERANCE} of the net, got {difference:.2g}")
    facts = facts_of(trained.params)
    facts["metrics"] = trained.metrics | {"onnx_largest_difference": difference}
    return write_bundle(folder, model, inputs, outputs_of(trained.net, inputs, (VALUES_OUTPUT,)), facts)


def facts_of(params: PolicyParams) -> dict[str, Any]:
    """What the manifest says of a net beside its files and its figures."""
    return {
        "name": "policy",
        "feature_schema_version": SITE_VIEW_VERSION,
        "licence": "Apache-2.0",
        "origin": {"command": command_of(params), "seed": params.seed, "doseflow_version": __version__},
        "data": {
            "source": _SOURCES[params.teacher],
            "families": sorted({one.family for one in packaged_scenarios("training")}),
            "num_days": params.num_days,
        },
        "opset": OPSET,
        "max_sites": MAX_SITES,
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
    by = [] if params.teacher == LIVES else ["--by imitation"]
    return " ".join(["doseflow train policy --out FOLDER", *by, device, f"--seed {params.seed}", *given])
