from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interface_files import HL7_FILES

from doseflow.domain.appointment import AppointmentStatus
from doseflow.errors import MessageRefused
from doseflow.intake.hl7_answer import Answer, AnswerCode, ErrorCode, answer_bytes
from doseflow.intake.hl7_appointment import appointment_message, message_id_of
from doseflow.intake.hl7_doses import doses_message
from doseflow.intake.hl7_message import read_message
from doseflow.intake.hl7_scrubbed import scrubbed
from doseflow.live.hl7_door import understand

ZONE = ZoneInfo("Europe/Prague")
SCH = "SCH|p1|f1"
TQ1 = "TQ1|1||||||20260504093000|20260504100000"


def siu(*lines: str, event: str = "S12", sent: str = "20260504080000", control: str = "7"):
    head = f"MSH|^~\\&|APP|FAC|||{sent}||SIU^{event}|{control}|P|2.5"
    return read_message("\r".join((head, *lines)).encode())


def notice_of(*lines: str, **head: str):
    return appointment_message(siu(*lines, **head), ZONE).appointments[0]


@pytest.mark.parametrize("path", HL7_FILES, ids=lambda path: path.name)
def test_every_example_is_understood_by_its_msh_9_and_not_by_its_name(path) -> None:
    understood = understand(read_message(path.read_bytes()), ZONE)
    assert not isinstance(understood, Answer)
    assert len(understood.appointments) + len(understood.doses) == 1


STATUS_OF_EXAMPLE = {
    "SIU-S12-01.hl7": "booked",
    "SIU-S13-01.hl7": "booked",
    "SIU-S14-01.hl7": "booked",
    "SIU-S15-01.hl7": "cancelled",
    "SIU-S16-01.hl7": "cancelled",
    "SIU-S17-01.hl7": "cancelled",
    "SIU-S26-01.hl7": "noshow",
}


@pytest.mark.parametrize(
    "path", [path for path in HL7_FILES if path.name in STATUS_OF_EXAMPLE], ids=lambda path: path.name
)
def test_the_examples_stand_where_their_notes_say_and_begin_at_their_tq1(path) -> None:
    notice = appointment_message(read_message(path.read_bytes()), ZONE).appointments[0]
    assert notice.status == STATUS_OF_EXAMPLE[path.name]
    assert notice.starts_at == datetime(2021, 9, 24, 7, 15, tzinfo=UTC)
    assert "AIL-3.4|GH Clinic" in notice.place.keys


@pytest.mark.parametrize(
    "lines",
    [
        (SCH, TQ1),
        (SCH, "AIS|1||X|20260504093000"),
        (SCH, "AIL|1||room|||20260504093000"),
        (SCH, "AIG|1||X|||||20260504093000"),
        (SCH + "||||||||" + "|^^^20260504093000^20260504100000",),
        (SCH, "TQ1|1||||||20260504"),
    ],
)
def test_the_start_is_found_wherever_versions_put_it(lines: tuple[str, ...]) -> None:
    if lines[1:] == ("TQ1|1||||||20260504",):
        with pytest.raises(MessageRefused, match="TQ1-7"):
            notice_of(*lines)
        return
    assert notice_of(*lines).starts_at == datetime(2026, 5, 4, 7, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("code", "status", "is_known"),
    [
        ("Pending", "pending", True),
        ("No-Show", "noshow", True),
        ("COMPLETE", "fulfilled", True),
        ("Elvis", "booked", False),
    ],
)
def test_the_filler_status_says_where_a_booking_stands_and_an_unknown_one_is_kept(code, status, is_known) -> None:
    read = appointment_message(siu("|".join((SCH, *[""] * 22, code)), TQ1), ZONE)
    assert read.appointments[0].status == status
    assert [one.code for one in read.unknown_codes] == ([] if is_known else ["Elvis"])


@pytest.mark.parametrize("event", [f"S{number}" for number in range(12, 25)] + ["S26"])
def test_every_event_of_siu_is_understood(event: str) -> None:
    read = appointment_message(siu(SCH, TQ1, event=event), ZONE)
    assert len(read.appointments) == (0 if event in {"S23", "S24"} else 1)


def test_repeated_patients_are_people_and_repeated_segments_are_all_read() -> None:
    notice = notice_of(SCH, TQ1, "PID|1", "PID|2", "PID|3", "AIL|1||a^^^North", "AIL|2||b^^^South")
    assert notice.people == 3
    assert {"AIL-3.4|North", "AIL-3.4|South"} <= set(notice.place.keys)


def test_the_schedulers_id_goes_before_the_asking_systems() -> None:
    assert notice_of("SCH|p1^APP|f1^SCHED", TQ1).outside_id == "f1^SCHED"
    assert notice_of("SCH|p1|", TQ1).outside_id == "p1"
    with pytest.raises(MessageRefused, match="SCH-2"):
        notice_of("SCH||", TQ1)


def test_a_cancellation_needs_no_start() -> None:
    notice = notice_of(SCH, event="S15")
    assert notice.status == AppointmentStatus.CANCELLED
    assert notice.starts_at is None


def test_a_made_up_moment_of_sending_does_not_order_anything() -> None:
    assert notice_of(SCH, TQ1, sent="19890818112600").changed_at is None
    assert notice_of(SCH, TQ1).changed_at == datetime(2026, 5, 4, 6, 0, tzinfo=UTC)


def test_the_same_message_again_has_the_same_id_and_a_new_one_under_an_old_number_has_not() -> None:
    first = message_id_of(siu(SCH, TQ1))
    assert message_id_of(siu(SCH, TQ1, sent="20260504080500")) == first
    assert message_id_of(siu(SCH, TQ1.replace("0930", "0945"))) != first


@pytest.mark.parametrize(
    ("rxa", "doses"),
    [
        ("RXA|0|1|20260504||49281^TENIVAC^NDC|0.5|||00^New^NIP001||^^^Clinic|||||||||CP|A", 1),
        ("RXA|0|1|20260504||49281^TENIVAC^NDC|0.5|||01^Old^NIP001||^^^Clinic|||||||||CP|A", 0),
        ("RXA|0|1|20260504||49281^TENIVAC^NDC|0.5|||00^New^NIP001||^^^Clinic|||||||||RE|A", 0),
        ("RXA|0|1|20260504||49281^TENIVAC^NDC|999|||00^New^NIP001||^^^Clinic|||||||||CP|A", 0),
        ("RXA|0|1|20260504||49281^TENIVAC^NDC|0.5|||00^New^NIP001||^^^Clinic|||||||||CP|D", 0),
    ],
)
def test_only_a_dose_given_here_and_now_counts(rxa: str, doses: int) -> None:
    head = "MSH|^~\\&|APP|FAC|||20260504080000||VXU^V04|7|P|2.5"
    read = doses_message(read_message(f"{head}\r{rxa}".encode()))
    assert sum(one.doses for one in read.doses) == doses
    assert all(one.place.keys[0] == "RXA-11.4|Clinic" for one in read.doses)


def test_the_answer_goes_back_to_the_sender_with_its_control_id_and_the_place_of_the_error() -> None:
    raw = b"MSH|^~\\&|APP^1.2^ISO|FAC|DOSE|CITY|20260504080000||SIU^S12|A|P|2.8\rSCH|1"
    now = datetime(2026, 5, 4, 8, tzinfo=UTC)
    answer = Answer(AnswerCode.ERROR, ErrorCode.REQUIRED_FIELD_MISSING, "TQ1-7", "must be | given")
    back = read_message(answer_bytes(read_message(raw), answer, now, "own"))
    assert [back.header.text(field) for field in (3, 4, 5, 6, 9, 10, 11, 12)] == [
        "DOSE", "CITY", "APP", "FAC", "ACK", "own", "P", "2.8",
    ]  # fmt: skip
    assert back.kind == "ACK^S12"
    [said], [error] = back.named("MSA"), back.named("ERR")
    assert (said.text(1), said.text(2)) == ("AE", "A")
    assert error.components(2) == ("TQ1", "1", "7")
    assert (error.text(3), error.text(4), error.text(8)) == ("101", "E", "TQ1-7: must be | given")


@pytest.mark.parametrize("path", HL7_FILES, ids=lambda path: path.name)
def test_nobody_is_in_what_is_kept_of_a_refused_example(path) -> None:
    kept = scrubbed(read_message(path.read_bytes())).decode().upper()
    for secret in ("SMITH", "EVERYMAN", "WONG", "ADAM", "1234567", "36996", "12345", "19830615", "MAINSTREET", "DENT"):
        assert secret not in kept


EXAMPLES = [path.read_bytes() for path in HL7_FILES]


@settings(max_examples=200)
@given(st.sampled_from(EXAMPLES), st.integers(0, 4000), st.binary(max_size=12), st.integers(0, 40))
def test_an_example_with_any_bytes_changed_is_understood_or_refused(raw: bytes, at: int, put: bytes, cut: int) -> None:
    changed = raw[:at] + put + raw[at + cut :]
    message = None
    try:
        message = read_message(changed)
        answer = understand(message, ZONE)
        reply = answer if isinstance(answer, Answer) else Answer(AnswerCode.ACCEPT)
    except MessageRefused as error:
        reply = Answer(AnswerCode.ERROR, ErrorCode.INTERNAL, error.field, error.reason)
    back = answer_bytes(message, reply, datetime(2026, 5, 4, tzinfo=UTC), "own")
    assert b"MSA|" in back
    assert message is None or scrubbed(message) is not None
