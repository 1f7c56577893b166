"""The door for cold-chain loggers, on a real city with a real store."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.errors import ReportRefused
from doseflow.intake.cold_chain_records import read_cold_chain
from doseflow.intake.excursion import MAX_GAP_MINUTES, excursion_minutes
from doseflow.intake.gzip_body import unpacked
from doseflow.live.sources import SourceParams
from doseflow.web.app import create_app

EXAMPLES = sorted((Path(__file__).parents[1] / "data" / "interfaces" / "cold_chain").glob("*.json"))
SCENARIOS = [path for path in EXAMPLES if "schema" not in path.name]


@pytest.fixture
def connected(make_city, serve, tmp_path):
    """A city whose first fridge has the logger SN-1, and a client of it."""
    site = make_city().live.city.sites[0]
    table = tmp_path / "loggers.csv"
    table.write_text(f"logger_id,site_id,fridge_id\nSN-1,{site.site_id},{site.fridges[0].fridge_id}\n")
    played = make_city(sources=SourceParams(loggers=str(table)))
    client = serve(create_app(played.live))
    yield played, client
    played.live.feed.close()


def record(at: datetime, celsius: float | None = 5.0, **told) -> dict:
    return {"ABST": f"{at:%Y%m%dT%H%M%SZ}", "TVC": celsius, "ALRM": None, "EERR": None, "LERR": None} | told


def envelope(records: list[dict], serial: str = "SN-1") -> dict:
    return {"meta": {"transferType": "ems"}, "data": [{"LSER": serial, "records": records}]}


def quarters(now: datetime, celsius: list[float]) -> list[dict]:
    """Records of a quarter hour each, the last one now."""
    first = now - timedelta(minutes=15 * (len(celsius) - 1))
    return [record(first + timedelta(minutes=15 * at), one) for at, one in enumerate(celsius)]


def fridge(played) -> dict:
    state = played.live.run_cycle().state
    table = state.fridges
    return {name: getattr(table, name)[0] for name in ("temperature_celsius", "excursion_minutes", "alarms")}


def test_every_point_counts_towards_the_excursion_that_a_mean_would_hide(connected):
    played, client = connected
    series = [4.0] * 20 + [12.0, 12.0] + [4.0] * 20
    answer = client.post("/api/v1/cold-chain", json=envelope(quarters(played.clock.now(), series)))
    assert (answer.status_code, answer.json()["taken"]) == (202, 42)
    told = fridge(played)
    assert told["temperature_celsius"] == 4.0
    # Straight lines cross 8 degrees halfway up and halfway down: 7.5 + 15 + 7.5 minutes.
    assert told["excursion_minutes"] == pytest.approx(30.0)


def test_the_excursion_goes_on_over_transmissions_and_repeats_count_once(connected):
    played, client = connected
    records = quarters(played.clock.now(), [4.0, 10.0, 10.0, 10.0])
    for body, counts in ((records[:2], (2, 0)), (records[1:], (2, 1)), (records, (0, 4))):
        got = client.post("/api/v1/cold-chain", content=gzip.compress(json.dumps(envelope(body)).encode())).json()
        assert (got["taken"], got["repeated"]) == counts
    # From 4 to 10 degrees a third of the quarter hour lies above 8; then two whole ones.
    assert fridge(played)["excursion_minutes"] == pytest.approx(35.0)
    assert client.get("/api/v1/quarantine").json()["quarantined"] == []


def test_a_logger_in_no_row_of_the_table_is_listed_and_its_points_are_kept(connected):
    played, client = connected
    now = played.clock.now()
    answer = client.post("/api/v1/cold-chain", json=envelope([record(now)], "SN-9"))
    assert answer.json()["unmapped"] == ["SN-9"]
    (source,) = client.get("/api/v1/sources").json()["sources"]
    assert [one["outside_id"] for one in source["unmapped_ids"]] == ["SN-9"]
    assert [one.temperature_celsius for one in played.live.sources.points.of("SN-9", now, now)] == [5.0]
    (kept,) = client.get("/api/v1/quarantine").json()["quarantined"]
    assert kept["reason"] == "'SN-9' is in no row of the table of loggers"


def test_alarms_and_unknown_codes_are_kept_and_shown(connected):
    played, client = connected
    client.post("/api/v1/cold-chain", json=envelope([record(played.clock.now(), ALRM="DOOR ODD", EERR="e1", ZZZZ=4)]))
    assert fridge(played)["alarms"] == "DOOR\nODD\nEERR:e1"
    site_id = played.live.city.sites[0].site_id
    assert client.get(f"/api/v1/sites/{site_id}").json()["fridges"][0]["alarms"] == ["DOOR", "ODD", "EERR:e1"]
    (source,) = client.get("/api/v1/sources").json()["sources"]
    assert {one["code"] for one in source["unknown_codes"]} == {"ODD", "ZZZZ"}


def test_a_bad_record_is_refused_by_its_path_and_the_good_ones_count(connected):
    played, client = connected
    now = played.clock.now()
    bad = [record(now, 99.0), record(now + timedelta(hours=1)), {"ABST": "yesterday"}]
    answer = client.post("/api/v1/cold-chain", json=envelope([record(now), *bad])).json()
    assert answer["taken"] == 1
    assert {one["field"] for one in answer["refused"]} == {
        "data.0.records.1.TVC",
        "data.0.records.2.ABST",
        "data.0.records.3.ABST",
    }
    assert len(client.get("/api/v1/quarantine").json()["quarantined"]) == 3


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"no", 400), (b"{}", 400), (b"[]", 400), (b"\x1f\x8bno", 400), (b"[" * 100_000, 400), (b" " * 1_000_001, 413)],
)
def test_what_is_no_transmission_is_refused_and_kept(connected, body, status):
    answer = connected[1].post("/api/v1/cold-chain", content=body)
    assert (answer.status_code, answer.json()["field"]) == (status, "body")


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_example_files_load_whole_with_the_logger_named_by_the_address(connected, path):
    played, client = connected
    played.clock.set(datetime(2024, 6, 15, 6, tzinfo=UTC))
    answer: httpx.Response = client.post("/api/v1/cold-chain?logger=SN-1", content=path.read_bytes())
    document = json.loads(path.read_bytes())
    assert (answer.status_code, answer.json()["taken"]) == (202, len(document["records"]))
    assert answer.json()["refused"] == []
    assert client.post("/api/v1/cold-chain", content=path.read_bytes()).status_code == 422


def test_the_examples_of_the_schema_load_and_join_sensors_of_one_moment():
    schema = next((path for path in EXAMPLES if "schema" in path.name), None)
    if schema is None:
        pytest.skip("no example files here")
    for example in json.loads(schema.read_bytes())["examples"]:
        reading = read_cold_chain(json.dumps(example).encode())
        assert (len(reading.records), reading.refused, reading.unknown) == (6, [], [])
        assert all({"TVC", "TAMB"} <= set(one.values) for one in reading.records)


@settings(max_examples=200)
@given(st.one_of(st.binary(max_size=300), st.binary(max_size=60).map(gzip.compress)))
def test_any_bytes_are_read_or_refused(body):
    refused_field = "body"
    try:
        read_cold_chain(unpacked(body, 10_000))
    except ReportRefused as error:
        refused_field = error.field
    assert refused_field == "body"


CODES = ["ABST", "TVC", "ALRM", "EERR", "MSW", "LSER", "SVA", "XX", "records"]
VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.lists(st.none()))


@settings(max_examples=200)
@given(st.lists(st.dictionaries(st.sampled_from(CODES), VALUES)))
def test_any_records_are_read_or_refused_one_by_one(records):
    try:
        reading = read_cold_chain(
            json.dumps({"records": [record(datetime(2026, 5, 4, tzinfo=UTC)), *records]}).encode()
        )
    except ReportRefused:
        return
    assert len(reading.records) >= 1


def test_a_bomb_is_unpacked_no_further_than_the_limit():
    bomb = gzip.compress(b" " * 200_000_000)
    tracemalloc.start()
    with pytest.raises(ReportRefused, match="must unpack to at most 1000000 bytes"):
        unpacked(bomb, 1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


@settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(1, 90), st.floats(-5, 15).map(lambda one: round(one, 1))), min_size=1, max_size=8)
)
def test_the_excursion_is_the_time_that_straight_lines_spend_outside(points):
    at = np.cumsum([float(length) for length, _ in points])
    celsius = np.array([one for _, one in points])
    seconds = np.arange(at[0], at[-1], 1 / 60) + 1 / 120
    line = np.interp(seconds, at, celsius)
    gap = np.searchsorted(at, seconds)
    wide = (at[gap] - at[gap - 1] > MAX_GAP_MINUTES) if len(seconds) else np.zeros(0, bool)
    low, high = celsius[gap - 1], celsius[gap]
    whole = ((low > 8) & (high > 8)) | ((low < 2) & (high < 2))
    expected = (((line > 8) | (line < 2)) & (~wide | whole)).sum() / 60
    assert excursion_minutes(at, celsius, 2.0, 8.0)[-1] == pytest.approx(expected, abs=0.4)
