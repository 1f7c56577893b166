"""An evaluation that is stopped goes on, and gives the table that it would have given."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from evaluate_samples import row, scenario_file

from doseflow.errors import InputWrong
from doseflow.evaluate.command import EvaluateChoice, evaluate
from doseflow.evaluate.results_file import ResultsFile
from doseflow.settings import Settings

PLANNERS = ("static", "rules")
TIMED = {"decision_p50_milliseconds", "decision_p99_milliseconds"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("resume")


@pytest.fixture(scope="module")
def choice(folder) -> EvaluateChoice:
    return EvaluateChoice(
        PLANNERS, scenario_paths=(scenario_file(folder),), num_seeds=2, results=folder / "all.jsonl", workers=1
    )


@pytest.fixture(scope="module")
def whole(choice):
    return evaluate(choice, Settings())


def untimed(outcome) -> dict:
    return {
        (one["planner"], one["scenario"], one["seed"]): {
            name: value for name, value in one["measures"].items() if name not in TIMED
        }
        for one in outcome.rows
    }


def test_killed_in_the_middle_it_goes_on_to_the_same_table(folder, choice, whole):
    results = folder / "killed.jsonl"
    command = [sys.executable, "-m", "doseflow", "evaluate", "--seeds", "2", "--workers", "1"]
    command += ["--results", str(results), "--scenario", str(choice.scenario_paths[0])]
    command += [part for planner in PLANNERS for part in ("--planner", planner)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (results.exists() and results.read_bytes().count(b"\n")) and process.poll() is None:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    kept = results.read_bytes().splitlines()
    assert 1 <= len(kept) < 4

    played = []
    again = evaluate(replace(choice, results=results), Settings(), advance=played.append)
    assert len(played) == 4 - len(kept)
    assert results.read_bytes().splitlines()[: len(kept)] == kept
    assert untimed(again) == untimed(whole)


def test_nothing_is_played_twice(folder, choice, whole):
    copy = folder / "copy.jsonl"
    shutil.copy(choice.results, copy)
    begun = []
    evaluate(replace(choice, results=copy), Settings(), begin=lambda *told: begun.append(told), advance=begun.append)
    assert begun == [(4, 4)]


def test_half_a_line_is_no_row_and_a_failed_run_is_tried_again(folder, choice, whole):
    results = folder / "torn.jsonl"
    rows = [orjson.loads(line) for line in choice.results.read_bytes().splitlines()]
    del rows[0]["measures"]
    rows[0]["failed"] = "ValueError: broken"
    ResultsFile(results).append(rows)
    content = results.read_bytes()
    results.write_bytes(content[: content.rfind(b"\n", 0, -1) + 20])
    played = []
    again = evaluate(replace(choice, results=results), Settings(), advance=played.append)
    assert {(one["planner"], one["seed"]) for one in played} == {(one["planner"], one["seed"]) for one in rows[::3]}
    assert again.failed == ()
    assert untimed(again) == untimed(whole)


def test_rows_of_other_code_are_refused_unless_wanted(tmp_path):
    results = ResultsFile(tmp_path / "old.jsonl")
    results.append([row("static", 1)])
    with pytest.raises(InputWrong, match=r"line 1 .* made by other code; .*--keep-old"):
        results.read("newer code", {})
    assert len(results.read("newer code", {}, keep_old=True)) == 1


def test_rows_of_another_scenario_of_the_same_name_are_refused(tmp_path):
    results = ResultsFile(tmp_path / "old.jsonl")
    results.append([row("static", 1)])
    with pytest.raises(InputWrong, match="another scenario small"):
        results.read("code", {"small": "changed"})


@pytest.mark.parametrize("line", [b"nonsense", b"[1]", b'"text"', b'{"planner": "static"}'])
def test_a_file_that_holds_something_else_is_refused_by_its_line(tmp_path, line):
    path = tmp_path / "other.jsonl"
    path.write_bytes(line + b"\n")
    with pytest.raises(InputWrong, match=r"other\.jsonl, line 1 is no row of results"):
        ResultsFile(path).read("code", {})


def test_the_last_row_of_a_run_counts(tmp_path):
    results = ResultsFile(tmp_path / "twice.jsonl")
    results.append([row("static", 1, mean_wait_minutes=1.0), row("static", 1, mean_wait_minutes=2.0)])
    (kept,) = results.read("code", {}).values()
    assert kept["measures"]["mean_wait_minutes"] == 2.0


@pytest.mark.parametrize("content", [b"my precious notes\nline two", b"single line", b"\x1f\x8b\x00\n\x01"])
def test_a_file_that_is_no_results_is_refused_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(InputWrong, match=r"--results: .*"):
        ResultsFile(path).read("code", {})
    assert path.read_bytes() == content
