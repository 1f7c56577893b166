"""The nets that doseflow ships: how each is made again of its weights, and what it takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from doseflow.domain.forecast import QUANTILE_LEVELS
from doseflow.errors import ModelWrong
from doseflow.forecast.net_inputs import AHEAD_CHANNELS, CANDIDATES, NUM_SITE_FEATURES, RECENT_CHANNELS
from doseflow.networks.arrival_net import ArrivalNet, ArrivalNetShape
from doseflow.networks.site_value_net import SiteValueNet
from doseflow.policy.site_values import FEATURES_INPUT, VALUES_OUTPUT
from doseflow.serve.bundle import Bundle, read_weights
from doseflow.train.forecaster_bundle import OUTPUTS
from doseflow.train.site_days import ViewOrder, rows_of_day
from doseflow.train.training_days import TOPOLOGY, DayOrder, training_day

Arrays = dict[str, NDArray[Any]]

FIRST_CALIBRATION_SEED = 700_001
"""Days that neither training nor validation nor golden inputs know."""
_ROWS_PER_SAMPLE = 256


@dataclass(frozen=True)
class NetKind:
    """
    A kind of net.

    `outputs` and `no_batch` are as in `export.onnx_file`; `samples_of_day` are inputs of one city of cycles of the
    simulated day of a seed, those with many cities one after the other.
    """

    outputs: tuple[str, ...]
    no_batch: tuple[str, ...]
    net_of: Callable[[Arrays], nn.Module]
    samples_of_day: Callable[[int], list[Arrays]]


def net_of_bundle(bundle: Bundle) -> nn.Module:
    """
    The net of a bundle as it was trained.

    Raises
    ------
    ModelWrong
        It is of no kind that is known, or its weights do not fit.
    """
    weights = read_weights(bundle)
    try:
        net = kind_of(bundle).net_of(weights)
        net.load_state_dict({name: torch.as_tensor(array) for name, array in weights.items()})
    except (KeyError, IndexError, RuntimeError) as error:
        raise ModelWrong(f"{bundle.manifest.name}: weights must be those of such a net: {error}") from error
    return net.eval()


def kind_of(bundle: Bundle) -> NetKind:
    """
    The kind of a bundle's net.

    Raises
    ------
    ModelWrong
        It is of none that is known.
    """
    name = bundle.manifest.name
    if name not in KINDS:
        raise ModelWrong(f"name: must be one of {', '.join(KINDS)}, got {name}")
    return KINDS[name]


def calibration_samples(kind: NetKind, num_days: int) -> list[Arrays]:
    """Inputs of cycles of simulated days of the training families."""
    return [sample for seed in range(num_days) for sample in kind.samples_of_day(FIRST_CALIBRATION_SEED + seed)]


def _arrival_net(weights: Mapping[str, NDArray[Any]]) -> nn.Module:
    layers = {name.split(".")[1] for name in weights if name.startswith("attention.")}
    shape = ArrivalNetShape(
        recent_channels=len(RECENT_CHANNELS),
        ahead_channels=len(AHEAD_CHANNELS),
        site_features=NUM_SITE_FEATURES,
        candidates=len(CANDIDATES),
        quantile_levels=QUANTILE_LEVELS,
        encoder="lstm" if any(name.startswith("encoder.lstm") for name in weights) else "convolution",
        width=len(weights["join.bias"]),
        heads=len(weights["attention.0.bias_of_self"]) if layers else 1,
        attention_layers=len(layers),
    )
    return ArrivalNet(shape)


def _site_value_net(weights: Mapping[str, NDArray[Any]]) -> nn.Module:
    width, num_features = weights["enter.weight"].shape
    num_layers = sum(name.startswith("layers.") and name.endswith(".bias") for name in weights)
    return SiteValueNet(num_features, len(weights["said.bias"]), width, num_layers)


def _cycles_of_day(seed: int) -> list[Arrays]:
    day = training_day(DayOrder(seed, stride=12))
    num_cycles = len(day.arrived_people)
    return [
        {
            name: array[None] if name in TOPOLOGY else array[cycle : cycle + 1].astype(np.float32)
            for name, array in day.inputs.items()
        }
        for cycle in range(num_cycles)
    ]


def _rows_of_day(seed: int) -> list[Arrays]:
    rows = rows_of_day(ViewOrder(seed, stride=12, copies=1))[FEATURES_INPUT]
    return [{FEATURES_INPUT: rows[first : first + _ROWS_PER_SAMPLE]} for first in range(0, len(rows), _ROWS_PER_SAMPLE)]


KINDS = {
    "forecaster": NetKind(OUTPUTS, (), _arrival_net, _cycles_of_day),
    "policy": NetKind((VALUES_OUTPUT,), (FEATURES_INPUT, VALUES_OUTPUT), _site_value_net, _rows_of_day),
}
