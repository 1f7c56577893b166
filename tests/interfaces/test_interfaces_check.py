from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.append(str(Path(__file__).parents[1] / "intake"))

from interface_files import ALL_FILES, PACKAGED

from doseflow.interfaces.command import interfaces

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
