"""Verdicts for a device on which only speed was measured: decisions were judged already, and do not ask where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

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
        The file is none of that benchmark, has no latencies of the net, or they are those of other files.
    ModelWrong
    """
    bundle = open_bundle(source)
    measured = _read(figures_file)
    figures: Figures = measured["figures"]
    _require_same_files(measured, bundle.manifest)
    name, lowest = bundle.manifest.name, bundle.manifest.lowest_precision
    card = measured.get("card")
    devices = sorted({one["params"]["device"] for one in figures if one["name"] == "latency_p50_milliseconds"})
    variants = []
    for variant in bundle.manifest.variants[1:]:
        told = dict(variant.devices)
        for device in devices:
            full, coarse = (_milliseconds(figures, name, one, device) for one in ("fp32", variant.precision))
            failed = None if variant.decisions is None else why_gate_fails(variant.decisions)
            found = verdict(variant.precision, lowest, failed, full / coarse, device)
            told[device] = found.model_copy(update={"measured_on": card})
        variants.append((bundle.model_of(variant.precision), variant.model_copy(update={"devices": told})))
    facts = bundle.manifest.model_dump(mode="json", exclude=_COMPUTED)
    weights = read_weights(bundle) if WEIGHTS_FILE in bundle.manifest.files else None
    return write_bundle(out, bundle.model, bundle.golden_inputs, bundle.golden_outputs, facts, variants, weights)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = orjson.loads(path.read_bytes())
    except OSError as error:
        raise InputWrong(f"--speeds: {path} cannot be read ({error.strerror})") from error
    except orjson.JSONDecodeError as error:
        raise InputWrong(f"--speeds: {path.name} must be JSON: {error}") from error
    figures = document.get("figures") if isinstance(document, dict) else None
    if not isinstance(figures, list) or not all(_is_figure(one) for one in figures):
        raise InputWrong(f"--speeds: {path.name} must have figures, as `doseflow bench inference --json` writes them")
    return cast(dict[str, Any], document)


def _is_figure(one: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(one.get("params"), dict) or "name" not in one:
        return False
    if one["name"] != "latency_p50_milliseconds":
        return True
    value = one.get("value")
    return isinstance(value, int | float) and value > 0 and {"device", "engine"} <= one["params"].keys()


def _require_same_files(measured: Mapping[str, Any], manifest: Manifest) -> None:
    """How fast another file is says nothing of this one."""
    models = measured.get("models")
    timed = models.get(manifest.name) if isinstance(models, dict) else None
    if not isinstance(timed, dict):
        raise InputWrong(f"--speeds: the file does not say which files of {manifest.name} were timed; {_AGAIN}")
    for precision, digest in manifest.digests().items():
        if timed.get(precision) != digest:
            raise InputWrong(
                f"--speeds: {manifest.name} in {precision} was timed with another file (SHA-256"
                f" {timed.get(precision)}, and the bundle's is {digest}); {_AGAIN}"
            )


_AGAIN = "run `doseflow bench inference --json FILE` again"


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
