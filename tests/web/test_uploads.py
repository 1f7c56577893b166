"""Tables uploaded by sites that have nothing else."""

from __future__ import annotations

import csv
import io
import zipfile
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.errors import ReportRefused
from doseflow.intake.sheet_columns import COLUMNS, header_of
from doseflow.intake.sheet_reports import read_sheet

openpyxl = pytest.importorskip("openpyxl")


def row_of(played, **cells) -> dict[str, str]:
    at = played.clock.now().astimezone(ZoneInfo(played.live.city.timezone))
    site = played.live.city.sites[0]
    return {"site": site.site_id, "time": f"{at:%Y-%m-%d %H:%M}", "waiting": "11"} | cells


def csv_of(*rows: dict[str, str], encoding: str = "utf-8", delimiter: str = ",") -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode(encoding)


def xlsx_of(rows: list[list]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def waiting(played) -> float:
    return float(played.live.run_cycle().state.waiting_people[0, 2])


def upload(client, data: bytes) -> dict:
    answer = client.post("/api/v1/uploads", content=data, headers={"content-type": "text/csv"})
    assert answer.status_code == 202, answer.text
    return answer.json()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_chinese_table_in_any_encoding_is_one_site_report_a_row(played, client, encoding, delimiter):
    row = row_of(played)
    table = {
        "接种点编号": row["site"],
        "时间": row["time"].replace("-", "/"),
        "接种等候": "11",
        "等候时间（分钟）": "7.5",
    }
    answer = upload(client, csv_of(table, encoding=encoding, delimiter=delimiter))
    assert answer == {"taken": 1, "refused": [], "unknown_columns": []}
    assert waiting(played) == 11


def test_a_bad_cell_is_named_by_row_and_column_and_the_good_rows_count(played, client):
    site_ids = [site.site_id for site in played.live.city.sites]
    rows = [row_of(played, site=site_id) for site_id in site_ids[:3]]
    rows[1]["waiting"] = "eleven"
    rows[2]["waiting"] = "-3"
    answer = upload(client, csv_of(*rows))
    assert answer["taken"] == 1
    assert [one["detail"] for one in answer["refused"]] == [
        'row 3, column "waiting": must be a number, got "eleven"',
        'row 4, column "waiting": must be at least 0, got -3',
    ]
    assert len(client.get("/api/v1/quarantine").json()["quarantined"]) == 2
    assert waiting(played) == 11


def test_an_excel_file_with_real_dates_and_numbers_is_taken_and_a_formula_is_not(played, client):
    at = played.clock.now().astimezone(ZoneInfo(played.live.city.timezone)).replace(tzinfo=None, second=0)
    ids = [site.site_id for site in played.live.city.sites]
    rows = [["site", "time", "waiting"], [ids[0], at, 11.0], [ids[1], at, "=1+1"]]
    files = {"file": ("monday.xlsx", xlsx_of(rows))}
    answer = client.post("/api/v1/uploads", files=files).json()
    assert answer["taken"] == 1
    assert answer["refused"][0]["detail"] == 'row 3, column "waiting": must be a value, got a formula'
    assert waiting(played) == 11


def test_the_temperature_of_one_fridge_leaves_the_others_alone(played, client):
    played.play()
    before = played.live.run_cycle().state.fridges
    played.live_on()
    fridge_id = before.fridge_id[0]
    upload(client, csv_of(row_of(played, fridge=fridge_id, **{"fridge temperature (°C)": "6,5"})))
    after = played.live.run_cycle().state.fridges
    assert after.fridge_id == before.fridge_id
    assert after.temperature_celsius[0] == 6.5
    assert after.temperature_celsius[1:].tolist() == before.temperature_celsius[1:].tolist()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("extension", ["csv", "xlsx"])
def test_the_template_is_a_table_that_can_be_read(quiet_client, language, extension):
    data = quiet_client.get(f"/api/v1/uploads/template.{extension}", params={"language": language}).content
    reading = read_sheet(data, "template", ZoneInfo("Europe/Prague"))
    assert (len(reading.rows), reading.refused, reading.unknown_headers) == (1, [], [])
    assert set(reading.rows[0].headers.values()) == {header_of(one, language) for one in COLUMNS}


def test_a_column_that_nobody_knows_is_listed_and_not_lost(played, client):
    assert upload(client, csv_of(row_of(played, mood="good")))["unknown_columns"] == ["mood"]
    (source,) = client.get("/api/v1/sources").json()["sources"]
    assert [one["code"] for one in source["unknown_codes"]] == ["mood"]


def test_a_zip_bomb_and_a_file_that_is_no_table_are_refused(quiet_client):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 60_000_000)
    for data, reason in (
        (out.getvalue(), "must unpack to at most"),
        (b"PK\x03\x04no", "must be a whole XLSX file"),
        (b"\xff\xff\x00", "must be an XLSX file, or CSV in UTF-8 or GBK"),
        (b"", "must hold a header and rows"),
        (b"a,b\n1,2\n", "must have a column 'site' or"),
    ):
        answer = quiet_client.post("/api/v1/uploads", content=data)
        assert answer.status_code in {413, 422}
        assert reason in answer.json()["reason"]


@settings(max_examples=200)
@given(st.one_of(st.binary(max_size=200), st.binary(max_size=100).map(lambda one: b"site,time,waiting\n" + one)))
def test_any_bytes_are_read_or_refused(data):
    field = "file"
    try:
        read_sheet(data, "any", ZoneInfo("Europe/Prague"))
    except ReportRefused as error:
        field = error.field
    assert field == "file"


def test_a_number_of_excel_is_the_day_it_stands_for():
    data = b"site,time\nx,46146.4166666667\n"
    assert read_sheet(data, "t", ZoneInfo("UTC")).refused[0].column == "time"
    rows = xlsx_of([["site", "time"], ["x", 46146.4166666667]])
    (row,) = read_sheet(rows, "t", ZoneInfo("UTC")).rows
    assert datetime.fromisoformat(row.report["valid_at"]) == datetime(2026, 5, 4, 10, tzinfo=ZoneInfo("UTC"))
