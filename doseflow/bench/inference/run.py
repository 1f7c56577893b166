"""The whole benchmark of the nets on one device."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from doseflow.bench.figures import Figure
from doseflow.bench.inference.forms import BATCHES, NETS, ONNX_GRAPH, OPTIMISED, forms_on
from doseflow.bench.inference.inference_figures import gain_figures, graph_figures, latency_figures, may_serve
from doseflow.bench.inference.rounds import take_turns
from doseflow.bench.inference.worker import WorkerOrder
from doseflow.errors import EnvironmentUnfit
from doseflow.export.graph_cleaning import graph_report
from doseflow.serve.bundle import Bundle, open_bundle
from doseflow.serve.opened_model import PACKAGED_BUNDLES


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


def inference_figures(
    trial: InferenceTrial, say: Callable[[str], None], advance: Callable[[], None] = lambda: None
) -> list[Figure]:
    """
    Measure every form on a device.

    Raises
    ------
    InputWrong, EnvironmentUnfit, ModelWrong
    """
    forms = forms_on(trial.device)
    folders = {net: PACKAGED_BUNDLES / net for net in NETS}
    bundles = {net: open_bundle(folder) for net, folder in folders.items()}
    manifests = {net: bundle.manifest for net, bundle in bundles.items()}
    raws = {net: _raw_export(bundle) for net, bundle in bundles.items()}
    orders = [WorkerOrder(form, folders, raws, trial.batches, trial.threads) for form in forms]
    samples = take_turns(orders, trial.num_rounds, advance)
    figures: list[Figure] = []
    # What the serving engine of the device does is held to the target: on a card that is a recorded graph.
    serving = OPTIMISED if trial.device == "cpu" else ONNX_GRAPH
    for one in samples:
        if one.failed is not None:
            say(f"{one.form.label} does not run on {trial.device} here: {one.failed}")
        else:
            figures += latency_figures(one, is_judged=one.form.engine == serving and may_serve(one, manifests))
    figures += gain_figures(samples, manifests)
    for net, bundle in bundles.items():
        figures += graph_figures(net, graph_report(raws[net], bundle.model), manifests[net])
    return figures


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
