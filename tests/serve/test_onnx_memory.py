"""What sessions of one process share, each case in a process of its own: sharing is for the whole process."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from serve_samples import X, Y, toy_model

from doseflow.errors import EngineTimedOut
from doseflow.serve.onnx_engine import OnnxEngine, OnnxParams
from doseflow.telemetry.deadline import deadline_at


def said_by(script: str, folder) -> str:
    (folder / "toy.onnx").write_bytes(toy_model())
    run = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_nets_that_share_add_no_threads_of_their_own(tmp_path):
    script = """
        import os
        from doseflow.serve.onnx_engine import OnnxEngine, OnnxParams

        def added(shares):
            def num_threads():
                return len(os.listdir("/proc/self/task"))
            model = open("toy.onnx", "rb").read()
            engines = [OnnxEngine(model, params=OnnxParams(4, shares_memory=shares))]
            first = num_threads()
            engines += [OnnxEngine(model, params=OnnxParams(4, shares_memory=shares)) for _ in range(3)]
            return num_threads() - first
        print(added({shares}))
    """
    assert said_by(script.replace("{shares}", "True"), tmp_path) == "0"
    assert int(said_by(script.replace("{shares}", "False"), tmp_path)) == 3 * 3


def test_a_net_that_wants_its_own_still_opens_where_the_process_shares(tmp_path):
    script = """
        import numpy as np
        from doseflow.serve.onnx_engine import OnnxEngine, OnnxParams
        model = open("toy.onnx", "rb").read()
        for shares in (True, False):
            engine = OnnxEngine(model, params=OnnxParams(2, shares_memory=shares))
            print(engine.run({"x": np.zeros((1, 3), np.float32)})["z"][0])
    """
    assert said_by(script, tmp_path).split() == ["3.0", "3.0"]


@pytest.mark.parametrize("params", [OnnxParams(has_arena=True), OnnxParams(binds_outputs=True), OnnxParams(2)])
def test_every_way_of_using_the_processor_answers_the_same(params):
    engine = OnnxEngine(toy_model(), params=params)
    for _ in range(2):
        answer = engine.run({"x": X})
        np.testing.assert_allclose(answer["y"], Y)
        np.testing.assert_allclose(answer["z"], Y.sum(axis=1))


def test_a_bound_run_reads_arrays_that_are_not_laid_out_in_a_row():
    turned = np.asfortranarray(X)
    np.testing.assert_allclose(
        OnnxEngine(toy_model(), params=OnnxParams(binds_outputs=True)).run({"x": turned})["y"], Y
    )


def test_after_its_deadline_it_does_not_answer():
    engine = OnnxEngine(toy_model())
    with deadline_at(0.0), pytest.raises(EngineTimedOut, match="by the deadline"):
        engine.run({"x": X})
    np.testing.assert_allclose(engine.run({"x": X})["y"], Y)
