"""The script for whoever has a card: what it asks before it begins, and what it does on a card (played here)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from doseflow.serve.cuda_driver import why_no_device

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "tensorrt_on_device.sh"

CARD = """#!/bin/sh
[ "$1" = - ] && { cat >/dev/null; echo "$CARD"; exit 0; }
[ "$1" = -c ] && exit "$HAS_TORCH"
echo "$*" >> "$SAID"
case "$*" in *"$BREAKS"*) exit 2;; esac
"""


def run(*words, **variables):
    given = os.environ | {"PYTHON": sys.executable, "PYTHONPATH": str(ROOT)} | variables
    return subprocess.run([str(SCRIPT), *map(str, words)], capture_output=True, text=True, env=given, check=False)


@pytest.fixture
def on_card(tmp_path):
    """A function that runs the script with a Python that notes what it is asked."""
    python, said = tmp_path / "python", tmp_path / "said"
    python.write_text(CARD)
    python.chmod(0o755)

    def play(card, backend="tensorrt-rtx", breaks="nothing"):
        done = run(
            backend, tmp_path / "out", PYTHON=str(python), CARD=card, HAS_TORCH="0", SAID=str(said), BREAKS=breaks
        )
        return done, said.read_text().splitlines()

    return play


@pytest.mark.parametrize(
    ("words", "variables", "sentence"),
    [
        (("openvino",), {}, "must be tensorrt-rtx or tensorrt, got openvino"),
        (("tensorrt", "a", "b"), {}, "usage: "),
        ((), {"PYTHON": "no-such-python"}, "no-such-python is not there; set PYTHON"),
    ],
)
def test_what_it_cannot_do_is_one_sentence(words, variables, sentence):
    done = run(*words, **variables)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_card_it_says_so_and_builds_nothing(tmp_path):
    if why_no_device() is not None:
        done = run("tensorrt-rtx", tmp_path / "out")
        assert (done.returncode, done.stderr.strip()) == (2, why_no_device())
        assert not (tmp_path / "out").exists()


def test_on_a_t4_fp32_is_left_out_and_that_is_no_failure(on_card):
    done, said = on_card("7.5 Tesla T4")
    assert done.returncode == 0, done.stderr
    assert "fp32 is left out" in done.stdout
    assert not any("--precision fp32" in one for one in said)
    assert [one.split()[3] for one in said if " engine " in one] == ["build", "inspect", "verify", "bench"] * 2
    assert said[-1].startswith("-m doseflow bench inference --device cuda --json ")


def test_elsewhere_fp32_is_built_and_a_build_that_fails_is_a_failure(on_card):
    done, said = on_card("8.9 NVIDIA L4", breaks="engine build --backend tensorrt-rtx --precision int8")
    assert done.returncode == 1
    assert "int8: not built for 8.9" in done.stderr
    assert sum("engine bench" in one for one in said) == 2
    assert "engine build --backend tensorrt-rtx --precision fp32 --compute-capability 8.9" in said[0]


def test_tensorrt_builds_fp32_on_a_t4(on_card):
    assert "--precision fp32" in on_card("7.5 Tesla T4", "tensorrt")[1][0]
