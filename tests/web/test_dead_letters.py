"""What could not be told is listed, told again or dismissed, and the audit log knows by whom."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

sys.path.append(str(Path(__file__).parents[2] / "tools"))

from fuzz_doors import make_orders
from kill_trial import city_where_it_is_morning

from doseflow.bootstrap import open_city
from doseflow.cli import app
from doseflow.domain.caller import Caller, CallerRole
from doseflow.settings import Settings, StoreSettings
from doseflow.web.app import create_app
from doseflow.web.callers import caller_of

LETTERS = "/api/v1/dead-letters"


class City:
    """A city with one dead letter."""

    def __init__(self, opened, url) -> None:
        self.opened, self.url = opened, url
        self.client = TestClient(create_app(opened.live, allowed_hosts=("*",)))
        make_orders(opened)
        now = opened.live.clock.now()
        self.entry = opened.store.outbox.due(now, 1000)[0]
        opened.store.outbox.mark_failed(self.entry.entry_id, now, "the other side said no", None)

    def letters(self):
        return self.client.get(LETTERS).json()["dead_letters"]

    def audited(self):
        entries = self.opened.live.audit.entries()
        return [(one.entry.action, one.entry.by, one.entry.reason) for one in entries]


@pytest.fixture
def city(tmp_path):
    url = f"sqlite:///{tmp_path / 'store.sqlite'}"
    settings = Settings(city=str(city_where_it_is_morning(tmp_path)), store=StoreSettings(url=url))
    with contextlib.closing(open_city(settings)) as opened:
        yield City(opened, url)


def test_a_letter_is_listed_with_its_reason_and_told_again_once_a_person_says_so(city):
    (letter,) = city.letters()
    assert (letter["entry_id"], letter["reason"]) == (city.entry.entry_id, "the other side said no")
    path = f"{LETTERS}/{city.entry.entry_id}/resend"
    assert city.client.post(path, json={"reason": "mended"}).status_code == 200
    assert city.letters() == []
    due = city.opened.store.outbox.due(city.opened.live.clock.now(), 1000)
    assert city.entry.entry_id in {entry.entry_id for entry in due}
    assert city.audited() == [("letter.resend", "local", "mended")]
    assert city.client.post(path, json={"reason": "again"}).status_code == 404


def test_a_dismissed_letter_is_told_to_nobody(city):
    assert (
        city.client.post(f"{LETTERS}/{city.entry.entry_id}/dismiss", json={"reason": "by telephone"}).status_code == 200
    )
    assert city.letters() == []
    due = city.opened.store.outbox.due(city.opened.live.clock.now(), 1000)
    assert city.entry.entry_id not in {entry.entry_id for entry in due}
    assert city.audited() == [("letter.dismiss", "local", "by telephone")]


def test_letters_of_other_sites_are_not_there_for_a_caller_of_one(city):
    other = next(one.site_id for one in city.opened.live.city.sites if one.site_id != city.entry.order.site_id)
    city.client.app.dependency_overrides[caller_of] = lambda: Caller(
        "van", frozenset({CallerRole.LOGISTICS}), frozenset({other})
    )
    assert city.letters() == []
    assert city.client.post(f"{LETTERS}/{city.entry.entry_id}/resend", json={}).status_code == 404
    assert city.audited() == []


def test_the_command_line_lists_resends_and_dismisses(city, monkeypatch):
    monkeypatch.setenv("DOSEFLOW_STORE__URL", city.url)
    run = CliRunner().invoke
    listed = run(app, ["orders", "dead"])
    assert listed.exit_code == 1
    assert str(city.entry.entry_id) in listed.output
    resent = run(app, ["orders", "resend", str(city.entry.entry_id), "--by", "anna", "--why", "mended"])
    assert (resent.exit_code, city.audited()) == (0, [("letter.resend", "anna", "mended")])
    assert run(app, ["orders", "dead"]).exit_code == 0
    gone = run(app, ["orders", "dismiss", str(city.entry.entry_id)])
    assert gone.exit_code != 0
