import sys
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from doseflow.telemetry.accelerator import Accelerators


def told() -> dict[str, float]:
    registry = CollectorRegistry()
    registry.register(Accelerators())
    return {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
        for line in generate_latest(registry).decode().splitlines()
        if not line.startswith("#")
    }


def num_cards() -> int:
    return sum(path.name.removeprefix("nvidia").isdigit() for path in Path("/dev").glob("nvidia*"))


def test_without_the_library_only_that_there_is_none_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert told() == {"doseflow_accelerator_up": 0}


@pytest.mark.skipif(num_cards() > 0, reason="this machine has a card")
def test_without_a_card_what_cannot_be_read_is_absent_and_not_nought():
    pytest.importorskip("pynvml")
    assert told() == {"doseflow_accelerator_up": 0}


@pytest.mark.skipif(num_cards() == 0, reason="NO NVIDIA CARD HERE: what NVML says of one is NOT tested")
def test_a_real_card_tells_readings_that_can_be_true():
    found = told()
    assert found["doseflow_accelerator_up"] == 1
    assert 10 < found['doseflow_accelerator_temperature_celsius{card="0"}'] < 110
    used = found['doseflow_accelerator_memory_used_bytes{card="0"}']
    assert 0 < used <= found['doseflow_accelerator_memory_total_bytes{card="0"}']
    assert 0 <= found['doseflow_accelerator_utilisation_share{card="0"}'] <= 1
