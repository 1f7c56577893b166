"""On the processor, where the same sessions, blocks of memory and shapes run as on a card."""

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_city_packing import MEAN, toy_model_of_sites

from doseflow.bench.inference.inputs import inputs_of_cities
from doseflow.errors import DoseflowError, EngineFailed
from doseflow.serve import placed_block
from doseflow.serve.batcher import Batcher
from doseflow.serve.bundle import open_bundle
from doseflow.serve.city_packing import CityPacking
from doseflow.serve.engine_params import BatchParams
from doseflow.serve.fixed_shapes_engine import FixedShapesEngine
from doseflow.serve.onnx_engine import OnnxEngine
from doseflow.serve.opened_model import PACKAGED_BUNDLES
from doseflow.serve.placed_block import PlacedBlock


def fixed(model, sites, batches):
    seen = []

    def open_session(shape):
        options = onnxruntime.SessionOptions()
        for axis, length in shape.items():
            options.add_free_dimension_override_by_name(axis, length)
        seen.append(shape)
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    return FixedShapesEngine("fixed", model, sites=sites, batches=batches, open_session=open_session), seen


MEAN_FIXED, MEAN_SHAPES = fixed(MEAN, 9, (1, 2, 4, 8))
PLAIN = OnnxEngine(MEAN)


def asked(shape, rng):
    return {"x": rng.normal(size=shape).astype(np.float32), "mask": np.ones(shape, np.float32)}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 9)), min_size=1, max_size=6), st.integers(0, 2**16))
def test_each_city_gets_the_answer_it_gets_alone_whatever_lay_there_before(shapes, seed):
    rng = np.random.default_rng(seed)
    questions = [asked(shape, rng) for shape in shapes]
    for one, answer in zip(questions, MEAN_FIXED.run_together(questions), strict=True):
        # Divided by the sites that the mask has: what an earlier run left behind would be counted too.
        np.testing.assert_allclose(answer["y"], PLAIN.run(one)["y"], atol=1e-5)
        np.testing.assert_allclose(MEAN_FIXED.run(one)["y"], answer["y"], atol=1e-5)


def test_an_answer_stays_what_it_was_when_the_next_run_is_over():
    rng = np.random.default_rng(0)
    first = MEAN_FIXED.run(asked((2, 5), rng))["y"]
    kept = first.copy()
    MEAN_FIXED.run(asked((2, 5), rng))
    np.testing.assert_array_equal(first, kept)


def test_more_cities_than_the_largest_shape_are_answered_all_the_same():
    rng = np.random.default_rng(1)
    questions = [asked((3, 4), rng) for _ in range(5)]
    for one, answer in zip(questions, MEAN_FIXED.run_together(questions), strict=True):
        np.testing.assert_allclose(answer["y"], PLAIN.run(one)["y"], atol=1e-5)


def test_a_session_is_opened_for_every_batch_and_no_other():
    assert [shape["B"] for shape in MEAN_SHAPES] == [1, 2, 4, 8]
    assert {shape["S"] for shape in MEAN_SHAPES} == {9}


def test_a_wrong_type_is_refused_and_spoils_no_later_run():
    rng = np.random.default_rng(2)
    good, bad = asked((1, 3), rng), asked((1, 9), rng)
    with pytest.raises(EngineFailed, match="mask: must be float32, got float64"):
        MEAN_FIXED.run(bad | {"mask": bad["mask"].astype(np.float64)})
    np.testing.assert_allclose(MEAN_FIXED.run(good)["y"], PLAIN.run(good)["y"], atol=1e-5)


def test_too_many_sites_are_refused_with_the_setting_to_change():
    with pytest.raises(EngineFailed, match=r"fixed: made for at most .*engines\.sites"):
        MEAN_FIXED.run(asked((1, 10), np.random.default_rng(3)))


def test_a_net_of_single_sites_gets_cities_as_one_row():
    model = toy_model_of_sites()
    engine, _ = fixed(model, 6, (1, 4))
    rng = np.random.default_rng(4)
    plain = OnnxEngine(model)
    width = engine.input_axes["x"][1]
    for sizes in ((6, 6, 6, 5), (1,), (2, 3), (6,)):
        questions = [{"x": rng.normal(size=(size, width)).astype(np.float32)} for size in sizes]
        for one, answer in zip(questions, engine.run_together(questions), strict=True):
            np.testing.assert_allclose(answer["y"], plain.run(one)["y"], atol=1e-5)


@pytest.mark.parametrize("name", ["forecaster", "policy"])
def test_the_shipped_nets_answer_in_fixed_shapes_as_they_do_in_their_own(name):
    bundle = open_bundle(PACKAGED_BUNDLES / name)
    engine, _ = fixed(bundle.model, 64, (1, 4))
    plain = OnnxEngine(bundle.model)
    for cities in ((60,), (64, 10, 30), (16,)):
        questions = [inputs_of_cities(bundle, 1, seed, sites) for seed, sites in enumerate(cities)]
        for one, answer in zip(questions, engine.run_together(questions), strict=True):
            for output, expected in plain.run(one).items():
                np.testing.assert_allclose(answer[output], expected, rtol=1e-4, atol=1e-3)


def test_a_batcher_leaves_it_to_the_engine_to_lay_cities_side_by_side():
    rng = np.random.default_rng(5)
    question = asked((1, 4), rng)
    engine, runs = MEAN_FIXED, []

    class Watched:
        name = "watched"

        def run_together(self, questions):
            runs.append(len(questions))
            return engine.run_together(questions)

    batcher = Batcher(Watched(), CityPacking(MEAN), BatchParams(gather_milliseconds=0.0))
    np.testing.assert_allclose(batcher.ask("a", question)["y"], PLAIN.run(question)["y"], atol=1e-5)
    batcher.close()
    assert runs == [1]


class Reluctant:
    """A driver that pins nothing and copies nothing."""

    def use(self):
        pass

    def pinned(self, shape, dtype):
        raise DoseflowError("no")

    def copy_out(self, array, address):
        raise AttributeError("undefined symbol")


def test_without_pinned_memory_the_block_copies_all_the_same():
    block = PlacedBlock({"a": ((2, 3), np.float32), "b": ((5,), np.int64)}, "cpu", Reluctant())
    assert not block.arrays["a"].any()
    block.arrays["a"][...], block.arrays["b"][...] = 1.5, np.arange(5)
    block.send()
    block.arrays["a"][...], block.arrays["b"][...] = 0, 0
    block.fetch()
    assert (block.arrays["a"] == 1.5).all()
    np.testing.assert_array_equal(block.arrays["b"], np.arange(5))


def test_arrays_of_a_block_begin_where_a_card_reads_fastest():
    addresses = PlacedBlock({"a": ((3,), np.float32), "b": ((5,), np.int64), "c": ((1,), np.float16)}, "cpu").addresses
    offsets = [address - addresses["a"] for address in addresses.values()]
    assert offsets == [0, placed_block._ALIGNMENT, 2 * placed_block._ALIGNMENT]
