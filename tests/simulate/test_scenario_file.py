"""Scenario files: what is read, and what is refused with its field and bound."""

from __future__ import annotations

import json
from datetime import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.errors import InputWrong, ScenarioWrong
from doseflow.simulate.scenario_file import (
    SUITES,
    packaged_scenario,
    packaged_scenarios,
    scenario_from_file,
    scenario_from_toml,
    scenario_schema,
)

DOCS = Path(__file__).parents[2] / "docs" / "reference"
KINDS = {
    "surge",
    "walk_in_rush",
    "absence",
    "site_closed",
    "fridge_failure",
    "power_cut",
    "supply_cut",
    "late_vans",
    "stale_reports",
    "early_arrivals",
    "rain",
    "campaign_start",
}
GOOD = """
name = "market_day"
family = "surge"
text = "The sites around one place are overrun."
city = "synthetic:50"
days = ["saturday"]
offered_load_share = 0.85
"""
NAME_FORM = "must be small letters, digits and _ that begin with a letter or digit"
SURGE = """
[[incidents]]
kind = "surge"
site_share = 0.1
starts_at = 09:00:00
ends_at = 12:00:00
extra_share = 0.8
"""


def replaced(old: str, new: str, incident: str = "") -> str:
    text = GOOD + incident
    assert old in text
    return text.replace(old, new)


REFUSED = [
    (replaced('name = "market_day"', ""), "name: must be given"),
    (replaced("market_day", "Market Day"), f'name: {NAME_FORM}, got "Market Day"'),
    (replaced('"surge"', '"Überfall"'), f'family: {NAME_FORM}, got "Überfall"'),
    (
        replaced("market_day", "Market Day").replace("0.85", "7"),
        f'name: {NAME_FORM}, got "Market Day" (1 more problem)',
    ),
    (replaced('city = "', 'name = "other"\ncity = "'), "name: must be given only once, and is given again in line 5"),
    (GOOD + '\ndays = [\n"monday",\n]\n', "days: must be given only once, and is given again in line 9"),
    (
        GOOD + "[params]\nno_show_share = 0.1\nno_show_share = 0.2",
        "params.no_show_share: must be given only once, and is given again in line 10",
    ),
    (GOOD + "[window]\n[window]", "window: must be given only once, and is given again in line 9"),
    (
        GOOD + "window = {starts_at = 08:00:00, starts_at = 09:00:00}",
        "window.starts_at: must be given only once, and is given again in line 8",
    ),
    (
        GOOD + SURGE + SURGE + "extra_share = 2 # more",
        "incidents.1.extra_share: must be given only once, and is given again in line 22",
    ),
    (replaced("market_day", "a" * 61), "name: must have at most 60 characters"),
    (replaced("0.85", "0.29"), "offered_load_share: must be at least 0.3, got 0.29"),
    (replaced("0.85", "1.51"), "offered_load_share: must be at most 1.5, got 1.51"),
    (replaced("0.85", "nan"), "offered_load_share: must be a finite number, got nan"),
    (replaced("extra_share = 0.8", "extra_share = inf", SURGE), "incidents.0.extra_share: must be a finite number"),
    (replaced("0.85", '"high"'), "offered_load_share: must be a number"),
    (replaced("0.85", "0.85\nload = 3"), "load: is not a field that is known here"),
    (replaced("0.85", "0.85\nload_scale = 0"), "load_scale: must be at least 0.1, got 0"),
    (replaced("0.85", "0.85\ncity_seed = -1"), "city_seed: must be at least 0, got -1"),
    (replaced("0.85", "0.85\ncity_seed = 1.5"), "city_seed: must be a whole number"),
    (replaced("0.85", '0.85\nsuite = "test"'), "suite: must be one of 'training', 'heldout'"),
    (replaced("synthetic:50", "prague"), 'city: must be "czech" or synthetic:N with N in 1..20000'),
    (replaced("synthetic:50", "synthetic:0"), 'city: must be "czech" or synthetic:N with N in 1..20000'),
    (replaced("synthetic:50", "synthetic:20001"), 'city: must be "czech" or synthetic:N with N in 1..20000'),
    (replaced('["saturday"]', "[]"), "days: must have at least 1 item"),
    (replaced("saturday", "2021-05-20"), "days.0: must be one of monday, "),
    (replaced("synthetic:50", "czech"), "days.0: must be a date from 2021-01-15 to 2021-05-31 in the real city"),
    (
        GOOD.replace("synthetic:50", "czech").replace("saturday", "2021-06-01"),
        "days.0: must be a date from 2021-01-15 to 2021-05-31 in the real city, got 2021-06-01",
    ),
    (
        GOOD + '[[incidents]]\nkind = "power_cut"\nsite_count = 1\nstarts_at = 23:00:00\nends_at = 23:30:00',
        "incidents.0.starts_at: must be before window.ends_at",
    ),
    (
        GOOD + 2 * '[[incidents]]\nkind = "campaign_start"\nbooking_factor = 1.5\n',
        "incidents: must have at most one campaign_start, got 2",
    ),
    (GOOD + "[params]\nno_show_share = 0.5", "params.no_show_share: must lie in 0..0.4, got 0.5"),
    (GOOD + "[params]\nno_shows = 0.1", "params.no_shows: is no parameter of the simulator"),
    (GOOD + "[params]\nstaffing_mismatch_sd = 0.1", "params.staffing_mismatch_sd: must not be given together with"),
    (GOOD + "[window]\nstarts_at = 12:00:00\nends_at = 08:00:00", "window.ends_at: must be later than starts_at 12:00"),
    (GOOD + "[report_faults]\nlate_share = 1.2", "report_faults.late_share: must be at most 1"),
    (
        GOOD + "[report_faults]\nlate_share = 0.6\nmissing_share = 0.6",
        "report_faults.missing_share: must be at most 1 together with late_share, got 1.2",
    ),
    (replaced('"surge"\nsite', '"flood"\nsite', SURGE), "incidents.0.kind: must be one of surge, "),
    (replaced('kind = "surge"\n', "", SURGE), "incidents.0.kind: must be given"),
    (replaced("extra_share = 0.8", "extra_share = 11", SURGE), "incidents.0.extra_share: must be at most 10.0, got 11"),
    (replaced("extra_share = 0.8", "", SURGE), "incidents.0.extra_share: must be given"),
    (replaced("12:00:00", "08:00:00", SURGE), "incidents.0.ends_at: must be later than starts_at 09:00:00"),
    (replaced("12:00:00", '"noon"', SURGE), "incidents.0.ends_at: must be a time of day such as 08:30"),
    (replaced("12:00:00", '"12:00+02:00"', SURGE), "incidents.0.ends_at: must be a local time without an offset"),
    (replaced("site_share = 0.1", "site_share = 0", SURGE), "incidents.0.site_share: must be above 0"),
    (replaced("site_share = 0.1", "", SURGE), "incidents.0.site_share: must be one and only one of site_share,"),
    (
        replaced("site_share = 0.1", "site_share = 0.1\nsite_count = 2", SURGE),
        "incidents.0.site_share: must be one and",
    ),
    (
        replaced("site_share = 0.1", "site_ranks = [51]", SURGE),
        "incidents.0.site_ranks: must be at most 50, the number",
    ),
    (replaced("site_share = 0.1", "site_count = 51", SURGE), "incidents.0.site_count: must be at most 50, the number"),
    (
        replaced("site_share = 0.1", "site_ranks = [1]\nclustered = true", SURGE),
        "incidents.0.clustered: must come with site_share or site_count",
    ),
    (replaced("extra_share", "roles = []\nextra_share", SURGE), "incidents.0.roles: is not a field that is known here"),
    (GOOD + '[[incidents]]\nkind = "late_vans"', "incidents.0.travel_factor: must be above 1 where"),
    (
        GOOD + '[[incidents]]\nkind = "absence"\nsite_share = 1\nabsent_share = 0.5\nroles = ["driver"]',
        "incidents.0.roles.0: must be one of 'registrar'",
    ),
    ("name = ", "scenario: must be TOML in UTF-8"),
    ("", "name: must be given (4 more problems)"),
]


@pytest.mark.parametrize(("text", "sentence"), REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_a_wrong_file_is_refused_with_the_field_and_the_bound(text, sentence):
    with pytest.raises(ScenarioWrong) as refused:
        scenario_from_toml(text.encode())
    said = str(refused.value)
    assert said.startswith(sentence)
    assert "\n" not in said.removeprefix("scenario")


def test_a_refusal_is_wrong_input_and_names_the_file(tmp_path):
    assert issubclass(ScenarioWrong, InputWrong)
    path = tmp_path / "day.toml"
    path.write_text(GOOD.replace("0.85", "7"))
    with pytest.raises(ScenarioWrong, match=r"day\.toml: offered_load_share: must be at most 1\.5, got 7"):
        scenario_from_file(path)
    for missing in (tmp_path / "none.toml", tmp_path, "a\0b"):
        with pytest.raises(ScenarioWrong, match="cannot be read"):
            scenario_from_file(missing)


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(ScenarioWrong, match="must be TOML in UTF-8"):
        scenario_from_toml(b"\xff\xfe\x00")


@settings(max_examples=60)
@given(st.text(max_size=80))
def test_any_text_is_a_scenario_or_is_refused(text):
    with pytest.raises(ScenarioWrong):
        scenario_from_toml(text.encode("utf-8", "surrogatepass"))


def test_a_file_says_what_it_says(tmp_path):
    path = tmp_path / "day.toml"
    path.write_text("﻿" + GOOD + SURGE, encoding="utf-8")
    scenario = scenario_from_file(path)
    (surge,) = scenario.incidents
    assert (scenario.name, scenario.suite, scenario.offered_load_share) == ("market_day", "own", 0.85)
    assert (surge.kind, surge.site_share, surge.starts_at, surge.extra_share) == ("surge", 0.1, time(9), 0.8)
    assert scenario.window.starts_at == time(7, 30)


def test_every_packaged_file_is_read_and_every_suite_has_some():
    assert [len(packaged_scenarios(suite)) for suite in SUITES] == [7, 6, 3, 3]
    names = [one.name for one in packaged_scenarios()]
    assert len(set(names)) == len(names) == 19
    assert packaged_scenario("rain").family == "rain"
    with pytest.raises(ScenarioWrong, match="suite: must be one of training, heldout, czech, sizes, got 'all'"):
        packaged_scenarios("all")
    with pytest.raises(ScenarioWrong, match="scenario: must be one of"):
        packaged_scenario("sunshine")


def test_training_and_held_out_set_share_no_family_and_no_city():
    training, heldout = packaged_scenarios("training"), packaged_scenarios("heldout")
    assert not {one.family for one in training} & {one.family for one in heldout}
    assert not {(one.city, one.city_seed) for one in training} & {(one.city, one.city_seed) for one in heldout}
    kinds = {incident.kind for one in (*training, *heldout) for incident in one.incidents}
    assert kinds == KINDS


def test_an_incident_of_both_sets_differs_in_shape():
    def shapes(suite):
        incidents = [incident for one in packaged_scenarios(suite) for incident in one.incidents]
        surges = {(one.kind, one.shape) for one in incidents if one.kind == "surge"}
        return surges | {(one.kind, one.roles) for one in incidents if one.kind == "absence"}

    assert not shapes("training") & shapes("heldout")
    both = {
        kind
        for kind in KINDS
        if all(
            any(one.kind == kind for scenario in packaged_scenarios(suite) for one in scenario.incidents)
            for suite in ("training", "heldout")
        )
    }
    assert both == {"surge", "absence"}


def test_packaged_trouble_strikes_at_sites_that_the_seed_draws():
    for scenario in packaged_scenarios():
        for incident in scenario.incidents:
            assert getattr(incident, "site_ranks", None) is None
            assert getattr(incident, "site_ids", None) is None


def test_the_schema_in_the_docs_is_that_of_the_files():
    assert json.loads((DOCS / "scenario.schema.json").read_text(encoding="utf-8")) == scenario_schema()


def test_the_file_of_the_docs_is_a_scenario():
    text = (DOCS / "scenarios.md").read_text(encoding="utf-8")
    scenario = scenario_from_toml(text.split("```toml\n")[1].split("```")[0].encode())
    assert scenario.incidents[0].clustered
    assert scenario.params == {"walk_in_share": 0.15}
