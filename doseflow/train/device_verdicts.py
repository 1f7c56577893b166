"""Verdicts for a device on which only speed was measured: decisions were judged already, and do not ask where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from doseflow.errors import InputWrong
from doseflow.serve.bundle import open_bundle, read_weights, write_bundle
from doseflow.serve.manifest import WEIGHTS_FILE, Manifest
from doseflow.serve.variant import why_gate_fails
from doseflow.train.variants import verdict

SERVING_ENGINES = ("onnx", "onnx_cuda_graph")
"""Engines of `doseflow bench inference` that can serve."""
_COMPUTED = {"format_version", "inputs", "outputs", "files", "variants"}

Figures = Sequence[dict[str, Any]]


def write_device_verdicts(source: Path, out: Path, figures_file: Path) -> Manifest:
    """
    Write a bundle again with the verdicts that a run of `doseflow bench inference` allows.

    Parameters
    ----------
    figures_file
        What the benchmark wrote, on any device.

    Raises
    ------
    InputWrong
        The file has no latencies of the net.
    ModelWrong
    """
    bundle = open_bundle(source)
    figures: Figures = orjson.loads(figures_file.read_bytes())["figures"]
    name, lowest = bundle.manifest.name, bundle.manifest.lowest_precision
    devices = sorted({one["params"]["device"] for one in figures if one["name"] == "latency_p50_milliseconds"})
    variants = []
    for variant in bundle.manifest.variants[1:]:
        told = dict(variant.devices)
        for device in devices:
            full, coarse = (_milliseconds(figures, name, one, device) for one in ("fp32", variant.precision))
            failed = None if variant.decisions is None else why_gate_fails(variant.decisions)
            told[device] = verdict(variant.precision, lowest, failed, full / coarse, device)
        variants.append((bundle.model_of(variant.precision), variant.model_copy(update={"devices": told})))
    facts = bundle.manifest.model_dump(mode="json", exclude=_COMPUTED)
    weights = read_weights(bundle) if WEIGHTS_FILE in bundle.manifest.files else None
    return write_bundle(out, bundle.model, bundle.golden_inputs, bundle.golden_outputs, facts, variants, weights)


def _milliseconds(figures: Figures, net: str, precision: str, device: str) -> float:
    """Median of one city by the fastest engine that can serve."""
    wanted = {"model": net, "precision": precision, "device": device, "batch": 1}
    found = [
        one["value"]
        for one in figures
        if one["name"] == "latency_p50_milliseconds"
        and wanted.items() <= one["params"].items()
        and one["params"]["engine"] in SERVING_ENGINES
    ]
    if not found:
        raise InputWrong(f"--speeds: must have latency_p50_milliseconds of {net} in {precision} on {device}")
    return float(min(found))
