"""Axes, buckets and padding, held to an engine that takes any shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_city_packing import MEAN

from doseflow.errors import EngineFailed
from doseflow.serve.axes import axes_of_model, cut, padded
from doseflow.serve.fixed_shapes import answered_in_pieces, shape_for, shapes_for
from doseflow.serve.onnx_engine import OnnxEngine

ENGINE = OnnxEngine(MEAN)
AXES, OUT_AXES = axes_of_model(MEAN)
SHAPES = shapes_for(AXES, 8, (1, 2, 4))


def asked(cities, sites, seed=0):
    x = np.random.default_rng(seed).normal(size=(cities, sites)).astype(np.float32)
    return {"x": x, "mask": np.ones_like(x)}


def in_fixed_shapes(inputs, seen):
    sizes, shape = shape_for("fixed", inputs, AXES, SHAPES)
    filled = padded(inputs, AXES, shape)
    seen.append(filled["x"].shape)
    # A city that is only padding divides by no site; its place is cut off.
    with np.errstate(all="ignore"):
        return cut(ENGINE.run(filled), OUT_AXES, sizes)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 11), st.integers(1, 8), st.integers(0, 1000))
def test_padding_and_pieces_change_no_answer(cities, sites, seed):
    inputs, seen = asked(cities, sites, seed), []
    answer = answered_in_pieces(lambda piece: in_fixed_shapes(piece, seen), inputs, AXES, SHAPES)
    np.testing.assert_allclose(answer["y"], ENGINE.run(inputs)["y"], atol=1e-6)
    assert set(seen) <= {(batch, 8) for batch in (1, 2, 4)}


@pytest.mark.parametrize(("cities", "batch"), [(1, 1), (2, 2), (3, 4), (4, 4)])
def test_the_smallest_shape_that_holds_it_is_taken(cities, batch):
    assert shape_for("fixed", asked(cities, 5), AXES, SHAPES)[1] == {"B": batch, "S": 8}


def test_more_sites_than_the_shapes_have_are_refused_with_the_setting_to_change():
    with pytest.raises(
        EngineFailed, match=r"made for at most .*8 sites.* got 1 cities, 9 sites .setting engines\.sites."
    ):
        shape_for("fixed", asked(1, 9), AXES, SHAPES)


def test_a_net_without_a_batch_axis_gets_longer_rows_instead():
    assert shapes_for({"features": ("S", 3)}, 256, (1, 8)) == ({"S": 256}, {"S": 2048})
