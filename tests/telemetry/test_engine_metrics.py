import pytest

from doseflow.telemetry.metrics import make_metrics


@pytest.fixture
def metrics():
    return make_metrics()


def value(metrics, name, **labels):
    return metrics.registry.get_sample_value(name, labels)


def test_a_breaker_is_in_exactly_one_state_and_its_totals_are_counted_once_however_often_they_are_told(metrics):
    for _ in range(3):
        metrics.engines.breaker_stands("forecaster", "open", {"timeout": 10, "error": 2}, 1)
    states = {
        state: value(metrics, "doseflow_breaker_state", engine="forecaster", state=state)
        for state in ("closed", "open", "half_open")
    }
    assert states == {"closed": 0, "open": 1, "half_open": 0}
    assert value(metrics, "doseflow_engine_failures_total", engine="forecaster", kind="timeout") == 10
    assert value(metrics, "doseflow_breaker_opened_total", engine="forecaster") == 1
    metrics.engines.breaker_stands("forecaster", "half_open", {"timeout": 12, "error": 2}, 1)
    assert value(metrics, "doseflow_engine_failures_total", engine="forecaster", kind="timeout") == 12
    assert value(metrics, "doseflow_breaker_state", engine="forecaster", state="open") == 0


def test_a_total_that_begins_anew_never_takes_anything_away(metrics):
    metrics.engines.breaker_stands("policy", "closed", {"error": 5}, 0)
    metrics.engines.breaker_stands("policy", "closed", {"error": 0}, 0)
    metrics.engines.breaker_stands("policy", "closed", {"error": 2}, 0)
    assert value(metrics, "doseflow_engine_failures_total", engine="policy", kind="error") == 7


def test_batches_and_the_queue_behind_them_are_told_by_engine(metrics):
    metrics.engines.batches_stand("policy", 3, 2, 9)
    metrics.engines.batches_stand("policy", 1, 3, 17)
    assert value(metrics, "doseflow_engine_batches_total", engine="policy") == 3
    assert value(metrics, "doseflow_engine_batched_requests_total", engine="policy") == 17
    assert value(metrics, "doseflow_engine_queue_requests", engine="policy") == 1


def test_a_release_is_in_one_phase_and_its_arms_are_counted_apart(metrics):
    phases = ("shadow", "canary", "full")
    metrics.engines.release_stands("policy", "canary", phases, 0.1)
    metrics.engines.arm_answered("policy", "challenger", "good", 0.002)
    metrics.engines.arm_answered("policy", "champion", "good", 0.001)
    metrics.engines.rollbacks_stand("policy", by_itself=1, by_people=0)
    assert [value(metrics, "doseflow_canary_phase", net="policy", phase=each) for each in phases] == [0, 1, 0]
    assert value(metrics, "doseflow_canary_share", net="policy") == 0.1
    assert value(metrics, "doseflow_canary_seconds_sum", net="policy", arm="challenger") == 0.002
    assert value(metrics, "doseflow_canary_rollbacks_total", net="policy", by="itself") == 1


def test_an_alias_that_moves_leaves_no_series_of_the_model_before(metrics):
    metrics.engines.alias_points_at("policy", "champion", "a" * 64)
    metrics.engines.alias_points_at("policy", "champion", "b" * 64)
    assert value(metrics, "doseflow_model_in_use", net="policy", alias="champion", digest="a" * 12) is None
    assert value(metrics, "doseflow_model_in_use", net="policy", alias="champion", digest="b" * 12) == 1
    metrics.engines.alias_points_at("policy", "champion", None)
    assert value(metrics, "doseflow_model_in_use", net="policy", alias="champion", digest="b" * 12) is None
