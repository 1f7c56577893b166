"""One precision of a bundle's net: how far it is off, what that does to decisions, and where it may serve."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

from doseflow.serve.precision import MODEL_FILES, WIDEST_TOLERANCE, Precision

_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
_Text = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
_Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_Share = Annotated[float, Ge(0), Le(1)]
_Count = Annotated[int, Ge(1)]


MOST_LOSS_SHARE = 0.008
"""A net with which the mean wait grows by this share or more does not serve."""


class Calibration(BaseModel):
    """How the ranges of an INT8 net were found; `data_sha256` is that of the arrays it was shown, in their order."""

    model_config = _STRICT
    method: Literal["minmax", "entropy", "percentile"]
    num_samples: _Count
    source: _Text
    data_sha256: _Digest


class DecisionGate(BaseModel):
    """
    What a precision does to decisions, against FP32 on held-out scenarios.

    `identical_share` is of the decisions that either plan had, `identical_plans_share` of whole plans of a city.
    `loss_share` is the growth of the mean wait over `num_days` days lived with each, in common random numbers, with its
    paired 95 % interval where there are enough days; `num_violations` counts what the referee found in its plans.
    """

    model_config = _STRICT
    num_cycles: _Count
    identical_share: _Share
    identical_plans_share: _Share
    num_violations: Annotated[int, Ge(0)]
    num_days: _Count
    loss_share: float
    loss_ci95: tuple[float, float] | None = None


def why_gate_fails(gate: DecisionGate) -> str | None:
    """Why a net that decides so must not serve, in a sentence; None where it may."""
    if gate.num_violations:
        return f"The referee found {gate.num_violations} violations in its plans."
    if not gate.loss_share < MOST_LOSS_SHARE:
        return (
            f"With it the mean wait grew by {100 * gate.loss_share:.2f} % on {gate.num_days} held-out days, and it must"
            f" stay under {100 * MOST_LOSS_SHARE:g} %."
        )
    return None


class DeviceVerdict(BaseModel):
    """
    Whether a precision serves on a device; if not, why, in a sentence.

    `speedup` is FP32's time over its own; `measured_on` names the card or processor that it was found on, where known.
    """

    model_config = _STRICT
    serves: bool
    speedup: Annotated[float, Gt(0)] | None = None
    reason: _Text | None = None
    measured_on: _Text | None = None

    @model_validator(mode="after")
    def _says_why_not(self) -> Self:
        if self.serves == (self.reason is not None):
            raise ValueError("reason must be given exactly where it does not serve")
        return self


class Variant(BaseModel):
    """
    One precision of the net.

    `tensor_error` is the largest difference to FP32 on the gates' cycles, in the output's unit or, above 1, as a share
    of it; None where it was not measured. FP32 serves everywhere; another serves where `devices` says so.
    """

    model_config = _STRICT
    precision: Precision
    file: _Text
    golden_tolerance: Annotated[float, Gt(0)]
    tensor_error: Annotated[float, Ge(0)] | None = None
    decisions: DecisionGate | None = None
    devices: dict[str, DeviceVerdict] = {}
    calibration: Calibration | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        widest = WIDEST_TOLERANCE[self.precision]
        if self.file != MODEL_FILES[self.precision]:
            raise ValueError(f"file of {self.precision} must be {MODEL_FILES[self.precision]}, got {self.file}")
        if self.golden_tolerance > widest:
            raise ValueError(f"golden_tolerance of {self.precision} must be at most {widest:g}")
        if (self.precision == "int8") != (self.calibration is not None):
            raise ValueError("calibration must be given for int8 and for nothing else")
        if self.precision != "fp32" and self.decisions is None and any(one.serves for one in self.devices.values()):
            raise ValueError(f"{self.precision} must pass the gates on decisions before it serves")
        return self

    def serves_on(self, device: str) -> bool:
        """Whether it may answer on a device, such as `cpu` or `cuda`."""
        return self.precision == "fp32" or (device in self.devices and self.devices[device].serves)

    def why_not_on(self, device: str) -> str | None:
        """Why it does not serve on a device, in a sentence; None where it does."""
        if self.serves_on(device):
            return None
        verdict = self.devices.get(device)
        told = verdict.reason if verdict is not None else None
        return told or f"{self.precision} was not measured on {device}."
