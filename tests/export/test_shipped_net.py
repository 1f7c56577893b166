"""The bundle that ships: small, whole, plain, and served without the training library."""

import subprocess
import sys

import numpy as np
import pytest
from export_samples import plain_only

from doseflow.forecast.net_inputs import BUCKETS, NET_INPUTS_VERSION
from doseflow.serve.bundle import GOLDEN_TOLERANCE, golden_check, open_bundle
from doseflow.serve.onnx_engine import OnnxEngine
from doseflow.serve.opened_model import PACKAGED_BUNDLES, open_model

FOLDER = PACKAGED_BUNDLES / "forecaster"
MAX_BYTES = 5 * 2**20


def test_it_opens_for_the_inputs_of_this_version_and_answers_its_golden_inputs():
    opened = open_model(FOLDER, feature_schema_version=NET_INPUTS_VERSION)
    assert opened.golden_difference <= GOLDEN_TOLERANCE
    assert opened.bundle.manifest.name == "forecaster"
    assert opened.bundle.manifest.max_sites == BUCKETS[-1]


def test_it_is_under_five_megabytes():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= MAX_BYTES


def test_its_golden_answers_are_quantiles():
    outputs = open_bundle(FOLDER).golden_outputs
    assert set(outputs) == {"arrivals_people", "doses_rest_of_day"}
    for quantiles in outputs.values():
        assert (quantiles >= 0).all()
        assert (np.diff(quantiles, axis=-1) >= 0).all()
        assert quantiles.std() > 0


def test_its_graph_has_plain_operators_only():
    onnx = pytest.importorskip("onnx")
    plain_only(open_bundle(FOLDER).model)
    assert not any(one.external_data for one in onnx.load_from_string(open_bundle(FOLDER).model).graph.initializer)


@pytest.mark.parametrize("name", ["forecaster", "policy"])
def test_every_precision_of_every_net_is_plain_and_answers_the_golden_inputs(name):
    pytest.importorskip("onnx")
    bundle = open_bundle(PACKAGED_BUNDLES / name)
    for variant in bundle.manifest.variants:
        quantised = {"QuantizeLinear", "DequantizeLinear"} if variant.precision == "int8" else set()
        plain_only(bundle.model_of(variant.precision), also=quantised)
        engine = OnnxEngine(bundle.model_of(variant.precision))
        assert golden_check(bundle, engine, variant.precision) <= variant.golden_tolerance


SERVES = """
import sys
from doseflow.bootstrap import make_planner
from doseflow.settings import Settings

planner = make_planner(Settings(forecaster="learned"))
assert planner.forecaster.name == "learned"
training = ("torch", "onnx", "doseflow.networks", "doseflow.train", "doseflow.export")
loaded = [name for name in training if name in sys.modules]
assert "onnxruntime" in sys.modules
print("loaded:", loaded)
"""


def test_what_serves_it_loads_no_training_library():
    done = subprocess.run([sys.executable, "-c", SERVES], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "loaded: []"
