"""Days that were really played and kept, held to account by the command that an operator runs at night."""

import contextlib
from dataclasses import replace
from datetime import timedelta

import orjson
import pytest
from typer.testing import CliRunner

from doseflow.backtest.nightly import back_test
from doseflow.backtest.verdict import verdict
from doseflow.bootstrap import open_city
from doseflow.cli import app
from doseflow.demo.playing import bring_receipts, hand_over_orders, import_past_weeks, join_reports
from doseflow.errors import CycleNotFound
from doseflow.live.clocks import SimulatedClock
from doseflow.live.drift.evidence import DriftKind
from doseflow.live.forecast_score import LeadScore
from doseflow.settings import Settings, StoreSettings
from doseflow.simulate.city_choice import city_from_name, days_of
from doseflow.simulate.replayed_city import DEMO_DAY_ON, SimulatedCity

NUM_USUAL_DAYS = 5
NUM_CYCLES = 36
CAME_FOR_EACH_FORETOLD = 2.5
LAST_USUAL_ON = DEMO_DAY_ON + timedelta(days=NUM_USUAL_DAYS - 1)
SHIFTED_ON = LAST_USUAL_ON + timedelta(days=1)


def miscounted(raw):
    """A report that tells more arrivals than there were; everything else is as it is."""
    try:
        report = orjson.loads(raw)
        report["arrivals_people"] = round(CAME_FOR_EACH_FORETOLD * report["arrivals_people"])
    except (ValueError, KeyError, TypeError):
        return raw
    return orjson.dumps(report)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Mornings of five days that are alike, and of one on which sites count more than twice those who came."""
    url = f"sqlite:///{tmp_path_factory.mktemp('kept') / 'kept.sqlite'}"
    city = city_from_name("synthetic:6")
    days = days_of(city, 1)
    first = SimulatedCity(city, days, DEMO_DAY_ON, 1)
    clock = SimulatedClock(first.now)
    with contextlib.closing(open_city(Settings(store=StoreSettings(url=url)), clock=clock, city=city)) as opened:
        import_past_weeks(opened, first)
        for number in range(NUM_USUAL_DAYS + 1):
            playing = SimulatedCity(city, days, DEMO_DAY_ON + timedelta(days=number), number + 1)
            for _ in range(NUM_CYCLES):
                playing.advance(5)
                clock.set(playing.now)
                bring_receipts(opened, playing)
                reports = playing.reports()
                opened.live.submit(join_reports(reports if number < NUM_USUAL_DAYS else list(map(miscounted, reports))))
                opened.live.run_cycle()
                hand_over_orders(opened, playing)
        yield url, opened.live.latest


def test_a_day_like_those_before_it_recommends_nothing(kept):
    found = back_test(Settings(), kept[0], LAST_USUAL_ON, 4)
    assert len(found.reference) == 4
    assert found.day.score.num_scored > 40
    assert found.day.waits.num_compared > 10
    assert not found.view.is_training_recommended


def test_a_day_on_which_others_came_than_foretold_recommends_training_with_its_evidence(kept, tmp_path):
    command = ["backtest", "--store", kept[0], "--day", SHIFTED_ON.isoformat(), "--reference-days", "5"]
    answer = CliRunner().invoke(app, [*command, "--json", str(tmp_path / "night.json")])
    assert answer.exit_code == 1, answer.output
    assert "Train the forecaster anew" in answer.output
    figures = orjson.loads((tmp_path / "night.json").read_bytes())["figures"]
    shares = {each["params"]["kind"]: each["value"] for each in figures if each["name"] == "drift_evidence_share"}
    assert shares["forecast_error"] >= 1
    covered = {each["params"]["lead_minutes"]: each["value"] for each in figures if each["name"] == "coverage80_share"}
    usual = back_test(Settings(), kept[0], LAST_USUAL_ON, 4).day.score.coverage_share
    assert max(covered.values()) < usual


def test_a_night_that_cannot_be_judged_is_no_success(kept, monkeypatch):
    found = back_test(Settings(), kept[0], LAST_USUAL_ON, 4)
    nobody = replace(found.day, scores=dict.fromkeys(found.day.scores, LeadScore()), plain=LeadScore())
    blind = replace(found, day=nobody, view=verdict(found.reference, nobody))
    monkeypatch.setattr("doseflow.backtest.nightly.back_test", lambda *_: blind)
    answer = CliRunner().invoke(app, ["backtest"])
    assert answer.exit_code == 1, answer.output
    assert "Cannot be judged: forecast_error" in answer.output
    assert "unknown" in answer.output


def test_the_classes_that_were_shifted_are_among_those_that_speak(kept):
    view = back_test(Settings(), kept[0], SHIFTED_ON, 5).view
    speaking = {each.feature_class.name for each in view.classes if each.speaks}
    assert "ARRIVALS" in speaking
    assert view.evidence[-1].kind is DriftKind.FEATURES


def test_the_same_cycles_are_scored_the_same_again(kept):
    one, other = (back_test(Settings(), kept[0], LAST_USUAL_ON, 3) for _ in range(2))
    assert one.day.scores == other.day.scores
    assert one.day.waits == other.day.waits


def test_a_day_that_is_not_kept_or_has_too_few_before_it_is_said_so(kept):
    with pytest.raises(CycleNotFound, match="no cycle of 2021-01-01"):
        back_test(Settings(), kept[0], DEMO_DAY_ON.replace(month=1, day=1), 7)
    with pytest.raises(CycleNotFound, match="2 of the 7 days before"):
        back_test(Settings(), kept[0], DEMO_DAY_ON + timedelta(days=2), 7)
