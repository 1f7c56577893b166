"""`doseflow engine build|inspect|verify|bench`: engines made, looked into, held to golden answers, and measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, TypeVar

import typer
from rich.console import Console

from doseflow.errors import EngineFailed, EngineUnfit, InputWrong, ModelWrong
from doseflow.serve.precision import PRECISIONS, Precision
from doseflow.serve.tensorrt.library import BACKENDS, Backend

PACKAGED = ("forecaster", "policy")
MOST_CITIES = 32
_Choice = TypeVar("_Choice", Backend, Precision)

engine = typer.Typer(help="Engines of TensorRT; see docs/guides/tensorrt.md.", no_args_is_help=True)
out = Console(soft_wrap=True)
err = Console(stderr=True, soft_wrap=True)

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of an engine, or of several.")]


@engine.command("build")
def engine_build(
    out_path: Annotated[Path, typer.Option("--out", help="Each net gets a folder in it.")],
    backend: Annotated[str, typer.Option(help="tensorrt-rtx builds without a card; tensorrt for the card here.")] = (
        "tensorrt-rtx"
    ),
    precision: Annotated[
        str | None,
        typer.Option(help="fp32, fp16 or int8. When left out: fp32, and every other that serves on a card."),
    ] = None,
    compute_capability: Annotated[str, typer.Option(help="Cards, for tensorrt-rtx.")] = "7.5,8.6,8.9",
    bundle: Annotated[
        list[str] | None, typer.Option(help="forecaster, policy or a bundle's folder; repeat it. Both when left out.")
    ] = None,
    sites: Annotated[int, typer.Option(min=1, max=4096, help="Sites of the bucket.")] = 256,
    batch: Annotated[str, typer.Option(help="Cities of each engine.")] = "1,8,32",
    one_engine: Annotated[bool, typer.Option("--one-engine", help="One engine for every batch in between.")] = False,
) -> None:
    """Build a bundle's nets."""
    from doseflow.serve.bundle import open_bundle
    from doseflow.serve.opened_model import PACKAGED_BUNDLES
    from doseflow.serve.tensorrt.engine_tables import print_engines
    from doseflow.serve.tensorrt.net_build import BuildParams, build_precisions

    params = BuildParams(
        _one_of("--backend", backend, BACKENDS),
        "fp32" if precision is None else _one_of("--precision", precision, PRECISIONS),
        tuple(dict.fromkeys(compute_capability.split(","))),
        sites,
        _batches(batch),
        one_engine,
    )
    # A folder that is not there must not be noticed after minutes of building.
    opened = [open_bundle(PACKAGED_BUNDLES / name if name in PACKAGED else Path(name)) for name in bundle or PACKAGED]
    _require_writable(out_path)

    def say(text: str) -> None:
        err.print(text, markup=False, highlight=False)

    for one in opened:
        asked = (params.precision,) if precision is not None else None
        for target, manifest in build_precisions(one, params, asked, out_path, say):
            print_engines(target, manifest, out)


@engine.command("inspect")
def engine_inspect(
    folder: Folder, kernels: Annotated[bool, typer.Option("--kernels", help="Every kernel by name.")] = False
) -> None:
    """List layers, fusions, sizes and memory on the card; needs neither card nor library."""
    from doseflow.serve.tensorrt.engine_folder import kernels_of, open_engine_folder
    from doseflow.serve.tensorrt.engine_tables import print_engines, print_kernels

    for one in _folders(folder):
        opened = open_engine_folder(one)
        print_engines(one, opened.manifest, out)
        for name, found in kernels_of(opened).items():
            print_kernels(name, found, out, every=kernels)


@engine.command("verify")
def engine_verify(folder: Folder) -> None:
    """Run the golden inputs on the card; exit 1 where an answer is off or there is no card that can."""
    from doseflow.serve.tensorrt.opened_folder import verify_folder

    is_good = True
    for one in _folders(folder):
        try:
            difference = verify_folder(one)
        except (EngineUnfit, EngineFailed, ModelWrong) as error:
            is_good = False
            err.print(f"{one.name}: {error}", markup=False, highlight=False)
            continue
        out.print(f"{one.name}: golden answers within {difference:.1e}", highlight=False)
    if not is_good:
        raise typer.Exit(1)


@engine.command("bench")
def engine_bench(
    device: Annotated[
        str | None, typer.Option(help="What the engine must run on, cpu or cuda; follows from the engine.")
    ] = None,
    name: Annotated[str, typer.Option("--engine", help="As in the setting engines.order.")] = "onnx_cpu",
    folder: Annotated[Path | None, typer.Option(help="Folder of built engines, for TensorRT.")] = None,
    precision: Annotated[str, typer.Option(help="fp32, fp16 or int8.")] = "fp32",
    seconds: Annotated[
        float, typer.Option(min=0.5, max=600, help="How long cities ask, each way; arrivals alone.")
    ] = 10.0,
    gather: Annotated[
        float | None, typer.Option(min=0, max=1000, help="Milliseconds for which arrivals are gathered.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="latency, arrivals, memory, hop or restarts; repeat it. All when left out.")
    ] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="Also write it there, as JSON.")] = None,
) -> None:
    """Gain of gathering, memory together and apart, and what a process of its own costs."""
    from doseflow.bench.figures import write_figures
    from doseflow.bench.inference.engine_figures import EngineTrial, engine_facts, engine_figures
    from doseflow.bench.tables import print_figures

    chosen = _one_of("--precision", precision, PRECISIONS)
    trial = EngineTrial(
        name, device, chosen, None if folder is None else str(folder), seconds, _milliseconds(gather), tuple(only or ())
    )
    figures = engine_figures(trial, lambda text: err.print(text, markup=False, highlight=False))
    print_figures(figures, out)
    if json_path is not None:
        write_figures(json_path, figures, engine_facts(trial))


def _folders(folder: Path) -> Sequence[Path]:
    from doseflow.serve.tensorrt.engine_folder import engine_folders

    found = engine_folders(folder)
    if not found:
        raise InputWrong(f"{folder}: there is no engine in it; `doseflow engine build --out {folder}` makes one")
    return found


def _require_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputWrong(f"--out: {folder} cannot be written ({error.strerror})") from error


def _milliseconds(gather: float | None) -> float:
    from doseflow.serve.engine_params import BatchParams

    return BatchParams().gather_milliseconds if gather is None else gather


def _one_of(option: str, given: str, allowed: Sequence[_Choice]) -> _Choice:
    for one in allowed:
        if one == given:
            return one
    raise InputWrong(f"{option}: must be one of {', '.join(allowed)}, got {given!r}")


def _batches(given: str) -> tuple[int, ...]:
    try:
        batches = tuple(sorted({int(part) for part in given.split(",")}))
    except ValueError as error:
        raise InputWrong(f"--batch: must be numbers with commas between, got {given!r}") from error
    if not 1 <= batches[0] <= batches[-1] <= MOST_CITIES:
        raise InputWrong(f"--batch: must lie in 1..{MOST_CITIES}, got {given!r}")
    return batches
