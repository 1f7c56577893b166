"""What `doseflow engine inspect` prints: engines, their kernels, and what each takes on the card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from doseflow.serve.fixed_shapes import text_of
from doseflow.serve.tensorrt.build_log import Kernel
from doseflow.serve.tensorrt.engine_manifest import EngineManifest

MEBIBYTE = 2**20


def print_engines(folder: Path, manifest: EngineManifest, out: Console) -> None:
    """One line an engine, and for which cards none could be built."""
    title = f"{folder.name}: {manifest.backend} {manifest.library_version}, compute capability"
    table = Table(
        *("engine", "shapes", "layers read", "kernels", "file MiB", "weights MiB", "while it runs MiB"),
        title=f"{title} {', '.join(manifest.capabilities)}",
    )
    for one in manifest.engines:
        num_bytes = manifest.files[one.file].num_bytes, one.weight_bytes, one.activation_bytes
        sizes = (f"{number / MEBIBYTE:.2f}" for number in num_bytes)
        shapes = "; ".join(text_of(shape) for shape in one.shapes)
        table.add_row(one.file, shapes, str(one.num_layers), str(one.num_kernels), *sizes)
    out.print(table)
    out.print(f"SHA-256 of {', '.join(f'{name} {told.sha256[:16]}' for name, told in manifest.files.items())}")
    for capability, why in manifest.left_out.items():
        out.print(f"not for compute capability {capability}: {why}", markup=False, highlight=False)


def print_kernels(name: str, kernels: Sequence[Kernel], out: Console, *, every: bool) -> None:
    """How many kernels of which kind, how many of them fuse nodes of the net, and each by name where asked for."""
    kinds = Counter(one.kind for one in kernels)
    fused = [one for one in kernels if len(one.nodes) > 1]
    num_nodes = len({node for one in kernels for node in one.nodes})
    told = ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())
    out.print(f"{name}: {told}; {len(fused)} kernels do more than one of {num_nodes} nodes", highlight=False)
    for one in kernels if every else ():
        out.print(f"  {one.name} ({one.kind}): {', '.join(one.nodes)}", markup=False, highlight=False)
