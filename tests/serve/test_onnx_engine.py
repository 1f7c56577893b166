from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from serve_samples import X, Y, toy_model

from doseflow.errors import EngineFailed, ModelWrong
from doseflow.serve.onnx_engine import OnnxEngine


def test_it_answers_any_batch_by_name():
    engine = OnnxEngine(toy_model())
    for rows in (1, 2, 3):
        answer = engine.run({"x": X[:rows]})
        np.testing.assert_allclose(answer["y"], Y[:rows])
        np.testing.assert_allclose(answer["z"], Y[:rows].sum(axis=1))


def test_an_input_that_the_net_does_not_know_is_left_aside():
    np.testing.assert_allclose(OnnxEngine(toy_model()).run({"x": X, "more": X})["y"], Y)


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ({}, "onnx_cpu: inputs must have x"),
        ({"x": X.astype(np.float64)}, "onnx_cpu: .*double"),
        ({"x": X[:, :2]}, "onnx_cpu: .*dimensions"),
        ({"x": None}, "onnx_cpu: "),
    ],
)
def test_what_the_net_cannot_take_is_an_engine_that_failed(inputs, sentence):
    with pytest.raises(EngineFailed, match=sentence):
        OnnxEngine(toy_model()).run(inputs)


def test_after_a_failure_it_answers_again():
    engine = OnnxEngine(toy_model())
    with pytest.raises(EngineFailed):
        engine.run({"x": X[:, :2]})
    np.testing.assert_allclose(engine.run({"x": X})["y"], Y)


def test_a_model_cut_short_is_refused():
    with pytest.raises(ModelWrong, match="ONNX Runtime cannot open it"):
        OnnxEngine(toy_model()[:-20])


def test_threads_may_ask_at_the_same_time():
    engine = OnnxEngine(toy_model(), num_threads=2)
    engine.warm_up({"x": X})
    asked = [np.full((2, 3), number, dtype=np.float32) for number in range(64)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda x: engine.run({"x": x})["z"], asked))
    np.testing.assert_allclose(answers, [[3 * (number + 1)] * 2 for number in range(64)])
