import time
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from doseflow.telemetry.metric_table import NAME_TO_MEANING, YES_OR_NO
from doseflow.telemetry.metrics import CYCLE_BUCKETS_SECONDS, make_metrics


def figures(client) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def wait_for(client, name: str, value: float) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    for _ in range(200):
        found = figures(client)
        if found.get((name, ())) == value:
            return found
        time.sleep(0.01)
    raise AssertionError(f"{name} never came to {value}")


def registered_names() -> set[str]:
    return {
        name + ("_total" if kind == "counter" else "")
        for collector in make_metrics().registry._collector_to_names
        for family in collector.describe()
        for name, kind in [(family.name, family.type)]
    }


def test_the_table_names_exactly_the_metrics_that_are_registered():
    assert registered_names() == set(NAME_TO_MEANING)


def test_a_unit_in_the_table_stands_in_the_name():
    for name, (unit, _) in NAME_TO_MEANING.items():
        if unit == YES_OR_NO:
            assert not name.endswith("_total")
        else:
            assert name.endswith("_total") if unit == "1" else unit in name.removesuffix("_total").split("_")[-1]


def test_the_reference_page_tells_every_metric_with_its_unit_its_labels_and_its_meaning():
    labels = {
        family.name + ("_total" if family.type == "counter" else ""): ", ".join(getattr(one, "_labelnames", ()))
        for one in make_metrics().registry._collector_to_names
        for family in one.describe()
    }
    labels |= {name: "card" for name in labels if name.startswith("doseflow_accelerator_") and name[-3:] != "_up"}
    rows = [f"| `{name}` | {unit} | {labels[name]} | {meaning} |" for name, (unit, meaning) in NAME_TO_MEANING.items()]
    page = (Path(__file__).parents[2] / "docs/reference/live-metrics.md").read_text(encoding="utf-8")
    assert [row for row in page.splitlines() if row.startswith("| `doseflow_")] == rows


def test_buckets_stand_on_both_sides_of_the_limit_of_100_milliseconds():
    assert 0.1 in CYCLE_BUCKETS_SECONDS
    assert list(CYCLE_BUCKETS_SECONDS) == sorted(CYCLE_BUCKETS_SECONDS)
    assert sum(0.05 <= bound <= 0.2 for bound in CYCLE_BUCKETS_SECONDS) >= 4


def test_two_cities_in_one_process_count_apart():
    one, other = make_metrics(), make_metrics()
    one.reports_accepted.inc()
    assert other.registry.get_sample_value("doseflow_reports_accepted_total") == 0


def test_a_cycle_is_counted_once_with_its_stages_orders_and_open_orders(played, client):
    client.get("/healthz")
    cycles = [played.play(), played.play()]
    found = wait_for(client, "doseflow_cycle_seconds_count", 2)
    total_seconds = sum(sum(cycle.stage_milliseconds.values()) for cycle in cycles) / 1000
    assert abs(found["doseflow_cycle_seconds_sum", ()] - total_seconds) < 1e-6
    for stage in cycles[0].stage_milliseconds:
        assert found["doseflow_cycle_stage_seconds_count", (("stage", stage),)] == 2
    made = sum(value for (name, _), value in found.items() if name == "doseflow_orders_created_total")
    assert made == sum(len(cycle.new_orders) for cycle in cycles)
    still_open = sum(value for (name, _), value in found.items() if name == "doseflow_open_orders")
    assert still_open == len(played.live.open_orders())


def test_a_cycle_that_is_told_twice_is_counted_once(played, client):
    played.play()
    wait_for(client, "doseflow_cycle_seconds_count", 1)
    for _ in range(3):
        played.live.feed.publish("cycle_completed", {})
    played.live.feed.publish("cycle_failed", {})
    assert wait_for(client, "doseflow_cycles_failed_total", 1)["doseflow_cycle_seconds_count", ()] == 1


def test_reports_are_counted_by_what_became_of_them(played, client):
    good = played.live_on()
    client.post("/api/v1/reports", content=good[0])
    client.post("/api/v1/reports", content=good[0])
    client.post("/api/v1/reports", content=b"\xff")
    found = figures(client)
    assert found["doseflow_reports_accepted_total", ()] == 1
    assert found["doseflow_reports_refused_total", (("problem", "repeated-report"),)] == 1
    assert found["doseflow_reports_refused_total", (("problem", "broken-body"),)] == 1
    assert found["doseflow_pending_reports", ()] == 1


def test_the_age_of_reports_and_the_silent_sites_are_told(played, client):
    num_sites = played.city.city.num_sites
    assert figures(client)["doseflow_silent_sites", ()] == num_sites
    played.live.submit(played.live_on()[0])
    played.live.run_cycle()
    found = figures(client)
    assert found["doseflow_silent_sites", ()] == num_sites - 1
    assert found["doseflow_report_age_minutes", (("statistic", "oldest"),)] < 10


def test_counts_go_on_when_nobody_listens_to_the_events(played):
    played.play()
    assert played.live.metrics.registry.get_sample_value("doseflow_cycle_seconds_count") == 1


def test_the_age_of_the_latest_cycle_goes_on_while_none_runs(played, client):
    assert figures(client)["doseflow_cycle_age_minutes", ()] == 0
    played.play()
    played.live_on()
    assert figures(client)["doseflow_cycle_age_minutes", ()] == 5


def test_whoever_keeps_counts_of_their_own_is_asked_before_the_metrics_are_read(played, client):
    played.live.tellers = (
        lambda metrics: metrics.engines.breaker_stands("policy", "open", {"timeout": 10}, times_opened=1),
    )
    found = figures(client)
    assert found["doseflow_breaker_state", (("engine", "policy"), ("state", "open"))] == 1
    assert found["doseflow_engine_failures_total", (("engine", "policy"), ("kind", "timeout"))] == 10
