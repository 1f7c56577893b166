"""The commands `doseflow export` and `doseflow bench inference`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console
from rich.progress import Progress

from doseflow.errors import EnvironmentUnfit
from doseflow.ports import Engine

out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)

JsonPath = Annotated[Path | None, typer.Option("--json", help="Also write it there, as JSON.")]
GATE_SEEDS = (901, 902, 903, 904)


def register(app: typer.Typer, bench: typer.Typer) -> None:
    """Add the commands."""
    app.command("export")(export)
    bench.command("inference")(bench_inference)


def export(
    bundle: Annotated[str, typer.Option("--bundle", help="forecaster, policy, or the folder of a bundle.")],
    folder: Annotated[Path, typer.Option("--out", help="Folder for the new bundle.")],
    days: Annotated[
        int,
        typer.Option(min=1, max=len(GATE_SEEDS), help="Days of every held-out scenario, lived with each precision."),
    ] = len(GATE_SEEDS),
    speeds: Annotated[
        Path | None,
        typer.Option(help="Figures of `doseflow bench inference`: write only where each precision serves, by them."),
    ] = None,
    json_path: JsonPath = None,
) -> None:
    """Write a bundle's net anew as ONNX, in FP32, FP16 and INT8, and say what each does to decisions; needs torch."""
    from doseflow.evaluate.precision_gate import GateOutcome, GateParams, judge

    try:
        from doseflow.train.device_verdicts import write_device_verdicts
        from doseflow.train.export_command import bundle_named, export_bundle, print_exported, print_variants
    except ImportError as error:
        raise EnvironmentUnfit(f"export: needs the package {error.name}: pip install 'doseflow[train]'") from error
    from doseflow.bench.inference.inputs import inputs_of_cities
    from doseflow.bench.inference.speedups import speedups_on_processor
    from doseflow.serve.bundle import open_bundle

    source, params = bundle_named(bundle), GateParams(seeds=GATE_SEEDS[:days])
    if speeds is not None:
        print_variants(write_device_verdicts(source, folder, speeds), out)
        return
    inputs = inputs_of_cities(open_bundle(source), 1, seed=1)
    with Progress(console=err) as progress:
        task = progress.add_task(f"{params.num_days} held-out days with each precision", total=None)

        def judged(net: str, fine: Engine, others: Mapping[str, Engine]) -> Mapping[str, GateOutcome]:
            progress.update(task, total=params.num_days * (1 + len(others)))
            return judge(net, fine, others, params, partial(progress.advance, task))

        exported = export_bundle(source, folder, judged, partial(speedups_on_processor, inputs=inputs))
    print_exported(exported, out)
    if json_path is not None:
        document = {
            "report": exported.report.__dict__,
            "variants": exported.manifest.model_dump(mode="json")["variants"],
        }
        json_path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2))


def bench_inference(
    device: Annotated[str, typer.Option(help="cpu, or cuda through ONNX Runtime's provider and CUDA graphs.")] = "cpu",
    rounds: Annotated[int, typer.Option(min=2, max=100_000, help="Turns of every form.")] = 40,
    batch: Annotated[list[int] | None, typer.Option(min=1, max=32, help="Cities at once (1, 8 and 32).")] = None,
    threads: Annotated[int, typer.Option(min=0, max=256, help="Of one run on the processor; 0: all cores.")] = 0,
    json_path: JsonPath = None,
) -> None:
    """Latency, requests a second and memory of the nets: eager, raw, optimised, FP16 and INT8; needs torch."""
    from doseflow.bench.figures import write_figures
    from doseflow.bench.inference.forms import BATCHES
    from doseflow.bench.inference.run import InferenceTrial, measure_inference
    from doseflow.bench.tables import print_figures

    trial = InferenceTrial(device, rounds, tuple(batch or BATCHES), threads)
    with Progress(console=err) as progress:
        task = progress.add_task(f"{rounds} rounds on {device}", total=rounds)
        run = measure_inference(trial, partial(err.print, highlight=False), partial(progress.advance, task))
    print_figures(run.figures, out)
    if json_path is not None:
        write_figures(json_path, run.figures, run.facts())
