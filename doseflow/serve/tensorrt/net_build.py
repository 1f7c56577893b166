"""A bundle's net built for a library: one engine for each batch, or one for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from doseflow.errors import EngineUnfit
from doseflow.serve.axes import axes_of_model
from doseflow.serve.bundle import Bundle
from doseflow.serve.cuda_driver import cuda_device
from doseflow.serve.engine_params import BATCHES, SITES
from doseflow.serve.fixed_shapes import shapes_for
from doseflow.serve.precision import Precision
from doseflow.serve.tensorrt.build_log import BuildReport
from doseflow.serve.tensorrt.engine_build import BuildOrder, build_apart
from doseflow.serve.tensorrt.engine_folder import sha256_of, write_engine_folder
from doseflow.serve.tensorrt.engine_manifest import ENGINE_FORMAT_VERSION, EngineManifest
from doseflow.serve.tensorrt.kept_cache import KeptCache, cache_key
from doseflow.serve.tensorrt.library import Backend, TensorrtLibrary, load_library

CAPABILITIES = ("7.5", "8.6", "8.9")
"""T4; A10 and GeForce 30; L4 and GeForce 40."""

_NO_FP32, _TAKE_FP16 = "FP32 GEMM is not supported", " (take --precision fp16 for this card)"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BuildParams:
    """
    What is built; `capabilities` is for TensorRT for RTX, the other library builds for the card at hand.

    `is_one_engine` makes one engine that takes every batch between the first and the last; its bytes may differ from
    build to build.
    """

    backend: Backend = "tensorrt-rtx"
    precision: Precision = "fp32"
    capabilities: tuple[str, ...] = CAPABILITIES
    sites: int = SITES
    batches: tuple[int, ...] = BATCHES
    is_one_engine: bool = False


def build_precisions(
    bundle: Bundle, params: BuildParams, asked: Sequence[Precision] | None, out: Path, say: Say = lambda _: None
) -> Iterator[tuple[Path, EngineManifest]]:
    """
    Build a net in several precisions, each in a folder of its own in `out`.

    Parameters
    ----------
    asked
        None is FP32 and every other that the bundle lets serve on a card: what serving tries there. One of those that
        cannot be built is then said and left out.

    Raises
    ------
    EngineUnfit
        None could be built, or one that was asked for could not.
    ModelWrong, InputWrong
    """
    manifest = bundle.manifest
    precisions = asked or [one.precision for one in manifest.variants if one.serves_on("cuda")]
    errors: list[EngineUnfit] = []
    for precision in precisions:
        folder = out / f"{manifest.name}-{precision}"
        try:
            built = build_net(bundle, replace(params, precision=precision), folder, say)
        except EngineUnfit as error:
            errors.append(error)
            if asked or len(errors) == len(precisions):
                raise
            say(f"{manifest.name} in {precision}: not built: {error}")
            continue
        yield folder, built


def build_net(bundle: Bundle, params: BuildParams, out: Path, say: Say = lambda _: None) -> EngineManifest:
    """
    Build and write a folder of engines.

    Parameters
    ----------
    say
        Told what is being done.

    Raises
    ------
    EngineUnfit
        The library is missing or builds for none of the capabilities.
    ModelWrong
        The bundle has no such precision, or the library cannot read the net.
    InputWrong
        The library knows no such capability.
    """
    library = load_library(params.backend)
    model = bundle.model_of(params.precision)
    input_axes, output_axes = axes_of_model(model)
    shapes = shapes_for(input_axes, params.sites, params.batches)
    asked = params.capabilities if library.is_rtx else ()
    for capability in asked:
        library.capability(capability)
    first = BuildOrder(params.backend, model, shapes if params.is_one_engine else shapes[:1], asked)
    say(f"{bundle.manifest.name} in {params.precision}: which cards")
    able, left_out = _able(first)
    engines: dict[str, tuple[bytes, BuildReport]] = {}
    facts: list[dict[str, Any]] = []
    for one in [shapes] if params.is_one_engine else [(shape,) for shape in shapes]:
        name = f"{_name_of(one)}.engine"
        say(f"{bundle.manifest.name} in {params.precision}: {name}")
        engine, report = _built(library, replace(first, shapes=one, capabilities=able), out)
        engines[name] = engine, report
        facts.append(_facts_of(name, one, report))
    told = {
        "format_version": ENGINE_FORMAT_VERSION,
        "backend": params.backend,
        "library_version": library.version,
        "net": bundle.manifest.name,
        "precision": params.precision,
        "model_sha256": sha256_of(model),
        "golden_tolerance": bundle.manifest.variant(params.precision).golden_tolerance,
        "capabilities": able,
        "left_out": left_out,
        "input_axes": input_axes,
        "output_axes": output_axes,
        "engines": facts,
    }
    return write_engine_folder(out, bundle, engines, told | _of_card(library))


def _able(order: BuildOrder) -> tuple[tuple[str, ...], dict[str, str]]:
    """The capabilities that the library can build the net for, and why not for the others."""
    if not order.capabilities:
        return (), {}
    try:
        build_apart(order)
    except EngineUnfit as error:
        if len(order.capabilities) == 1:
            raise EngineUnfit(_with_hint(error)) from error
        left_out = {one: why for one in order.capabilities if (why := _why_not(order, one))}
        able = tuple(one for one in order.capabilities if one not in left_out)
        if not able:
            raise EngineUnfit(f"{order.backend} can build it for none of {', '.join(order.capabilities)}") from error
        return able, left_out
    return order.capabilities, {}


def _why_not(order: BuildOrder, capability: str) -> str:
    try:
        build_apart(replace(order, capabilities=(capability,)))
    except EngineUnfit as error:
        return _with_hint(error)
    return ""


def _with_hint(error: EngineUnfit) -> str:
    return f"{error}{_TAKE_FP16}" if _NO_FP32 in str(error) else str(error)


def _built(library: TensorrtLibrary, order: BuildOrder, out: Path) -> tuple[bytes, BuildReport]:
    if library.is_rtx:
        built = build_apart(order)
        return built.engine, built.report
    # What was measured on this card is not measured again, so that the next build is quick and comes out the same.
    kept = KeptCache(out.parent / "timings", cache_key(library, cuda_device(), sha256_of(order.model)))
    built = build_apart(replace(order, timings=kept.read()))
    kept.write(built.timings)
    return built.engine, built.report


def _facts_of(name: str, shapes: Sequence[dict[str, int]], report: BuildReport) -> dict[str, Any]:
    return {
        "file": name,
        "shapes": shapes,
        "num_layers": report.num_layers,
        "num_kernels": len(report.kernels),
        "activation_bytes": report.activation_bytes,
        "weight_bytes": report.weight_bytes,
    }


def _name_of(shapes: Sequence[dict[str, int]]) -> str:
    return "_to_".join("_".join(f"{axis.lower()}{length}" for axis, length in one.items()) for one in shapes)


def _of_card(library: TensorrtLibrary) -> dict[str, Any]:
    if library.is_rtx:
        return {}
    card = cuda_device()
    return {"capabilities": (card.capability,), "card": card.name, "driver_version": card.driver_version}
