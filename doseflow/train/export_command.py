"""What `doseflow export` does: a bundle's net written anew as ONNX, in every precision, each judged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from doseflow.export.exported_net import exported_net
from doseflow.export.graph_cleaning import GraphReport
from doseflow.export.onnx_file import outputs_of
from doseflow.export.precision_policy import lowest_precision_of
from doseflow.ports import Engine
from doseflow.serve.bundle import Bundle, open_bundle, read_weights, write_bundle
from doseflow.serve.manifest import Manifest
from doseflow.serve.onnx_engine import OnnxEngine
from doseflow.serve.opened_model import PACKAGED_BUNDLES
from doseflow.serve.variant import Variant
from doseflow.train.net_kinds import calibration_samples, kind_of, net_of_bundle
from doseflow.train.variants import Judge, Speedups, coarser_models, variants_of

CALIBRATION_DAYS = 8
DEVICE = "cpu"
"""Where the verdicts are made."""
_COMPUTED = {"format_version", "inputs", "outputs", "files", "variants"}


@dataclass(frozen=True)
class Exported:
    """What was written, and what became of the graph."""

    manifest: Manifest
    report: GraphReport


def bundle_named(name: str) -> Path:
    """Folder of a bundle: one that comes with doseflow by its name, any other by its path."""
    packaged = PACKAGED_BUNDLES / name
    return packaged if "/" not in name and packaged.is_dir() else Path(name)


def export_bundle(
    source: Path, out: Path, judge: Judge, speedups: Speedups, num_calibration_days: int = CALIBRATION_DAYS
) -> Exported:
    """
    Write a bundle anew of the weights of another.

    Parameters
    ----------
    judge, speedups
        The gates on decisions, and how fast each precision is on this processor.

    Raises
    ------
    ModelWrong
        The bundle is broken, has no weights, or does not answer as its net does.
    """
    bundle = open_bundle(source)
    kind, net = kind_of(bundle), net_of_bundle(bundle)
    exported = exported_net(net, bundle.golden_inputs, kind.outputs, kind.no_batch)
    golden = bundle.golden_inputs, outputs_of(net, bundle.golden_inputs, kind.outputs)
    samples = calibration_samples(kind, num_calibration_days)
    coarser = coarser_models(exported.model, samples)
    engines: dict[str, Engine] = {precision: OnnxEngine(model, name=precision) for precision, model in coarser.items()}
    judged = judge(bundle.manifest.name, OnnxEngine(exported.model), engines)
    speeds = speedups({"fp32": exported.model, **coarser})
    lowest = lowest_precision_of(kind.outputs)
    variants = variants_of(coarser, golden, samples, lowest, judged, speeds, DEVICE)
    written = [(coarser[one.precision], one) for one in variants]
    weights = read_weights(bundle)
    manifest = write_bundle(out, exported.model, *golden, _facts(bundle, exported.largest_difference), written, weights)
    return Exported(manifest, exported.report)


def _facts(bundle: Bundle, difference: float) -> dict[str, Any]:
    facts = bundle.manifest.model_dump(mode="json", exclude=_COMPUTED)
    facts["metrics"] |= {"onnx_largest_difference": difference}
    facts["lowest_precision"] = lowest_precision_of(bundle.manifest.outputs)
    return facts


def print_exported(exported: Exported, console: Console) -> None:
    """What became of the graph, and what is said of each precision."""
    report = exported.report
    console.print(
        f"{exported.manifest.name}: {report.raw_nodes} operations as traced, {report.shipped_nodes} in the file,"
        f" {report.run_nodes} as run: {100 * report.reduction_share:.0f} % fewer"
    )
    fused = ", ".join(f"{name} {count}" for name, count in sorted(report.fused.items())) or "none"
    console.print(f"made of several when loaded: {fused}")
    print_variants(exported.manifest, console)


def print_variants(manifest: Manifest, console: Console) -> None:
    """What is said of each precision but FP32."""
    full = manifest.files[manifest.variants[0].file].num_bytes
    for one in manifest.variants[1:]:
        console.print(_line(one, manifest.files[one.file].num_bytes / full), soft_wrap=True)


def _line(variant: Variant, size_ratio: float) -> str:
    gate = variant.decisions
    told = [f"{variant.precision}: {size_ratio:.3f} of the FP32 file"]
    if gate is not None:
        told.append(f"{100 * gate.identical_share:.1f} % of decisions the same on {gate.num_cycles} cycles")
        interval = "" if gate.loss_ci95 is None else " ({:.2f} to {:.2f})".format(*(100 * x for x in gate.loss_ci95))
        told.append(f"mean wait {100 * gate.loss_share:+.2f} %{interval} on {gate.num_days} days")
        told.append(f"{gate.num_violations} violations")
    for device, verdict in variant.devices.items():
        told.append(f"serves on {device}" if verdict.serves else f"does not serve on {device}: {verdict.reason}")
    return "; ".join(told)
