from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interface_files import HL7_FILES

from doseflow.errors import MessageRefused
from doseflow.intake.hl7_message import CHARSETS, read_message

HEAD = "MSH|^~\\&|APP|FAC|||20260504080000||SIU^S12|7|P|2.5"


def message(*lines: str, head: str = HEAD, end: str = "\r", charset: str = "") -> bytes:
    tail = f"{'|' * (18 - head.count('|') - 1)}{charset}" if charset else ""
    return end.join((head + tail, *lines)).encode(CHARSETS[charset])


@pytest.mark.parametrize("path", HL7_FILES, ids=lambda path: path.name)
def test_every_field_of_the_examples_reads_as_another_library_reads_it(path) -> None:
    other_reader = pytest.importorskip("hl7")
    text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\r").replace("\n", "\r").strip()
    ours, theirs = read_message(path.read_bytes()), other_reader.parse(text)
    assert [one.name for one in ours.segments] == [str(one[0]) for one in theirs]
    for own, other in zip(ours.segments, theirs, strict=True):
        assert list(own.fields) == [str(field) for field in other]


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_a_byte_order_mark_change_nothing(end: str, mark: bytes) -> None:
    read = read_message(mark + message("SCH|1|2", "PID|1", "PID|2", end=end))
    assert [one.name for one in read.segments] == ["MSH", "SCH", "PID", "PID"]
    assert read.kind == "SIU^S12"
    assert read.control_id == "7"


@pytest.mark.parametrize(
    ("charset", "name"),
    [
        ("UNICODE UTF-8", "北院"),
        ("GB 18030-2000", "东四十条社区"),
        ("8859/1", "Hôpital"),
        ("8859/2", "Řepy"),
        ("8859/15", "Œuvre"),
        ("", "北院"),
    ],
)
def test_a_place_reads_in_the_character_set_that_the_message_names(charset: str, name: str) -> None:
    read = read_message(message(f"AIL|1||room^^^{name}", charset=charset))
    assert read.named("AIL")[0].text(3, 4) == name


def test_a_character_whose_second_byte_is_a_delimiter_does_not_divide_its_field() -> None:
    name = next(char for char in map(chr, range(0x4E00, 0x9FFF)) if char.encode("gb18030")[1:2] == b"|")
    read = read_message(message(f"AIL|1||room^^^{name}", head=HEAD.replace("FAC", name), charset="GB 18030-2000"))
    assert read.named("AIL")[0].text(3, 4) == name
    assert read.header.text(4) == name


def test_text_without_a_named_character_set_that_is_not_utf8_reads_as_latin() -> None:
    read = read_message((HEAD + "\rAIL|1||room^^^Hôpital").encode("iso8859_1"))
    assert read.named("AIL")[0].text(3, 4) == "Hôpital"


def test_delimiters_are_those_that_the_message_names() -> None:
    read = read_message(b"MSH#*%!$#APP#FAC###20260504080000##SIU*S12#7#P#2.5\rAIL#1##a$b*c%d")
    assert read.kind == "SIU^S12"
    assert read.named("AIL")[0].components(3) == ("a", "c")
    assert read.named("AIL")[0].text(3, repetition=2) == "d"


def test_escapes_mean_what_they_stand_for() -> None:
    assert read_message(message(r"AIL|1||A\T\B \S\ C\F\D\E\ \H\x")).named("AIL")[0].text(3) == r"A&B ^ C|D\ x"


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b"", "MSH"),
        (b"PID|1", "MSH"),
        (b"MSH", "MSH-2"),
        (b"MSH|^^\\&|", "MSH-2"),
        (b"MSHa^~\\&a", "MSH-2"),
        (message(charset="UNICODE UTF-8") + b"\xff", "MSH-18"),
        (message().replace(b"|2.5", b"|2.5||||||KLINGON"), "MSH-18"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_field(raw: bytes, field: str) -> None:
    with pytest.raises(MessageRefused) as refused:
        read_message(raw)
    assert refused.value.field == field


@settings(max_examples=300)
@given(st.one_of(st.binary(max_size=400), st.binary(max_size=200).map(lambda tail: b"MSH|^~\\&|" + tail)))
def test_no_bytes_raise_anything_but_the_refusal(raw: bytes) -> None:
    try:
        read = read_message(raw)
    except MessageRefused:
        return
    assert read.segments[0].name == "MSH"
