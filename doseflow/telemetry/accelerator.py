"""
Accelerators as NVIDIA's management library (NVML) tells of them, read when Prometheus asks.

Without a card, a driver or the optional library (`pip install 'doseflow[gpu-metrics]'`) only
`doseflow_accelerator_up 0` is told: what cannot be read is absent, never 0.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from doseflow.telemetry.metric_table import NAME_TO_MEANING

UP = "doseflow_accelerator_up"
MILLIWATTS_PER_WATT = 1000
PER_CENT = 100
_READINGS: dict[str, Callable[[ModuleType, Any], float]] = {
    "doseflow_accelerator_temperature_celsius": lambda nvml, card: nvml.nvmlDeviceGetTemperature(
        card, nvml.NVML_TEMPERATURE_GPU
    ),
    "doseflow_accelerator_memory_used_bytes": lambda nvml, card: nvml.nvmlDeviceGetMemoryInfo(card).used,
    "doseflow_accelerator_memory_total_bytes": lambda nvml, card: nvml.nvmlDeviceGetMemoryInfo(card).total,
    "doseflow_accelerator_utilisation_share": lambda nvml, card: (
        nvml.nvmlDeviceGetUtilizationRates(card).gpu / PER_CENT
    ),
    "doseflow_accelerator_power_watts": lambda nvml, card: nvml.nvmlDeviceGetPowerUsage(card) / MILLIWATTS_PER_WATT,
}


class Accelerators(Collector):
    """Tells of every card, by its number; a reading that a card does not give is left out."""

    def __init__(self) -> None:
        self._nvml = _opened_nvml()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Read all cards once."""
        cards = _cards(self._nvml)
        yield GaugeMetricFamily(UP, NAME_TO_MEANING[UP][1], value=float(bool(cards)))
        for name, read in _READINGS.items():
            family = GaugeMetricFamily(name, NAME_TO_MEANING[name][1], labels=("card",))
            for number, card in enumerate(cards):
                value = _reading(self._nvml, read, card)
                if value is not None:
                    family.add_metric((str(number),), value)
            if family.samples:
                yield family

    def describe(self) -> list[GaugeMetricFamily]:
        """Names alone, so that registering reads no card."""
        return [GaugeMetricFamily(name, NAME_TO_MEANING[name][1]) for name in (UP, *_READINGS)]


def _opened_nvml() -> ModuleType | None:
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        return None
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return None
    return nvml


def _cards(nvml: ModuleType | None) -> list[Any]:
    if nvml is None:
        return []
    try:
        return [nvml.nvmlDeviceGetHandleByIndex(number) for number in range(nvml.nvmlDeviceGetCount())]
    except nvml.NVMLError:
        return []


def _reading(nvml: ModuleType | None, read: Callable[[ModuleType, Any], float], card: Any) -> float | None:
    if nvml is None:
        return None
    try:
        return float(read(nvml, card))
    except nvml.NVMLError:
        return None
