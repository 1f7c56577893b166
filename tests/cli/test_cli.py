"""The command line as a user meets it: a real process, its words, its exit code."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "morning.json"
QUICK_DEMO = ("--city", "synthetic:12", "--seconds-per-cycle", "0")


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "doseflow", *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def one_sentence(done: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


@pytest.fixture
def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def test_a_snapshot_is_planned_and_every_order_explained(tmp_path):
    done = run("plan", "--state", str(EXAMPLE), "--json", "plan.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    plan = json.loads((tmp_path / "plan.json").read_text())
    lines = done.stdout.splitlines()
    assert len(plan["decisions"]) >= 5
    assert f"{len(plan['decisions'])} orders for 16 sites by planner rules" in lines[-1]
    for decision in plan["decisions"]:
        assert any(decision["reason_en"] in line for line in lines)


@pytest.mark.parametrize(("planner", "language"), [("rules", "en"), ("learned", "zh")])
def test_every_order_is_explained_by_what_it_should_bring(tmp_path, planner, language):
    options = ["--explain", "--language", language]
    done = run("plan", "--state", str(EXAMPLE), *options, cwd=tmp_path, DOSEFLOW_PLANNER=planner, PYTHONUTF8="1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.strip().splitlines()
    assert f"by planner {planner} " in lines[-1]
    orders = [place for place, line in enumerate(lines[:-1]) if line[:3].strip().isdigit() and line[5:7].islower()]
    assert len(orders) >= 5
    alternative, saving = ("best alternative: ", "should save ") if language == "en" else ("最佳替代：", "预计少等")
    for place in orders:
        assert alternative in lines[place + 1]
        if "staff_move" in lines[place] and planner == "learned":
            assert lines[place + 1].strip().startswith(saving)


def test_the_same_snapshot_gives_the_same_plan(tmp_path):
    for name in ("a.json", "b.json"):
        assert run("plan", "--state", str(EXAMPLE), "--json", name, cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_chinese_is_a_language_and_klingon_is_not(tmp_path):
    chinese = run("plan", "--state", str(EXAMPLE), "--language", "zh", cwd=tmp_path, PYTHONUTF8="1")
    assert "接种" in chinese.stdout
    refused = run("plan", "--state", str(EXAMPLE), "--language", "tlh", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--language: must be en or zh" in one_sentence(refused)


def test_a_frozen_site_is_left_alone(tmp_path):
    document = json.loads(EXAMPLE.read_text())
    before = tmp_path / "before.json"
    run("plan", "--state", str(EXAMPLE), "--json", str(before), cwd=tmp_path)
    touched = json.loads(before.read_text())["decisions"]
    site_id = next(one["from_site_id"] for one in touched if one["kind"] == "staff_move")
    document["frozen_site_ids"] = [site_id]
    (tmp_path / "frozen.json").write_text(json.dumps(document))
    done = run("plan", "--state", "frozen.json", "--json", "after.json", cwd=tmp_path)
    assert done.returncode == 0
    for decision in json.loads((tmp_path / "after.json").read_text())["decisions"]:
        assert site_id not in {decision.get("site_id"), decision.get("from_site_id"), decision.get("to_site_id")}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda document: document["reports"][0].update(arrivals_people=-1), "reports.0.arrivals_people"),
        (lambda document: document["reports"][0].update(arivals_people=1), "reports.0.arivals_people"),
        (lambda document: document["city"].update(timezone="Moon/Tranquility"), "timezone"),
        (lambda document: document.pop("as_of"), "as_of"),
    ],
)
def test_a_wrong_state_file_is_refused_naming_the_field(tmp_path, change, field):
    document = json.loads(EXAMPLE.read_text())
    change(document)
    (tmp_path / "wrong.json").write_text(json.dumps(document))
    done = run("plan", "--state", "wrong.json", cwd=tmp_path)
    assert done.returncode == 2
    assert field in one_sentence(done)


def test_the_demo_runs_its_cycles_and_a_replay_gives_the_same_plan(tmp_path, free_port):
    done = run("demo", *QUICK_DEMO, "--cycles", "4", "--port", free_port, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("cycle") >= 4
    again = run("replay", "latest", "--store", f"sqlite:///var/demo-{free_port}.sqlite", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "the same plan" in again.stdout


def test_an_unknown_cycle_is_a_no_and_a_missing_store_an_input_error(tmp_path):
    missing = run("replay", "latest", "--store", "sqlite:///none.sqlite", cwd=tmp_path)
    assert missing.returncode == 2
    assert "none.sqlite" in one_sentence(missing)


def test_the_demo_stops_cleanly_when_interrupted(tmp_path, free_port):
    arguments = [sys.executable, "-m", "doseflow", "demo", "--city", "synthetic:12", "--seconds-per-cycle", "0.2"]
    demo = subprocess.Popen(
        [*arguments, "--port", free_port], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        for line in demo.stdout:
            if "planner" in line:
                break
        demo.send_signal(signal.SIGINT)
        _, stderr = demo.communicate(timeout=30)
    finally:
        demo.kill()
    assert demo.returncode == 0
    assert "stopped" in stderr
    assert "Traceback" not in stderr


def test_a_taken_port_is_one_sentence_and_exit_code_two(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for command in (("demo", *QUICK_DEMO), ("serve",)):
            done = run(*command, "--port", port, cwd=tmp_path)
            assert done.returncode == 2
            assert f"port {port} on 127.0.0.1 is taken" in one_sentence(done)


@pytest.mark.parametrize("name", ["synthetic:0", "synthetic:abc", "atlantis", "synthetic:99999999"])
def test_a_city_that_is_none_is_refused(tmp_path, free_port, name):
    done = run("demo", "--city", name, "--cycles", "1", "--port", free_port, cwd=tmp_path)
    assert done.returncode == 2
    assert "city" in one_sentence(done)


def test_serve_answers_and_stops_on_a_plain_kill(tmp_path, free_port):
    import httpx

    serve = subprocess.Popen(
        [sys.executable, "-m", "doseflow", "serve", "--port", free_port],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "DOSEFLOW_CITY": "synthetic:5",
            "DOSEFLOW_TICK__PERIOD_SECONDS": "1",
            "DOSEFLOW_TICK__GRACE_SECONDS": "0",
        },
    )
    try:
        base = f"http://127.0.0.1:{free_port}"
        cycle = None
        for _ in range(100):
            time.sleep(0.2)
            try:
                answer = httpx.get(f"{base}/api/v1/cycles/latest")
            except httpx.TransportError:
                continue
            if answer.status_code == 200:
                cycle = answer.json()
                break
        assert cycle is not None
        assert cycle["sites"] == 5
        serve.send_signal(signal.SIGTERM)
        _, stderr = serve.communicate(timeout=30)
    finally:
        serve.kill()
    assert serve.returncode == 0
    assert "Traceback" not in stderr


def test_a_benchmark_writes_the_agreed_figures(tmp_path):
    done = run("bench", "cycle", "--sites", "8", "--sites", "16", "--cycles", "20", "--json", "out.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    figures = json.loads((tmp_path / "out.json").read_text())["figures"]
    names = {figure["name"] for figure in figures}
    assert {"cycle_p50_milliseconds", "cycle_p95_milliseconds", "cycle_p99_milliseconds", "growth_exponent"} <= names
    assert all(figure["n"] == 20 for figure in figures if figure["name"].startswith("cycle_"))


def test_doctor_says_what_it_found(tmp_path, free_port):
    done = run("doctor", "--port", free_port, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "Python" in done.stdout
    assert "SQLite" in done.stdout


def test_a_result_that_cannot_be_written_is_one_sentence(tmp_path):
    done = run("plan", "--state", str(EXAMPLE), "--json", "nowhere/plan.json", cwd=tmp_path)
    assert done.returncode == 2
    assert one_sentence(done) == "nowhere/plan.json: No such file or directory"


def test_secrets_are_not_shown(tmp_path):
    done = run(
        "config",
        "show",
        cwd=tmp_path,
        DOSEFLOW_WEBHOOK__SECRET="whsec_not_for_eyes",  # noqa: S106 - made up
        DOSEFLOW_STORE__URL="postgresql://user:hunter2@host/db",
    )
    assert done.returncode == 0
    assert "not_for_eyes" not in done.stdout
    assert "hunter2" not in done.stdout
    assert "user:***@host" in done.stdout


def test_lines_are_whole_in_a_pipe(tmp_path, free_port):
    done = run("demo", *QUICK_DEMO, "--cycles", "2", "--port", free_port, cwd=tmp_path)
    cycles = [line for line in done.stdout.splitlines() if "planner" in line]
    assert len(cycles) == 2
    assert all("vaccinated today" in line for line in cycles)
