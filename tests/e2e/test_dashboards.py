"""A real Prometheus reads a real running city, and every panel of every dashboard has something to show."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import yaml
from prometheus_client import start_http_server

from doseflow.errors import InputWrong
from doseflow.gateways.prometheus import Prometheus
from doseflow.live.model_counts import PHASES
from doseflow.panels.dashboard import read_dashboard
from doseflow.telemetry.metrics import make_metrics

ROOT = Path(__file__).parents[2]
DASHBOARDS = sorted((ROOT / "deploy/grafana/dashboards").glob("*.json"))
SCREENSHOTS_INTO = "SCREENSHOTS_INTO"
"""Environment variable: a folder for the pictures of the documentation; left out, they go to the test's own."""
SECONDS_PER_CYCLE = 0.3
LONGEST_START_SECONDS = 200
MAY_BE_EMPTY = {
    "Distance of readings from the reference",
    "Answers of the two arms",
    "Time of the two arms",
    "Queue and batches",
}
"""Panels of days that a demo does not have, of a release that it does not make, of cities that share no engine."""
HAS_CARD = any(path.name.removeprefix("nvidia").isdigit() for path in Path("/dev").glob("nvidia*"))

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("browser"),
    pytest.mark.timeout(500),
    pytest.mark.skipif(
        shutil.which("prometheus") is None,
        reason="NO PROMETHEUS HERE, so dashboards and alerts are NOT tested against one; `apt-get install prometheus`",
    ),
]


@dataclass
class Watched:
    """A running city, the Prometheus that reads it, and a second target that is started when a test wants it."""

    prometheus_url: str
    hooks_port: int


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_until(what: str, seconds: float, holds) -> None:
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        try:
            if holds():
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"never came: {what}")


def value_of(url: str, expression: str) -> list[float]:
    answer = httpx.get(f"{url}/api/v1/query", params={"query": expression}).json()
    return [float(each["value"][1]) for each in answer["data"]["result"]]


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watched")
    city_port, prometheus_port, hooks_port = free_port(), free_port(), free_port()
    city = [sys.executable, "-m", "doseflow", "demo", "--city", "synthetic:12", "--port", str(city_port)]
    city += ["--seconds-per-cycle", str(SECONDS_PER_CYCLE), "--folder", str(folder / "var")]
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(ROOT / "deploy/prometheus/alerts.yml")],
        "scrape_configs": [
            {"job_name": "doseflow", "static_configs": [{"targets": [f"127.0.0.1:{city_port}"]}]},
            {"job_name": "hooks", "static_configs": [{"targets": [f"127.0.0.1:{hooks_port}"]}]},
        ],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    prometheus = ["prometheus", f"--config.file={folder / 'prometheus.yml'}", "--log.level=error"]
    prometheus += [f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{prometheus_port}"]
    environment = {**os.environ, "DOSEFLOW_PLANNER": "learned", "DOSEFLOW_FORECASTER": "learned"}
    with (folder / "city.log").open("w") as log, (folder / "prometheus.log").open("w") as prometheus_log:
        running = [
            subprocess.Popen(city, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT),
            subprocess.Popen(prometheus, cwd=folder, stdout=prometheus_log, stderr=subprocess.STDOUT),
        ]
    try:
        url = f"http://127.0.0.1:{prometheus_port}"
        wait_until("Prometheus", LONGEST_START_SECONDS, lambda: httpx.get(f"{url}/-/ready").status_code == 200)
        # Every lead has been scored once the longest has.
        scored = "doseflow_forecast_scored_total{lead_minutes='120'}"
        wait_until("a score", LONGEST_START_SECONDS, lambda: sum(value_of(url, scored)) > 100)
        yield Watched(url, hooks_port)
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(20)


def test_the_dashboards_are_drawn_with_series_of_the_running_city(watched, browser, tmp_path):
    page_path = tmp_path / "dashboards.html"
    command = [sys.executable, "-m", "doseflow", "dashboards", "--prometheus", watched.prometheus_url]
    command += ["--folder", str(ROOT / "deploy/grafana/dashboards"), "--out", str(page_path), "--minutes", "0.5"]
    done = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pictures = Path(os.environ.get(SCREENSHOTS_INTO, tmp_path))
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    requested = []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(page_path.as_uri())
    for path in DASHBOARDS:
        dashboard = read_dashboard(path)
        board = page.locator(f'[data-dashboard="{dashboard.uid}"]')
        may_be_empty = MAY_BE_EMPTY if HAS_CARD else MAY_BE_EMPTY | {"Temperature", "Memory", "Utilisation", "Power"}
        for panel in (each for section in dashboard.sections for each in section.panels):
            drawn = board.locator(f'[data-panel="{panel.title}"]').first
            if panel.title not in may_be_empty:
                assert drawn.get_attribute("data-state") == "full", panel.title
        board.screenshot(path=pictures / f"dashboard-{path.stem}.png")
        assert (pictures / f"dashboard-{path.stem}.png").stat().st_size > 30_000
    assert page.locator("polyline.line").count() > 30
    assert requested == [page_path.as_uri()]
    page.close()


def test_every_query_of_every_panel_returns_series(watched):
    server, thread = start_http_server(watched.hooks_port, "127.0.0.1", registry=fed_hooks().registry)
    try:
        url = watched.prometheus_url
        wait_until("the hooks", 30, lambda: sum(value_of(url, "count_over_time(up{job='hooks'}[1m]) * up")) >= 3)
        time.sleep(3)  # two samples, so that there is a rate
        silent = [
            query.expression
            for path in DASHBOARDS
            for section in read_dashboard(path).sections
            for panel in section.panels
            for query in panel.queries
            if not value_of(url, query.expression)
        ]
    finally:
        server.shutdown()
        thread.join()
    of_cards = [each for each in silent if each.startswith("doseflow_accelerator_") and "_up" not in each]
    assert [each for each in silent if each not in of_cards] == []
    assert bool(of_cards) != HAS_CARD


def test_every_alert_is_understood_and_evaluated_without_an_error(watched):
    def rules():
        groups = httpx.get(f"{watched.prometheus_url}/api/v1/rules").json()["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]

    wait_until("an evaluation of every rule", 30, lambda: all(rule["health"] != "unknown" for rule in rules()))
    written = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_bytes())["groups"]
    assert {rule["name"] for rule in rules()} == {rule["alert"] for group in written for rule in group["rules"]}
    assert {(rule["health"], rule.get("lastError", "")) for rule in rules()} == {("ok", "")}


def test_a_question_that_prometheus_does_not_understand_is_refused_in_a_sentence(watched):
    with Prometheus(watched.prometheus_url) as kept, pytest.raises(InputWrong, match="is not understood"):
        kept.range("rate(", 0, 1, 1)


def fed_hooks():
    """What engines and releases tell, told here: the seam is real, the engines are not."""
    metrics = make_metrics()
    engines = metrics.engines
    engines.answered("policy", 0.004)
    engines.batches_stand("policy", 1, 2, 6)
    engines.breaker_stands("policy", "open", {"timeout": 10}, 1)
    engines.release_stands("policy", "canary", PHASES, 0.1)
    engines.arm_answered("policy", "challenger", "good", 0.004)
    engines.rollbacks_stand("policy", by_itself=1, by_people=0)
    engines.alias_points_at("policy", "champion", "0" * 64)
    metrics.quality.drift_distance_share.labels("arrivals").set(0.05)
    metrics.receipts.labels("acknowledged").inc()
    return metrics
