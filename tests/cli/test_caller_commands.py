"""`doseflow users` and `doseflow keys`, and when doors open without sign-in."""

from __future__ import annotations

import stat
from dataclasses import dataclass

import pytest
from typer.testing import CliRunner

from doseflow.cli import app
from doseflow.errors import DoseflowError, InputWrong, SettingsWrong, UserNotFound
from doseflow.settings import Settings, is_loopback, require_sign_in_on_a_network
from doseflow.store.engine import open_store

PASSPHRASE = "correct horse battery"  # noqa: S105 - of nobody
EVERYWHERE = "0.0.0.0"  # noqa: S104 - refused, which is tested


@dataclass
class Ran:
    """What a command printed, and what went wrong on purpose."""

    stdout: str
    error: Exception | None


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a command in this process: one of its own takes seconds to start."""
    monkeypatch.chdir(tmp_path)

    def call(*words, given=""):
        done = CliRunner().invoke(app, words, input=given)
        assert done.exception is None or isinstance(done.exception, DoseflowError), done.exception
        return Ran(done.stdout, done.exception)

    return call


def actions(tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'var' / 'doseflow.sqlite'}")
    entries = [(one.entry.action, one.entry.subject) for one in store.audit.entries()]
    store.close()
    return entries


def test_users_are_added_listed_and_removed_and_the_audit_log_is_told(run, tmp_path):
    add = ("users", "add", "anna", "--role", "duty_officer", "--from-input")
    assert run(*add, given=PASSPHRASE + "\n").error is None
    assert isinstance(run(*add, given=PASSPHRASE + "\n").error, InputWrong)
    assert isinstance(run("users", "add", "bo", "--role", "auditor", "--from-input", given="short\n").error, InputWrong)
    listed = run("users", "list").stdout
    assert "anna" in listed
    assert "duty_officer" in listed
    path = tmp_path / "var" / "users.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert PASSPHRASE not in path.read_text()
    assert run("users", "password", "anna", "--from-input", given="another horse battery\n").error is None
    assert run("users", "remove", "anna").error is None
    assert isinstance(run("users", "remove", "anna").error, UserNotFound)
    assert actions(tmp_path) == [
        ("user.add", "anna"),
        ("user.change_password", "anna"),
        ("user.remove", "anna"),
    ]


def test_a_key_is_shown_once_kept_as_a_digest_and_revoked(run, tmp_path):
    key = run("keys", "make", "records", "--site", "1", "--days", "30").stdout.strip()
    prefix, secret = key.split("_", 2)[1:]
    listed = run("keys", "list").stdout
    assert prefix in listed
    assert secret not in listed
    assert run("keys", "revoke", prefix).error is None
    assert isinstance(run("keys", "revoke", prefix).error, UserNotFound)
    assert actions(tmp_path) == [("key.make", prefix), ("key.revoke", prefix)]
    kept = b"".join(path.read_bytes() for path in (tmp_path / "var").iterdir())
    assert secret.encode() not in kept


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.9.9.9"])
def test_loopback_opens_without_sign_in(host):
    assert is_loopback(host)
    require_sign_in_on_a_network(Settings(http={"host": host}))


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "10.0.0.7", "flow.city.example"])
def test_a_network_does_not_unless_somebody_says_so_in_so_many_words(host):
    with pytest.raises(SettingsWrong, match="anybody_who_can_connect_may_do_anything"):
        require_sign_in_on_a_network(Settings(http={"host": host}))
    require_sign_in_on_a_network(Settings(http={"host": host}, sign_in={"is_on": True}))
    said = {"anybody_who_can_connect_may_do_anything": True}
    require_sign_in_on_a_network(Settings(http={"host": host}, sign_in=said))


def test_serve_refuses_to_open_to_a_network_before_anything_else(run):
    refused = run("serve", "--host", EVERYWHERE)
    assert isinstance(refused.error, SettingsWrong)
    assert str(refused.error).startswith("sign_in.is_on: must be true")
