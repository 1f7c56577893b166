"""The whole benchmark of the nets on one device."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from doseflow.bench.figures import Figure
from doseflow.bench.inference.forms import BATCHES, NETS, ONNX_GRAPH, OPTIMISED, forms_on
from doseflow.bench.inference.inference_figures import gain_figures, graph_figures, latency_figures, may_serve
from doseflow.bench.inference.rounds import take_turns
from doseflow.bench.inference.worker import WorkerOrder
from doseflow.errors import EnvironmentUnfit
from doseflow.export.graph_cleaning import graph_report
from doseflow.serve.bundle import Bundle, open_bundle
from doseflow.serve.cuda_driver import cuda_device, why_no_device
from doseflow.serve.opened_model import PACKAGED_BUNDLES
from doseflow.serve.precision import Precision


@dataclass(frozen=True)
class InferenceTrial:
    """What is measured."""

    device: str = "cpu"
    num_rounds: int = 40
    batches: tuple[int, ...] = BATCHES
    num_threads: int = 0

    @property
    def threads(self) -> int:
        """Threads of a run on the processor: as many as it has cores, unless said."""
        return self.num_threads or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)


@dataclass(frozen=True)
class InferenceRun:
    """
    What was measured, and of what.

    `models` are the SHA-256 of the files, by net and precision; `card` is the name of the graphics card, None on the
    processor; `not_run` has the forms that could not run, each with the reason.
    """

    figures: Sequence[Figure]
    models: Mapping[str, Mapping[Precision, str]]
    card: str | None
    not_run: Mapping[str, str]

    def facts(self) -> dict[str, Any]:
        """What stands beside the figures in a file of them."""
        return {"models": self.models, "card": self.card, "not_run": self.not_run}


def measure_inference(
    trial: InferenceTrial, say: Callable[[str], None], advance: Callable[[], None] = lambda: None
) -> InferenceRun:
    """
    Measure every form on a device.

    Raises
    ------
    InputWrong, ModelWrong
    EnvironmentUnfit
        There is no card where one was asked for, or no form at all can run.
    """
    forms = forms_on(trial.device)
    if trial.device == "cuda" and (why := why_no_device()) is not None:
        raise EnvironmentUnfit(f"--device cuda: {why}")
    folders = {net: PACKAGED_BUNDLES / net for net in NETS}
    bundles = {net: open_bundle(folder) for net, folder in folders.items()}
    manifests = {net: bundle.manifest for net, bundle in bundles.items()}
    raws = {net: _raw_export(bundle) for net, bundle in bundles.items()}
    orders = [WorkerOrder(form, folders, raws, trial.batches, trial.threads) for form in forms]
    samples = take_turns(orders, trial.num_rounds, advance)
    not_run = {one.form.label: one.failed for one in samples if one.failed is not None}
    for label, why in not_run.items():
        say(f"{label} does not run on {trial.device} here: {why}")
    if len(not_run) == len(samples):
        raise EnvironmentUnfit(
            f"--device {trial.device}: no form of the nets runs here: {next(iter(not_run.values()))}"
        )
    figures: list[Figure] = []
    # What the serving engine of the device does is held to the target: on a card that is a recorded graph.
    serving = OPTIMISED if trial.device == "cpu" else ONNX_GRAPH
    for one in samples:
        if one.failed is None:
            figures += latency_figures(one, is_judged=one.form.engine == serving and may_serve(one, manifests))
    figures += gain_figures(samples, manifests)
    for net, bundle in bundles.items():
        figures += graph_figures(net, graph_report(raws[net], bundle.model), manifests[net])
    card = cuda_device().name if trial.device == "cuda" else None
    return InferenceRun(figures, {net: manifest.digests() for net, manifest in manifests.items()}, card, not_run)


def _raw_export(bundle: Bundle) -> bytes:
    try:
        from doseflow.export.onnx_file import onnx_bytes
        from doseflow.train.net_kinds import kind_of, net_of_bundle
    except ImportError as error:
        raise EnvironmentUnfit(
            f"bench inference: needs the package {error.name}: pip install 'doseflow[train]'"
        ) from error
    kind = kind_of(bundle)
    return onnx_bytes(net_of_bundle(bundle), bundle.golden_inputs, kind.outputs, kind.no_batch, fold_constants=False)
