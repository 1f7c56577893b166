"""`doseflow forecast` as a user meets it: a file in, a file out, one sentence where it cannot."""

import csv
import gzip
import json
import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

HEADER = ["series_id", "timestamp", "q10", "q25", "q50", "q75", "q90"]


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "doseflow", "forecast", *arguments],
        cwd=cwd,
        env={**os.environ},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def days(series_id: str, first: str, count: int) -> list[str]:
    start = datetime.fromisoformat(first)
    moments = [start + timedelta(days=idx) for idx in range(count)]
    values = [0 if moment.weekday() == 6 else 20 + idx % 3 for idx, moment in enumerate(moments)]
    return [f"{series_id},{moment:%Y-%m-%d},{value}" for moment, value in zip(moments, values, strict=True)]


def write(path: Path, rows: list[str]) -> None:
    data = "\n".join(["series_id,timestamp,value", *rows]).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def test_each_series_gets_its_steps_beyond_its_own_last_timestamp(tmp_path):
    write(tmp_path / "h.csv.gz", days('"b,1"', "2024-01-01", 60) + days("a", "2024-01-20", 20))
    done = run(
        "--history", "h.csv.gz", "--horizon", "9", "--out", "new/out.csv", "--json", "understood.json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    with (tmp_path / "new" / "out.csv").open(newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == HEADER
    assert [row[:2] for row in rows[1:10]] == [
        ["b,1", f"{datetime(2024, 2, 29) + timedelta(days=ahead):%Y-%m-%d}"] for ahead in range(1, 10)
    ]
    assert [row[:2] for row in rows[10:]] == [
        ["a", f"{datetime(2024, 2, 8) + timedelta(days=ahead):%Y-%m-%d}"] for ahead in range(1, 10)
    ]
    for row in rows[1:]:
        quantiles = [float(cell) for cell in row[2:]]
        assert quantiles == sorted(quantiles)
        assert quantiles[0] >= 0
    assert "18 rows in new/out.csv: 9 steps of 1440 minutes" in " ".join(done.stdout.split())
    document = json.loads((tmp_path / "understood.json").read_text())
    figures = {figure["name"]: figure["value"] for figure in document["figures"]}
    assert (figures["series"], figures["rows"], figures["step_minutes"], figures["gaps"]) == (2, 80, 1440, 0)
    assert 0 <= figures["weighted_quantile_loss"] < 0.3
    assert 0.5 < figures["coverage80_share"] <= 1


@pytest.mark.parametrize(
    ("rows", "arguments", "words"),
    [
        (days("a", "2024-01-01", 30), ("--horizon", "0"), "--horizon: must lie in 1..10000, got 0"),
        (days("a", "2024-01-01", 30), ("--horizon", "10001"), "--horizon: must lie in 1..10000, got 10001"),
        (days("a", "2024-01-01", 30), ("--history", "none.csv"), "--history: none.csv cannot be read"),
        (days("a", "2024-01-01", 30), ("--out", "."), "--out: . cannot be written"),
        (["a,2024-01-01,one"], (), "--history, line 2: value must be a number or empty, got 'one'"),
        (days("a", "9999-12-01", 30), (), "the forecast would end after the year 9999"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_2(tmp_path, rows, arguments, words):
    write(tmp_path / "h.csv", rows)
    given = {"--history": "h.csv", "--horizon": "7", "--out": "out.csv"}
    given.update(zip(arguments[::2], arguments[1::2], strict=True))
    done = run(*(word for pair in given.items() for word in pair), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert words in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_the_history_is_not_written_over(tmp_path):
    write(tmp_path / "h.csv", days("a", "2024-01-01", 60))
    before = (tmp_path / "h.csv").read_bytes()
    done = run("--history", "h.csv", "--horizon", "3", "--out", "./h.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "--out: must be another file than --history" in " ".join(done.stderr.split())
    assert (tmp_path / "h.csv").read_bytes() == before
