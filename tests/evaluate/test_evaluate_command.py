"""`doseflow evaluate` as its users meet it: wrong input is refused in one sentence, figures come out as agreed."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import orjson
import pytest
from evaluate_samples import SMALL, row, scenario_file

from doseflow import cli
from doseflow.errors import EnvironmentUnfit
from doseflow.evaluate import command, report_page
from doseflow.evaluate.code_digest import scenario_digest
from doseflow.evaluate.comparison import UNSURE
from doseflow.evaluate.results_file import ResultsFile
from doseflow.evaluate.run import Run, play
from doseflow.settings import Settings
from doseflow.simulate.scenario_file import packaged_scenarios


@dataclass
class Said:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    scenario_file(tmp_path)

    def run_command(*arguments: str) -> Said:
        monkeypatch.chdir(tmp_path)
        # Both would outlive the test: logs bound to a captured stream, and handlers of signals.
        monkeypatch.setattr(cli, "configure_logs", lambda: None)
        monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
        monkeypatch.setattr(sys, "argv", ["doseflow", "evaluate", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return Said(ended.value.code or 0, *capsys.readouterr())

    return run_command


def test_it_prints_a_line_a_planner_and_writes_figures_and_a_page(run, tmp_path):
    done = run(
        *("--planner", "static", "--planner", "rules", "--scenario", "small.toml", "--seeds", "2", "--workers", "1"),
        *("--results", "rows.jsonl", "--json", "figures.json", "--report", "report.html"),
    )
    assert done.returncode == 0, done.stderr
    *lines, note = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["planner", "static", "rules"]
    assert note == f"Note: {UNSURE}."
    check_figures(orjson.loads((tmp_path / "figures.json").read_bytes()))
    check_page((tmp_path / "report.html").read_text(encoding="utf-8"))


def check_figures(document: dict) -> None:
    assert set(document) == {"command", "version", "machine", "figures"}
    names = {one["name"] for one in document["figures"] if one["params"] == {"planner": "rules", "family": "all"}}
    assert names >= {
        "mean_wait_minutes",
        "p95_wait_minutes",
        "people_lost_share",
        "busy_block_share",
        "dose_utilisation_share",
        "cold_volume_utilisation_share",
        "worst_site_wait_minutes",
        "decision_p50_milliseconds",
        "wait_reduction_share",
        "busy_block_reduction_share",
    }
    assert all(
        one["n"] == 2 and one["ci95"] is not None and one["notes"] == f"seeds 1-2; {UNSURE}"
        for one in document["figures"]
    )


def check_page(page: str) -> None:
    assert "<script" not in page
    links = {part.split('"')[0] for part in page.split("http")[1:]}
    assert links <= {"://www.w3.org/2000/svg", "://www.w3.org/1999/xlink"}
    assert "平均等候" in page
    assert "Mean wait" in page
    assert "Fewer than 10 days of a scenario were played" in page
    assert "部分情景模拟日少于 10 天" in page
    assert '<dd class="as-written" lang="">A small city on an ordinary day.</dd>' in page
    assert page.count("<svg") == 12


def test_a_run_that_breaks_becomes_a_row_with_its_reason():
    broken = Settings().model_copy(update={"intake": None})
    assert play(Run("rules", SMALL, 1), broken, "code")["failed"].startswith("AttributeError: ")


def test_a_failed_run_makes_the_exit_code_1_and_the_others_count(run, monkeypatch):
    def play_all(runs, _settings, _code, _workers, keep):
        for one in runs:
            failed = {"failed": "ValueError: broken"} if one.key == ("rules", "small", 2) else {}
            keep(row(*one.key[::2]) | failed)

    monkeypatch.setattr(command, "play_all", play_all)
    done = run("--planner", "static", "--planner", "rules", "--scenario", "small.toml", "--seeds", "3")
    assert done.returncode == 1
    assert "failed: rules, small, seed 2: ValueError: broken" in done.stderr
    assert done.stdout.splitlines()[1].startswith("static")


def test_the_value_of_a_forecast_is_printed_where_it_can_be_told(run, monkeypatch):
    waits = {"mpc12@seasonal_naive": 30.0, "mpc12@bookings_first": 25.0, "mpc12_perfect": 20.0}

    def play_all(runs, _settings, _code, _workers, keep):
        for one in runs:
            keep(row(*one.key[::2], mean_wait_minutes=waits[one.planner]))

    monkeypatch.setattr(command, "play_all", play_all)
    chosen = [part for name in waits for part in ("--planner", name)]
    done = run(*chosen, "--scenario", "small.toml", "--seeds", "3")
    assert done.returncode == 0, done.stderr
    lines = [[cell.strip() for cell in line.split("  ") if cell] for line in done.stdout.splitlines()]
    column = lines[0].index("forecast gap closed %")
    assert [line[column] for line in lines[1:4]] == ["0 (0 to 0)", "50 (50 to 50)", "100 (100 to 100)"]
    plain = run("--planner", "mpc12_perfect", "--scenario", "small.toml", "--seeds", "3")
    assert "forecast gap" not in plain.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--planner", "magic"), "planner: must be one of static, rules"),
        (("--planner", "mpc12@magic"), "got 'mpc12@magic'"),
        (("--planner", "rules", "--suite", "none"), "none"),
        (("--planner", "rules", "--scenario", "missing.toml"), "missing.toml"),
        (("--planner", "rules", "--scenario", "small.toml", "--seeds", "0"), "--seeds"),
        (("--planner", "rules", "--scenario", "small.toml", "--scenario", "small.toml"), "given more than once"),
        (("--planner", "rules", "--scenario", "small.toml", "--results", "small.toml"), "is no row of results"),
        (("--param", "absent_share"), "--param: must be NAME=NUMBER, such as absent_share=0, got 'absent_share'"),
        (("--param", "absent_share=few"), "--param: must be NAME=NUMBER"),
        (("--param", "absent_share=0", "--param", "absent_share=0.1"), "--param: absent_share is given more than once"),
        (("--param", "absent_share=0.31"), "params.absent_share: must lie in 0..0.3, got 0.31"),
        (("--param", "absent_share=nan"), "params.absent_share: must lie in 0..0.3, got nan"),
        (("--param", "magic=1"), "params.magic: is no parameter of the simulator"),
        (("--param", "balk_full_minutes=5"), "balk_full_minutes: must be above balk_from_minutes (60), got 5"),
        (("--scenario", "together.toml"), "--scenario: scenario small: balk_full_minutes: must be above"),
    ],
)
def test_wrong_input_is_refused_in_one_sentence_with_its_name(run, tmp_path, arguments, said):
    together = (tmp_path / "small.toml").read_text() + "\n[params]\nbalk_full_minutes = 5\n"
    (tmp_path / "together.toml").write_text(together)
    done = run(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "0/?" not in done.stdout + done.stderr
    assert done.stdout == ""
    if "--seeds" not in arguments:  # that one is the command line's own, with its usage
        assert done.stderr.strip().count("\n") == 0


def test_a_file_of_other_code_is_refused_with_the_way_out_in_one_sentence(run, tmp_path):
    ResultsFile(tmp_path / "rows.jsonl").append([row("static", 1)])
    (tmp_path / "rows-2.jsonl").touch()
    done = run("--planner", "static", "--scenario", "small.toml", "--results", "rows.jsonl", "--keep-old")
    assert "begin anew with --results rows-3.jsonl, or remove rows.jsonl" in done.stderr
    done = run("--planner", "static", "--suite", "sizes", "--results", "rows.jsonl")
    assert done.returncode == 2
    assert done.stderr == (
        "--results: line 1 of rows.jsonl was made by other code; begin anew with --results rows-3.jsonl, or remove"
        " rows.jsonl, or count what is there with --keep-old\n"
    )


def test_a_value_set_for_all_scenarios_reaches_every_run_and_every_figure(run, monkeypatch, tmp_path):
    played = []

    def play_all(runs, _settings, _code, _workers, keep):
        played.extend(runs)
        for one in runs:
            keep(row(one.planner, one.seed, one.scenario.name, one.scenario.family))

    monkeypatch.setattr(command, "play_all", play_all)
    chosen = ("--planner", "static", "--suite", "training", "--scenario", "small.toml", "--seeds", "1")
    values = ("--param", "absent_share=0", "--param", "walk_in_share=0.2")
    done = run(*chosen, *values, "--json", "figures.json", "--report", "report.html")
    assert done.returncode == 0, done.stderr
    assert len(played) == 8
    for one in played:
        assert one.scenario.simulation_params().absent_share == 0
        assert one.scenario.simulation_params().walk_in_share == 0.2
    figures = orjson.loads((tmp_path / "figures.json").read_bytes())["figures"]
    assert all((one["params"]["absent_share"], one["params"]["walk_in_share"]) == (0, 0.2) for one in figures)
    assert "Set in every scenario: absent_share = 0" in done.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<span lang="en">Rain</span><span lang="zh">降雨</span> <code>rain</code>' in page
    assert '<dd class="as-written" lang="en">It rains from noon' in page
    assert "<code>absent_share = 0</code>, <code>walk_in_share = 0.2</code>" in page
    plain = {one.name: one for one in packaged_scenarios("training")}
    assert all(
        scenario_digest(one.scenario) != scenario_digest(plain[one.scenario.name])
        for one in played
        if one.scenario.name in plain
    )


def test_rows_at_one_value_are_not_taken_for_rows_at_another(run, monkeypatch):
    def play_all(runs, _settings, code, _workers, keep):
        for one in runs:
            digests = {"code_digest": code, "scenario_digest": scenario_digest(one.scenario)}
            keep(row(one.planner, one.seed) | digests)

    monkeypatch.setattr(command, "play_all", play_all)
    chosen = ("--planner", "static", "--scenario", "small.toml", "--seeds", "1")
    assert run(*chosen).returncode == 0
    done = run(*chosen, "--param", "absent_share=0")
    assert done.returncode == 2
    assert "made by another scenario small, or with another --param" in done.stderr


def test_a_missing_plot_library_is_named_with_the_way_out(monkeypatch):
    monkeypatch.setattr(
        report_page.importlib.util, "find_spec", lambda name: None if name == "matplotlib" else object()
    )
    with pytest.raises(EnvironmentUnfit, match=r"--report needs matplotlib: pip install 'doseflow\[evaluate\]'"):
        report_page.require_report_libraries()
