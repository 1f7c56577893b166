import json
import time
from datetime import UTC, datetime

import numpy as np
import pytest

from doseflow.bench.cycle import CycleTimes, ProcessorClock, figures_of, growth_exponents
from doseflow.bench.figures import Figure, percentile_figure, write_figures


def test_a_percentile_lies_in_its_interval_and_is_judged_against_its_target():
    samples = list(np.linspace(1, 101, 400))
    figure = percentile_figure("cycle_p99_milliseconds", samples, 99, {"sites": 3}, seed=1, target=100)
    assert figure.value == pytest.approx(100.0, abs=0.01)
    assert figure.ci95 is not None
    assert figure.ci95[0] <= figure.value <= figure.ci95[1]
    assert figure.met is True
    assert percentile_figure("x", samples, 99, {}, seed=1, target=99).met is False


def test_the_file_has_the_agreed_form(tmp_path):
    path = tmp_path / "out.json"
    write_figures(
        path, [Figure("cycle_p50_milliseconds", 12.5, "milliseconds", {"sites": 200}, 300, 1, (12, 13), 100, True)]
    )
    document = json.loads(path.read_text())
    assert set(document) == {"command", "version", "machine", "figures"}
    assert {"name", "value", "unit", "params", "n", "seed", "ci95", "target", "met"} <= set(document["figures"][0])
    assert document["machine"]["cores"] >= 1


def _times(num_sites: int, milliseconds: float, decision_milliseconds: float = 1.0) -> CycleTimes:
    decision = {"policy": decision_milliseconds * 0.75, "feasible": decision_milliseconds / 4}
    stages = {"intake": milliseconds / 2, "state": milliseconds / 2} | decision
    return CycleTimes(num_sites, [milliseconds] * 20, [stages] * 20, [3] * 20)


def test_linear_growth_has_exponent_one_and_quadratic_two():
    linear, of_decision = growth_exponents([_times(200, 10, 1), _times(2000, 100, 100)], planner="rules", seed=1)
    quadratic, _ = growth_exponents([_times(200, 10), _times(2000, 1000)], planner="rules", seed=1)
    assert of_decision.value == pytest.approx(2)
    assert linear.value == pytest.approx(1)
    assert linear.met
    assert quadratic.value == pytest.approx(2)
    assert not quadratic.met


def test_every_stage_and_the_three_percentiles_are_figures():
    figures = figures_of(_times(200, 10), planner="rules", seed=1)
    names = [figure.name for figure in figures]
    assert names[:3] == ["cycle_p50_milliseconds", "cycle_p95_milliseconds", "cycle_p99_milliseconds"]
    assert names[3:5] == ["decision_p50_milliseconds", "decision_p99_milliseconds"]
    assert {figure.params["stage"] for figure in figures[5:]} == {"intake", "state", "policy", "feasible"}


@pytest.mark.parametrize(
    ("sites", "took", "met"), [(200, 19, True), (200, 21, False), (2000, 79, True), (500, 9, None)]
)
def test_a_decision_is_the_proposal_and_its_repair_and_judged_where_a_target_stands(sites, took, met):
    named = {figure.name: figure for figure in figures_of(_times(sites, 500, took), planner="learned", seed=1)}
    assert named["decision_p50_milliseconds"].value == took
    assert named["decision_p50_milliseconds"].met is met
    assert named["decision_p99_milliseconds"].met is None


def test_time_that_the_processor_does_not_work_does_not_count():
    clock = ProcessorClock(datetime(2025, 5, 5, tzinfo=UTC))
    began_seconds, began_work = time.perf_counter(), clock.monotonic_seconds()
    time.sleep(0.2)
    worked = clock.monotonic_seconds() - began_work
    assert 0 <= worked < 0.5 * (time.perf_counter() - began_seconds)
