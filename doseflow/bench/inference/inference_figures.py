"""Figures of a run: latencies, requests a second, what was gained, sizes, operations, and what precision costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from doseflow.bench.figures import Figure, percentile_figure
from doseflow.bench.inference.forms import CITY, EAGER, NETS, RAW
from doseflow.bench.inference.rounds import Case, FormSamples
from doseflow.export.graph_cleaning import GraphReport
from doseflow.serve.manifest import Manifest
from doseflow.serve.precision import is_finer_or_same
from doseflow.serve.variant import MOST_LOSS_SHARE, why_gate_fails

LEAST_SPEEDUP = {"cpu": 2.0, "cuda": 10.0}
LEAST_BATCHING_GAIN = {"cuda": 3.0}
MOST_MILLISECONDS = {"cpu": ("p50", 10.0), "cuda": ("p99", 2.0)}
"""Of a city, that is of both nets at batch 1."""
LEAST_REDUCTION_SHARE, MOST_SIZE_RATIO = 0.4, 0.27
_RESAMPLES = 1000


def latency_figures(samples: FormSamples, *, is_judged: bool) -> list[Figure]:
    """Percentiles and requests a second of a form, by net and batch, and its memory."""
    figures = []
    for (net, batch), milliseconds in samples.milliseconds.items():
        params = _params(samples, net, batch)
        for percentile in (50, 95, 99):
            which, most = MOST_MILLISECONDS[samples.form.device]
            has_target = is_judged and net == CITY and batch == 1 and which == f"p{percentile}"
            figures.append(
                percentile_figure(
                    f"latency_p{percentile}_milliseconds",
                    milliseconds,
                    percentile,
                    params,
                    seed=0,
                    target=most if has_target else None,
                )
            )
        rate = requests_per_second(milliseconds, batch)
        figures.append(Figure("requests_per_second", rate, "1/second", params, n=len(milliseconds)))
    params = {"engine": samples.form.engine, "precision": samples.form.precision, "device": samples.form.device}
    if samples.form.device == "cpu":
        mebibytes = samples.peak_bytes / 2**20
        figures.append(Figure("peak_memory_mebibytes", mebibytes, "MiB", params, n=1, notes=_MEMORY_NOTES))
    else:
        mebibytes = samples.device_bytes / 2**20
        figures.append(Figure("device_memory_mebibytes", mebibytes, "MiB", params, n=1, notes=_MEMORY_NOTES))
    return figures


_MEMORY_NOTES = "of the whole process, libraries included, with both nets and inputs of every batch"


def requests_per_second(milliseconds: Sequence[float], batch: int) -> float:
    """Cities answered a second by one that asks again as soon as it is answered, by the median."""
    return 1000 * batch / float(np.median(milliseconds))


def gain_figures(all_samples: Sequence[FormSamples], manifests: Mapping[str, Manifest]) -> list[Figure]:
    """How many times as many cities a second the best form that may serve answers."""
    eager = next(one for one in all_samples if one.form.engine == EAGER)
    device = eager.form.device
    rivals = [one for one in all_samples if one.failed is None and may_serve(one, manifests)]
    if eager.failed is not None or not rivals:
        return []
    figures = []
    for net in (*NETS, CITY):
        batches = [batch for name, batch in eager.milliseconds if name == net]
        for batch in batches:
            best = min(rivals, key=lambda one: np.median(one.milliseconds[net, batch]))
            figures.append(_speedup(eager, best, (net, batch), (net, batch), None))
    if (CITY, 1) not in eager.milliseconds:
        # Both figures that follow are held against one city asked alone.
        return figures
    whole = [(one, (CITY, batch)) for one in rivals for net, batch in one.milliseconds if net == CITY]
    best, case = max(whole, key=lambda pair: requests_per_second(pair[0].milliseconds[pair[1]], pair[1][1]))
    figures.append(_speedup(eager, best, (CITY, 1), case, LEAST_SPEEDUP[device]))
    figures.append(_batching_gain(best, LEAST_BATCHING_GAIN.get(device)))
    return figures


def may_serve(samples: FormSamples, manifests: Mapping[str, Manifest]) -> bool:
    """Whether a form may answer cities: no reference, and of a precision that both nets' outputs and gates allow."""
    if samples.form.engine in (EAGER, RAW):
        return False
    precision = samples.form.precision
    for manifest in manifests.values():
        if precision not in {one.precision for one in manifest.variants}:
            return False
        if not all(is_finer_or_same(precision, lowest) for lowest in manifest.lowest_precision.values()):
            return False
        gate = manifest.variant(precision).decisions
        if precision != "fp32" and (gate is None or why_gate_fails(gate)):
            return False
    return True


def graph_figures(net: str, report: GraphReport, manifest: Manifest) -> list[Figure]:
    """Operations, file sizes, and what each precision does to decisions."""
    share = report.reduction_share
    nodes = (
        f"{report.raw_nodes} operations as traced with nothing folded, {report.shipped_nodes} in the file,"
        f" {report.run_nodes} as ONNX Runtime runs it; Constant nodes are not counted; fused: {report.fused}"
    )
    figures = [
        Figure(
            "node_reduction_share",
            share,
            "share",
            {"model": net},
            n=1,
            target=LEAST_REDUCTION_SHARE,
            met=share >= LEAST_REDUCTION_SHARE,
            notes=nodes,
        )
    ]
    full = manifest.files[manifest.variant("fp32").file].num_bytes
    for one in manifest.variants[1:]:
        ratio = manifest.files[one.file].num_bytes / full
        target = MOST_SIZE_RATIO if one.precision == "int8" else None
        met = None if target is None else ratio <= target
        name = f"{one.precision}_size_ratio"
        figures.append(Figure(name, ratio, "1", {"model": net}, n=1, target=target, met=met))
        if one.decisions is not None:
            gate, params = one.decisions, {"model": net, "precision": one.precision}
            figures.append(
                Figure(
                    "decision_loss_share",
                    gate.loss_share,
                    "share",
                    params,
                    n=gate.num_days,
                    ci95=gate.loss_ci95,
                    target=MOST_LOSS_SHARE,
                    met=gate.loss_share < MOST_LOSS_SHARE,
                    notes="from the manifest; doseflow export measures it",
                )
            )
            identical = gate.identical_share
            figures.append(Figure("identical_decisions_share", identical, "share", params, n=gate.num_cycles))
    return figures


def _speedup(eager: FormSamples, best: FormSamples, before: Case, after: Case, target: float | None) -> Figure:
    params = _params(best, *after) | {"eager_batch": before[1]}
    slow, fast = np.array(eager.milliseconds[before]), np.array(best.milliseconds[after])
    return _ratio("speedup_over_eager", slow * after[1], fast * before[1], params, target)


def _batching_gain(best: FormSamples, target: float | None) -> Figure:
    batch = max(batch for net, batch in best.milliseconds if net == CITY)
    alone, together = np.array(best.milliseconds[CITY, 1]), np.array(best.milliseconds[CITY, batch])
    return _ratio("batching_gain", alone * batch, together, _params(best, CITY, batch), target)


def _ratio(name: str, above: Any, below: Any, params: dict[str, Any], target: float | None) -> Figure:
    """Ratio of medians, with a bootstrap interval."""
    rng = np.random.default_rng(0)
    draws = [
        np.median(rng.choice(above, above.size)) / np.median(rng.choice(below, below.size)) for _ in range(_RESAMPLES)
    ]
    value = float(np.median(above) / np.median(below))
    low, high = np.percentile(draws, [2.5, 97.5])
    return Figure(
        name,
        value,
        "1",
        params,
        n=int(min(above.size, below.size)),
        ci95=(float(low), float(high)),
        target=target,
        met=None if target is None else value >= target,
    )


def _params(samples: FormSamples, net: str, batch: int) -> dict[str, Any]:
    form = samples.form
    return {
        "model": net,
        "engine": form.engine,
        "precision": form.precision,
        "batch": batch,
        "device": form.device,
    }
