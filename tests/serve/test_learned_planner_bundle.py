"""The learned planner from its bundle to a plan: opened once, looked at by the doctor, safe with any weights."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import orjson
import pytest
from onnx import numpy_helper
from structlog.testing import capture_logs
from test_learned_planner import SHORT

from doseflow.bootstrap import make_planner, open_policy, policy_bundle
from doseflow.doctor import examine
from doseflow.errors import ModelWrong
from doseflow.evaluate.code_digest import code_digest
from doseflow.evaluate.planners import LADDER, check_planners, planner_of
from doseflow.evaluate.run import Run, play
from doseflow.feasible.referee import referee
from doseflow.planning import plan_snapshot
from doseflow.policy.learned_policy import LearnedPolicy
from doseflow.policy.site_values import FEATURES_INPUT, NUM_VALUES, VALUES_OUTPUT
from doseflow.policy.site_view import NUM_VIEW_FEATURES, SITE_VIEW_VERSION
from doseflow.serve.bundle import GOLDEN_TOLERANCE, write_bundle
from doseflow.serve.onnx_engine import OnnxEngine
from doseflow.serve.opened_model import PACKAGED_BUNDLES
from doseflow.settings import Settings

EXAMPLE = Path(__file__).parents[2] / "examples" / "morning.json"
MAX_BUNDLE_BYTES = 5_000_000
LEARNED = Settings(planner="learned")


def reweighted(change) -> OnnxEngine:
    """The packaged net in its real engine, with other weights."""
    model = onnx.load(policy_bundle(LEARNED) / "model.onnx")
    for tensor in model.graph.initializer:
        weights = numpy_helper.to_array(tensor)
        if weights.dtype == np.float32 and weights.size > NUM_VALUES - 1:
            tensor.CopyFrom(numpy_helper.from_array(change(weights).astype(np.float32), tensor.name))
    return OnnxEngine(model.SerializeToString())


def planned(engine, example=EXAMPLE):
    """The example planned with a net, and what the referee says."""
    planner = replace(make_planner(Settings()), policy=LearnedPolicy(engine))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("doseflow.planning.make_planner", lambda _settings: planner)
        cycle = plan_snapshot(example.read_bytes(), Settings()).cycle
    decisions = [one.decision for one in cycle.plan.decisions]
    found = referee(cycle.state, cycle.forecast, decisions)
    return cycle.plan, [violation for violation in found if violation.hard]


def test_the_packaged_net_opens_answers_its_golden_inputs_and_is_small():
    opened = open_policy(LEARNED)
    assert 0 <= opened.golden_difference <= GOLDEN_TOLERANCE
    assert sum(path.stat().st_size for path in policy_bundle(LEARNED).iterdir()) <= MAX_BUNDLE_BYTES
    manifest = opened.bundle.manifest
    assert (manifest.name, manifest.licence) == ("policy", "Apache-2.0")
    assert manifest.feature_schema_version == SITE_VIEW_VERSION
    assert opened.bundle.golden_inputs[FEATURES_INPUT].shape[1] == NUM_VIEW_FEATURES
    assert opened.bundle.golden_outputs[VALUES_OUTPUT].shape[1] == NUM_VALUES
    assert 0 < manifest.metrics["unexplained_share_people"] < 0.1 < manifest.metrics["fluid_unexplained_share_people"]


def test_a_snapshot_is_planned_by_the_net_and_the_referee_agrees():
    plan, violations = planned(open_policy(LEARNED).engine)
    assert (plan.planner, plan.why_this_planner) == ("learned", "")
    assert plan.decisions
    assert violations == []


def test_with_shuffled_weights_the_plan_is_allowed_all_the_same():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        plan, violations = planned(
            reweighted(lambda weights, rng=rng: rng.permutation(weights.ravel()).reshape(weights.shape))
        )
        assert plan.why_this_planner == ""
        assert violations == []


@pytest.mark.parametrize("factor", [np.nan, np.inf, 1e30])
def test_with_weights_that_overflow_the_plan_is_that_of_the_rules_in_the_same_cycle(factor):
    plan, violations = planned(reweighted(lambda weights: weights * factor))
    assert plan.planner == "rules"
    assert plan.why_this_planner.startswith("learned failed: EngineFailed: values: must be finite, got ")
    assert violations == []
    expected = plan_snapshot(EXAMPLE.read_bytes(), Settings()).cycle.plan
    assert plan.decisions == expected.decisions


def test_a_net_of_another_shape_leaves_the_rules():
    plan, _ = planned(OnnxEngine(shaped_model(NUM_VALUES - 1)))
    assert plan.planner == "rules"
    assert f"values: must be (16, {NUM_VALUES}), got (16, {NUM_VALUES - 1})" in plan.why_this_planner


def shaped_model(num_values):
    """A net that gives so many zeros for each site."""
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("MatMul", [FEATURES_INPUT, "weights"], [VALUES_OUTPUT])],
        "shaped",
        [helper.make_tensor_value_info(FEATURES_INPUT, kind, ["N", NUM_VIEW_FEATURES])],
        [helper.make_tensor_value_info(VALUES_OUTPUT, kind, ["N", num_values])],
        [numpy_helper.from_array(np.zeros((NUM_VIEW_FEATURES, num_values), dtype=np.float32), "weights")],
    )
    opset = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()


def test_the_settings_choose_the_bundle_and_another_one_makes_other_rows(tmp_path):
    assert policy_bundle(LEARNED) == PACKAGED_BUNDLES / "policy"
    copied = shutil.copytree(policy_bundle(LEARNED), tmp_path / "net")
    chosen = Settings(planner="learned", bundles={"policy": str(copied)})
    assert open_policy(chosen).bundle.folder == copied
    assert open_policy(chosen) is open_policy(chosen)
    assert code_digest(chosen) == code_digest(LEARNED)
    manifest = orjson.loads((copied / "manifest.json").read_bytes())
    (copied / "manifest.json").write_bytes(orjson.dumps(manifest | {"name": "other"}))
    assert code_digest(chosen) != code_digest(LEARNED)


def looked_at(settings, folder):
    (finding,) = (one for one in examine(0, folder, settings) if one.what == "site value net")
    return finding


def test_a_bundle_that_is_missing_or_for_other_features_is_refused_when_it_is_chosen(tmp_path):
    wrong = Settings(planner="learned", bundles={"policy": str(tmp_path / "nothing")})
    with pytest.raises(ModelWrong, match="cannot be read"):
        make_planner(wrong)
    make_planner(wrong.model_copy(update={"planner": "index"}))
    bundle = open_policy(LEARNED).bundle
    facts = bundle.manifest.model_dump(mode="json", exclude={"format_version", "inputs", "outputs", "files"})
    facts["feature_schema_version"] = SITE_VIEW_VERSION - 1
    write_bundle(tmp_path / "old", bundle.model, bundle.golden_inputs, bundle.golden_outputs, facts)
    with pytest.raises(ModelWrong, match="feature_schema_version"):
        make_planner(Settings(planner="learned", bundles={"policy": str(tmp_path / "old")}))


@pytest.mark.parametrize("planner", ["learned", "rules"])
def test_the_doctor_says_whether_the_net_answers_and_whether_it_matters(tmp_path, planner):
    assert looked_at(Settings(planner=planner), tmp_path).is_good
    wrong = looked_at(Settings(planner=planner, bundles={"policy": str(tmp_path / "nothing")}), tmp_path)
    assert not wrong.is_good
    assert "cannot be read" in wrong.advice
    assert wrong.is_optional == (planner != "learned")


@pytest.mark.parametrize("name", ["learned", "learned@last_value"])
def test_it_is_a_planner_of_the_ladder(name):
    assert "learned" in LADDER
    check_planners([name], Settings())
    assert planner_of(name, Settings(), None).policy.name == "learned"


def test_a_day_is_played_with_it_and_its_failures_are_counted(monkeypatch):
    with capture_logs():
        row = play(Run("learned", SHORT, 1), Settings(), "code")
    assert row.get("failed") is None
    assert row["measures"]["fallbacks"] == row["measures"]["referee_violations"] == 0
    monkeypatch.setattr(LearnedPolicy, "_valued", lambda *_: 1 / 0)
    row = play(Run("learned", SHORT, 1), Settings(), "code")
    assert row["measures"]["fallbacks"] == row["cycles"] > 0
