"""The small versions of two trials: `tools/kill_trial.py` and `tools/fuzz_doors.py` are the large ones."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

sys.path.append(str(Path(__file__).parents[2] / "tools"))

from fuzz_doors import Door, mutated, run_door
from kill_trial import Promises, booking, broken_promises

from doseflow.intake.hl7_message import read_message
from doseflow.live.hl7_door import understand
from doseflow.store.engine import open_store

TOOLS = Path(__file__).parents[2] / "tools"


def run(tool: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", str(TOOLS / tool), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)


@pytest.mark.timeout(120)
def test_a_city_killed_at_any_moment_keeps_its_promises():
    done = run("kill_trial.py", "--kills", "4", "--seed", "7")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert "orders_carried_out" in done.stdout


@pytest.mark.timeout(120)
def test_no_door_breaks_at_what_is_nearly_right():
    done = run("fuzz_doors.py", "--examples", "60", "--seed", "3")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert done.stdout.count(" bodies, ") > 25


def test_the_trial_sees_a_lost_report_and_an_order_carried_out_twice(tmp_path):
    url = f"sqlite:///{tmp_path / 'store.sqlite'}"
    open_store(url).close()
    done = tmp_path / "done.jsonl"
    done.write_text(
        '{"id": "a", "type": "order.made", "order_id": "o1"}\n{"id": "b", "type": "order.made", "order_id": "o1"}\n'
    )
    promises = Promises(reports={"r1"}, bookings={"b1"}, approved={"o1"}, num_sent_bookings=1)
    broken = {name for name, found in broken_promises(url, promises, done).items() if found}
    assert broken == {
        "reports lost",
        "bookings lost or twice",
        "orders carried out twice",
        "orders carried out that nobody made",
        "approvals lost",
    }


def test_the_trial_sees_a_door_that_breaks():
    def knock(body: bytes) -> str:
        if b"\x00" in body:
            raise ValueError("a NUL")
        return "taken"

    found = run_door(Door("frail", [b"abc"], knock), 2000, 1, lambda _: None)
    assert found.findings
    assert found.answers["found"] + found.answers["taken"] == found.num_bodies == 2000


def test_mutations_are_many_and_repeat_with_their_seed():
    right = b'{"a": [1, 2, {"b": "c"}]}'
    once = [mutated(right, random.Random(seed)) for seed in range(300)]
    assert once == [mutated(right, random.Random(seed)) for seed in range(300)]
    assert len(set(once)) > 200


def test_a_booking_of_the_trial_is_one_that_the_listener_understands():
    told = understand(read_message(booking(3)), ZoneInfo("Europe/Prague"))
    assert [(one.status, one.people) for one in told.appointments] == [("booked", 1)]
