from __future__ import annotations

import contextlib
import gzip
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.append(str(Path(__file__).parents[1] / "intake"))

from interface_files import ALL_FILES, PACKAGED

from doseflow.bootstrap import open_city
from doseflow.intake.sheet_template import csv_template
from doseflow.interfaces.command import interfaces
from doseflow.live.machine_needs import free_port
from doseflow.settings import HttpSettings, Settings, StoreSettings
from doseflow.web.server import serving

RITE_AID = PACKAGED / "rite_aid_nj"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def check(*files: Path):
    return CliRunner().invoke(interfaces, ["check", "--city", "synthetic:6", *map(str, files)])


def test_every_example_is_of_a_known_format_and_nothing_of_it_would_be_refused() -> None:
    result = check(*ALL_FILES)
    assert result.exit_code == 0, result.output
    assert result.output.count("format: ") == len(ALL_FILES)
    for name in ("Chalmers", "EVERYMAN", "Wong", "Smith", "36996"):
        assert name not in result.output


def test_what_is_understood_and_would_be_kept_is_printed(tmp_path) -> None:
    (tmp_path / "doseflow.toml").write_text('[appointments.locations]\n"AIL-3.4|GH Clinic" = "site-00002"\n')
    result = check(PACKAGED / "hl7v2" / "SIU-S15-01.hl7", RITE_AID / "slots-NJ.ndjson")
    assert "would be kept: appointment: cancelled, 2021-09-24T07:15:00+00:00, people 1, site-00002" in result.output
    assert "slots: 112 by schedule and start, " in result.output


def test_an_unknown_code_is_printed_and_is_no_reason_to_refuse(tmp_path) -> None:
    message = (PACKAGED / "hl7v2" / "SIU-S12-01.hl7").read_bytes().replace(b"|||Booked|", b"|||Elvis|")
    (tmp_path / "a").write_bytes(message)
    result = check(tmp_path / "a")
    assert "unknown code: HL70278 Elvis" in result.output
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"MSH|^~\\&|A|F|||1||ADT^A01|1|P|2.5", 1, "MSH-9: must be SIU"),
        (b'{"resourceType":"Appointment","status":"booked"}', 1, "Appointment.participant: must be given"),
        (b'{"resourceType":"Slot","status":"free"}\n{"resourceType":"Slot"}', 1, "Slot.schedule: must be given"),
        (b"name,age", 2, "is of no format that is known here"),
        (b"", 2, "is of no format that is known here"),
        (None, 2, "cannot be read: No such file"),
    ],
)
def test_the_exit_code_is_the_worst_of_the_files(tmp_path, content, code, said) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    result = check(PACKAGED / "hl7v2" / "VXU.hl7", path)
    assert said in result.output
    assert result.exit_code == code


def test_several_messages_of_one_file_are_read_with_and_without_framing(tmp_path) -> None:
    messages = [path.read_bytes() for path in sorted((PACKAGED / "hl7v2").glob("*.hl7"))]
    (tmp_path / "plain").write_bytes(b"\n".join(messages))
    (tmp_path / "framed").write_bytes(b"".join(b"\x0b" + message + b"\x1c\r" for message in messages))
    for name in ("plain", "framed"):
        output = check(tmp_path / name).output
        assert output.count("would be kept: ") == 10
        assert "2 x SIU^S12" in output


def test_a_table_and_what_is_wrong_in_it_are_told(tmp_path) -> None:
    good = csv_template("zh")
    table = tmp_path / "table.csv"
    table.write_bytes(good.decode("utf-8-sig").encode("gb18030"))
    result = check(table)
    assert "format: table of site reports" in result.output
    bad = tmp_path / "bad.csv"
    bad.write_text("site,time,arrivals,shoe size\nsite-00001,2026-05-04 10:00,many,42\n")
    result = check(bad)
    assert result.exit_code == 1
    assert 'would be refused: row 2, column "arrivals"' in result.output
    assert "unknown code: header shoe size" in result.output


def test_packed_records_of_a_logger_are_told_and_half_a_pack_is_no_format(tmp_path) -> None:
    packed = gzip.compress((PACKAGED / "cold_chain" / "power_outage.json").read_bytes())
    whole, half = tmp_path / "whole.json.gz", tmp_path / "half.json.gz"
    whole.write_bytes(packed)
    half.write_bytes(packed[: len(packed) // 2])
    assert "format: cold-chain records" in check(whole).output
    assert check(half).exit_code == 2


def test_a_table_is_sent_to_a_serving_city(tmp_path) -> None:
    store = StoreSettings(url=f"sqlite:///{tmp_path / 'store.sqlite'}")
    port = free_port()
    settings = Settings(city="synthetic:3", store=store, http=HttpSettings(port=port))
    table = tmp_path / "table.csv"
    now = datetime.now(UTC).isoformat(timespec="minutes")
    table.write_text(f"site,time,arrivals\nsite-00001,{now},14\nsite-00002,{now},-3\n")
    upload = ["upload", str(table), "--url", f"http://127.0.0.1:{port}"]
    assert CliRunner().invoke(interfaces, upload).exit_code == 2
    with contextlib.closing(open_city(settings)) as opened, serving(opened.live, settings):
        result = CliRunner().invoke(interfaces, upload)
        assert (result.exit_code, "1 rows are taken" in result.output) == (1, True)
        assert 'row 3, column "arrivals"' in result.output
        (kept,) = opened.live.reports.pending()
    assert (kept.report.site_id, kept.report.arrivals_people) == ("site-00001", 14)
