"""`doseflow audit` as an auditor meets it: real processes, their words, their exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from doseflow.domain.audit import AuditEntry
from doseflow.store.engine import open_store

URL = "sqlite:///log.sqlite"


@pytest.fixture
def audit(tmp_path):
    """A function that runs a command beside a database of three entries; gives exit code, output and complaint."""
    store = open_store(f"sqlite:///{tmp_path / 'log.sqlite'}")
    for number in range(1, 4):
        entry = AuditEntry(datetime(2026, 3, 2, 9, number, tzinfo=UTC), "ann", "order.approve", f"o{number}", "fits")
        store.audit.append(entry)
    store.close()

    def run(*arguments: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "doseflow", "audit", *arguments],
            cwd=tmp_path,
            env={**os.environ, "DOSEFLOW_STORE__URL": URL},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, " ".join(done.stderr.split())

    return run


def test_an_export_is_verified_and_what_was_cut_from_its_end_is_missed_by_the_head(audit, tmp_path):
    code, said, _ = audit("export", "--out", "log.jsonl")
    assert code == 0
    head = said.split("head ")[1].strip()
    assert audit("verify", "log.jsonl", "--head", head)[0] == 0
    assert audit("verify", "--head", head)[0] == 0
    lines = (tmp_path / "log.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut.jsonl").write_bytes(b"".join(lines[:2]))
    assert audit("verify", "cut.jsonl")[0] == 0
    code, said, _ = audit("verify", "cut.jsonl", "--head", head)
    assert (code, said.startswith("broken: entry 3: is missing")) == (1, True)
    (tmp_path / "changed.jsonl").write_bytes(b"".join(lines).replace(b"o2", b"o9"))
    code, said, _ = audit("verify", "changed.jsonl")
    assert (code, "entry 2: was changed" in said) == (1, True)


def test_lines_are_printed_where_no_file_is_named(audit):
    code, said, _ = audit("export", "--after", "1")
    assert (code, len(said.splitlines())) == (0, 2)


@pytest.mark.parametrize("arguments", [("verify", "nowhere.jsonl"), ("verify", "--head", "3:abc")])
def test_what_cannot_be_read_is_told_in_a_sentence(audit, arguments):
    code, _, complaint = audit(*arguments)
    assert code == 2
    assert "must be" in complaint or "cannot be read" in complaint
