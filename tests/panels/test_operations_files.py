"""What an operator installs: dashboards, their provisioning, scrape configuration, alert rules, runbook."""

import json
import re
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from doseflow.panels.dashboard import read_dashboard
from doseflow.telemetry.metric_table import NAME_TO_MEANING
from doseflow.telemetry.metrics import CYCLE_BUCKETS_SECONDS

ROOT = Path(__file__).parents[2]
DASHBOARDS = sorted((ROOT / "deploy/grafana/dashboards").glob("*.json"))
ALERTS = ROOT / "deploy/prometheus/alerts.yml"
RULES = [rule for group in yaml.safe_load(ALERTS.read_bytes())["groups"] for rule in group["rules"]]
NAMES_OF_PROMETHEUS = {"up"}
PROMTOOL = shutil.which("promtool")
NOT_SHOWN = {
    "doseflow_event_listeners",
    "doseflow_forecast_scored_total",
    "doseflow_waits_compared_total",
    "doseflow_breaker_opened_total",
    "doseflow_release_history_damaged_lines",
}


def panels_of(path):
    return json.loads(path.read_bytes())["panels"]


def expressions():
    for path in DASHBOARDS:
        for panel in panels_of(path):
            for target in panel.get("targets", []):
                yield target["expr"]
    for rule in RULES:
        yield rule["expr"]


def metrics_in(expression):
    found = set(re.findall(r"\bdoseflow_\w+", expression)) | (set(re.findall(r"\bup\b", expression)))
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in found}


def test_every_expression_asks_for_metrics_that_are_told():
    asked = set().union(*map(metrics_in, expressions()))
    assert asked - NAMES_OF_PROMETHEUS <= set(NAME_TO_MEANING)


def test_every_metric_that_an_operator_needs_is_on_a_dashboard():
    targets = [target for path in DASHBOARDS for panel in panels_of(path) for target in panel.get("targets", [])]
    shown = set().union(*(metrics_in(target["expr"]) for target in targets))
    assert set(NAME_TO_MEANING) - shown == NOT_SHOWN


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.name)
def test_a_dashboard_is_what_its_tool_writes_and_can_be_drawn(path):
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import make_dashboards
    finally:
        sys.path.pop(0)
    assert path.read_text(encoding="utf-8") == make_dashboards.written(make_dashboards.DASHBOARDS[path.name])
    assert read_dashboard(path).sections


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.name)
def test_panels_have_ids_of_their_own_keep_to_the_grid_and_do_not_overlap(path):
    panels = panels_of(path)
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    assert all(place["x"] >= 0 and place["x"] + place["w"] <= 24 for place in places)
    for one, other in combinations(places, 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart


def test_dashboards_ask_the_data_source_that_is_provisioned():
    provisioned = yaml.safe_load((ROOT / "deploy/grafana/provisioning/datasources/prometheus.yml").read_bytes())
    uids = {source["uid"] for source in provisioned["datasources"]}
    asked = {panel["datasource"]["uid"] for path in DASHBOARDS for panel in panels_of(path) if "datasource" in panel}
    assert asked == uids
    assert len({json.loads(path.read_bytes())["uid"] for path in DASHBOARDS}) == len(DASHBOARDS)


def test_prometheus_reads_the_rules_and_the_job_that_they_name():
    config = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_bytes())
    assert config["rule_files"] == [ALERTS.name]
    jobs = {job["job_name"] for job in config["scrape_configs"]}
    assert {job for each in expressions() for job in re.findall(r"job=['\"](\w+)['\"]", each)} <= jobs


def test_limits_of_time_in_the_rules_are_bounds_of_buckets():
    # A quantile of a histogram is only sure about its bounds.
    for expression in expressions():
        for limit in re.findall(r"histogram_quantile\(.*\) > ([\d.]+)", expression):
            assert float(limit) in CYCLE_BUCKETS_SECONDS


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_says_how_bad_it_is_and_has_a_page_that_says_what_to_do(rule):
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    notes = rule["annotations"]
    assert set(notes) == {"summary", "description", "runbook_url"}
    assert notes["runbook_url"] == f"docs/runbook/{rule['alert']}.md"
    page = (ROOT / notes["runbook_url"]).read_text(encoding="utf-8")
    assert page.startswith(f"# {rule['alert']}\n")
    for heading in ("## What it means", "## What to look at", "## What to do"):
        assert heading in page
    assert rule["expr"] in page
    assert "://" not in re.sub(r"http://127\.0\.0\.1\S*", "", page)


def test_every_page_of_the_runbook_belongs_to_an_alert_and_the_index_names_them_all():
    pages = {path.stem for path in (ROOT / "docs/runbook").glob("*.md")} - {"README"}
    assert pages == {rule["alert"] for rule in RULES}
    index = (ROOT / "docs/runbook/README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\((\w+)\.md\)", index)) == pages


def test_the_runbook_names_only_commands_and_doors_that_there_are():
    from typer.main import get_command

    from doseflow.cli import app

    commands = set(get_command(app).commands)
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs/runbook").glob("*.md"))
    assert set(re.findall(r"`doseflow ([a-z]+)", text)) <= commands | {"models"}


@pytest.mark.skipif(PROMTOOL is None, reason="NO PROMTOOL HERE; `apt-get install prometheus` brings it")
def test_promtool_finds_the_files_right_and_their_stories_true():
    for command in (
        ["check", "config", "prometheus.yml"],
        ["check", "rules", "alerts.yml"],
        ["test", "rules", "alerts_test.yml"],
    ):
        done = subprocess.run([PROMTOOL, *command], check=False, cwd=ALERTS.parent, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
