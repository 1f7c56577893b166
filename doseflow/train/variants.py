"""A bundle's net in FP16 and INT8, each judged before anything is said of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from doseflow.export.eighth_precision import calibration_record, eighth_precision
from doseflow.export.half_precision import half_precision
from doseflow.ports import Engine
from doseflow.serve.onnx_engine import OnnxEngine
from doseflow.serve.precision import MODEL_FILES, WIDEST_TOLERANCE, Precision, is_finer_or_same
from doseflow.serve.variant import DecisionGate, DeviceVerdict, Variant

CALIBRATION_SOURCE = "cycles of simulated days of the training families, which no training saw"
GOLDEN_MARGIN = 2.0
"""An engine may round otherwise than the one here: so much more than was found it may be off a golden output."""
LEAST_TOLERANCE: dict[Precision, float] = {"fp32": 1e-4, "fp16": 0.02, "int8": 1e-4}
"""
At least. A processor works in single precision where a card works in half: an H200 was 8.5e-3 off where twice what the
processor was off would have allowed 1.0e-3.
"""
LEAST_SPEEDUP = 1.05
"""What is less is within the noise of a measurement, and worth no rounding."""

Arrays = Mapping[str, NDArray[Any]]


class Judged(Protocol):
    """What a gate on decisions says of a net."""

    @property
    def gate(self) -> DecisionGate:
        """The figures."""

    @property
    def tensor_error(self) -> float:
        """As in `Variant`."""

    @property
    def reason(self) -> str | None:
        """Why it must not serve."""


Judge = Callable[[str, Engine, Mapping[str, Engine]], Mapping[str, Judged]]
"""Name of the net, its FP32 engine, and the engines to judge, to what is said of each."""
Speedups = Callable[[Mapping[Precision, bytes]], Mapping[Precision, float]]
"""Files by precision, FP32 among them, to how many times as fast as FP32 each is."""


def coarser_models(model: bytes, samples: Sequence[Arrays], *, keeps_inputs: bool) -> dict[Precision, bytes]:
    """The net in FP16 and INT8; `keeps_inputs` as in `eighth_precision`."""
    return {"fp16": half_precision(model), "int8": eighth_precision(model, samples, keeps_inputs=keeps_inputs)}


def variants_of(
    models: Mapping[Precision, bytes],
    golden: tuple[Arrays, Arrays],
    samples: Sequence[Arrays],
    lowest: Mapping[str, Precision],
    judged: Mapping[str, Judged],
    speedups: Mapping[Precision, float],
    device: str,
) -> list[Variant]:
    """
    What the manifest says of every precision in `models`.

    Parameters
    ----------
    golden
        Inputs and outputs.
    lowest
        How coarse each output may be.
    judged, speedups
        By precision; speed on `device`.
    """
    inputs, outputs = golden
    variants = []
    for precision, model in models.items():
        off = _off(OnnxEngine(model).run(inputs), outputs)
        one = judged[precision]
        variants.append(
            Variant(
                precision=precision,
                file=MODEL_FILES[precision],
                golden_tolerance=_tolerance(precision, off),
                tensor_error=one.tensor_error,
                decisions=one.gate,
                devices={device: verdict(precision, lowest, one.reason, speedups[precision], device)},
                calibration=calibration_record(samples, CALIBRATION_SOURCE) if precision == "int8" else None,
            )
        )
    return variants


def verdict(
    precision: Precision, lowest: Mapping[str, Precision], failed: str | None, speedup: float, device: str
) -> DeviceVerdict:
    """Whether a precision serves on a device: allowed for every output, through the gates, and faster than FP32."""
    too_coarse = [name for name, one in lowest.items() if not is_finer_or_same(precision, one)]
    reason = failed
    if too_coarse:
        reason = f"{' and '.join(too_coarse)} must be {lowest[too_coarse[0]]} or better, however fast it is."
    elif reason is None and not speedup >= LEAST_SPEEDUP:
        reason = f"It is {speedup:.2f} times as fast as FP32 on {device}, and must be {LEAST_SPEEDUP:g} times."
    return DeviceVerdict(serves=reason is None, speedup=round(speedup, 3), reason=reason)


def _tolerance(precision: Precision, off: float) -> float:
    return float(np.clip(GOLDEN_MARGIN * off, LEAST_TOLERANCE[precision], WIDEST_TOLERANCE[precision]))


def _off(answered: Arrays, outputs: Arrays) -> float:
    return max(
        float((np.abs(answered[name] - expected) / np.maximum(np.abs(expected), 1.0)).max())
        for name, expected in outputs.items()
    )
