"""Nothing secret and nothing of a person's particulars is in what is really logged."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time

import httpx
import pytest

from doseflow.telemetry.scrubbing import scrub_fields, scrub_text

DOSEFLOW = (sys.executable, "-m", "doseflow")
KEY = "dsf_0123456789ab_" + "K" * 43
MARKERS = ("hunter2-hunter2", "K" * 43, "Zhang-Wei-Marker", "13912345678", "110101199003070000", "anna@example.org")
BODY = {
    "password": "hunter2-hunter2",
    "patient_name": "Zhang-Wei-Marker",
    "phone": "13912345678",
    "national_id": "110101199003070000",
    "email": "anna@example.org",
    "api_key": KEY,
}


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer hunter2-hunter2",
        f"key {KEY} is wrong",
        '{"password": "hunter2-hunter2"}',
        '{\\"password\\": \\"hunter2-hunter2\\"}',
        "{'patient_name': 'Zhang-Wei-Marker', 'x': 1}",
        "postgresql://flow:hunter2-hunter2@db/flow did not answer",
        "GET /sign-in/back?state=x&code=hunter2-hunter2",
        "Cookie: doseflow=hunter2-hunter2; a=b",
        "call 13912345678 or anna@example.org, 110101199003070000",
        "whsec_hunter2-hunter2",
    ],
)
def test_a_text_keeps_neither(text):
    assert [marker for marker in MARKERS if marker in scrub_text(text)] == []


def test_fields_go_by_their_names_and_figures_stay():
    event = {
        "event": "x",
        "path": "/api/v1/sites",
        "waiting_people": 14,
        "client_secret": "abc",
        "more": [{"dob": "2"}],
    }
    assert scrub_fields(None, "info", event) == {
        "event": "x",
        "path": "/api/v1/sites",
        "waiting_people": 14,
        "client_secret": "***",
        "more": [{"dob": "***"}],
    }


def test_ordinary_lines_are_left_as_they_are():
    for text in (
        "cycle 20260302T101500-1f0c6e4a took 47.8 ms",
        "site_id: must be one of the 200 sites",
        "lot 2026-0301",
    ):
        assert scrub_text(text) == text


LOGGING = """
import logging, structlog
from doseflow.telemetry.logs import configure_logs
configure_logs()
log = structlog.get_logger()
try:
    raise ValueError("body was %s" % BODY)
except ValueError:
    log.exception("failed", cookie="doseflow=hunter2-hunter2", body=BODY, where={"authorization": "hunter2-hunter2"})
    logging.getLogger("uvicorn.error").exception("also here: %s", BODY)
"""


def test_exceptions_of_ours_and_of_libraries_are_logged_without_them():
    done = subprocess.run(
        [sys.executable, "-c", f"BODY = {BODY!r}\n{LOGGING}"], capture_output=True, text=True, timeout=60, check=True
    )
    assert "ValueError: body was" in done.stderr
    assert "ERROR uvicorn.error" in done.stderr
    assert json.loads(done.stderr.splitlines()[0])["event"] == "failed"
    assert [marker for marker in MARKERS if marker in done.stderr] == []


def test_the_log_of_a_service_at_whose_doors_wrong_bodies_stand_has_none_of_them(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    env = {
        **os.environ,
        "DOSEFLOW_CITY": "synthetic:4",
        "DOSEFLOW_HTTP__PORT": str(port),
        "DOSEFLOW_SIGN_IN__IS_ON": "true",
        "PYTHONUNBUFFERED": "1",
    }
    log_path = tmp_path / "log"
    with log_path.open("wb") as log:
        service = subprocess.Popen([sys.executable, "-m", "doseflow", "serve"], cwd=tmp_path, env=env, stderr=log)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
            _wait_for(client)
            made = subprocess.run(
                [*DOSEFLOW, "keys", "make", "tests", "--role", "machine", "--role", "duty_officer"],
                cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, check=True,
            )  # fmt: skip
            key = {"authorization": f"Bearer {made.stdout.strip()}"}
            assert client.get("/api/v1/me", headers=key).json()["name"] == "tests"
            # The store is taken away: every door then fails with what it was given.
            for path in tmp_path.joinpath("var").glob("doseflow.sqlite*"):
                path.write_bytes(b"broken")
            for path in (
                "reports",
                "orders/x/receipts",
                "commands/freeze",
                "models/promote",
                "sign-in",
                "sign-out",
                "cycles",
            ):
                for headers in (
                    key,
                    {"authorization": "Bearer hunter2-hunter2"},
                    {"cookie": "doseflow=hunter2-hunter2"},
                ):
                    client.post(f"/api/v1/{path}?token=hunter2-hunter2", json=BODY, headers=headers)
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait(timeout=30)
    text = log_path.read_text()
    assert "request_failed" in text
    assert [marker for marker in (*MARKERS, made.stdout.strip()) if marker in text] == []


def _wait_for(client):
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        try:
            client.get("/healthz")
        except httpx.HTTPError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the service did not start")
