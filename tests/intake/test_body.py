import json
from datetime import timedelta

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intake_samples import NOW, changed, make_city, report_document

from doseflow.errors import (
    ReportMalformed,
    ReportRefused,
    ReportRepeated,
    ReportTooLarge,
    SiteUnknown,
    TimeImplausible,
)
from doseflow.intake.body import AcceptedItem, RefusedItem, read_body
from doseflow.intake.params import IntakeParams

CITY = make_city()


def read(document, *, now=NOW, **params):
    """Read a document, or bytes as they are; nothing may be put in quarantine."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()

    def never(_):
        raise AssertionError("a body that can be read is not put in quarantine")

    return read_body(body, CITY, now, IntakeParams(**params), never)


def refusal(document, **params) -> ReportRefused:
    """The error of a body of one report that is refused."""
    (item,) = read(document, **params)
    assert isinstance(item, RefusedItem)
    return item.error


def test_a_full_report_is_accepted_with_its_values_and_bytes():
    body = json.dumps(report_document()).encode()
    (item,) = read(body)
    assert isinstance(item, AcceptedItem)
    assert item.position == 0
    assert item.raw == body
    assert item.received.received_at == NOW
    report = item.received.report
    assert (report.site_id, report.report_id, report.arrivals_people) == ("prague-001", "first", 14)
    assert report.doses_given_past_weeks == (13, None, 12)
    assert report.lots[0].open_vial_doses == 0


def test_a_report_of_two_fields_is_a_good_report_and_the_rest_is_unknown():
    (item,) = read({"site_id": "prague-001", "valid_at": "2026-05-04T10:00:00+02:00"})
    assert isinstance(item, AcceptedItem)
    assert item.received.report.arrivals_people is None
    assert item.received.report.staff is None


@pytest.mark.parametrize(
    ("path", "value", "field", "reason"),
    [
        ("site_id", ..., "site_id", "must be given"),
        ("site_id", 7, "site_id", "must be a text, got 7"),
        ("site_id", "", "site_id", 'must have at least 1 character, got ""'),
        ("report_id", "x" * 101, "report_id", "must have at most 100 characters"),
        ("schema_version", 3, "schema_version", "must be one of 1 or 2, got 3"),
        ("schema_version", 0, "schema_version", "must be one of 1 or 2, got 0"),
        ("valid_at", "yesterday", "valid_at", "must be a moment with its offset from UTC"),
        ("valid_at", "2026-05-04T08:00:00", "valid_at", "must be a moment with its offset from UTC"),
        ("valid_at", 1777881600, "valid_at", "must be a moment with its offset from UTC"),
        ("arrivals_people", -3, "arrivals_people", "must be at least 0, got -3"),
        ("arrivals_people", 2.5, "arrivals_people", "must be a whole number, got 2.5"),
        ("arrivals_people", "7", "arrivals_people", 'must be a whole number, got "7"'),
        ("arrivals_people", True, "arrivals_people", "must be a whole number, got true"),
        ("arrivals_people", 10**30, "arrivals_people", "must be at most 100000, got 1"),
        ("walk_in_share", 12, "walk_in_share", "must be at most 1.0, got 12"),
        ("walk_in_share", float("nan"), "walk_in_share", "must be a finite number"),
        ("waiting_people", [1, 2], "waiting_people", "must be an object, got [1,2]"),
        ("waiting_people.screening", -1, "waiting_people.screening", "must be at least 0, got -1"),
        ("waiting_people.triage", 1, "waiting_people.triage", "is not a field that is known here"),
        ("arivals_people", 1, "arivals_people", "is not a field that is known here"),
        ("booked_people", [1, 2], "booked_people", "must have at least 8 items, got 2"),
        ("booked_people.3", None, "booked_people.3", "must be a whole number, got null"),
        ("no_show.no_show_share", 1.5, "no_show.no_show_share", "must be at most 1.0, got 1.5"),
        ("staff.0.role", "nurse", "staff.0.role", "must be one of 'registrar', 'screener', 'vaccinator' or 'observer'"),
        (
            "staff.0.shift_ends_at",
            "2026-05-07T00:00:00Z",
            "staff.0.shift_ends_at",
            "must lie within 2 days of valid_at",
        ),
        ("staff", {}, "staff", "must be a list, got {}"),
        ("fatigue", [{"role": "observer"}] * 2, "fatigue.1.role", "must be given once, got 'observer' again"),
        (
            "stations.open.registration",
            6,
            "stations.open.registration",
            "must be at most the 5 possible stations, got 6",
        ),
        ("stations.open.vaccination", 9, "stations.open.vaccination", "must be at most the 8 possible stations, got 9"),
        ("seats.taken", 49, "seats.taken", "must be at most 48, the 40 possible seats and 20%, got 49"),
        ("seats", {"taken": 49}, "seats.taken", "must be at most 48"),
        ("lots.0.unopened_doses", -6, "lots.0.unopened_doses", "must be at least 0, got -6"),
        ("lots.0.product_id", "green", "lots.0.product_id", "must be one of red, blue, got 'green'"),
        ("lots.0.fridge_id", "z", "lots.0.fridge_id", "must be a fridge of this site (a, b), got 'z'"),
        ("lots.0.expires_at", "9999-12-31T23:59:59-12:00", "lots.0.expires_at", "must lie in the years 2000..2199"),
        ("fridges.0.fridge_id", "z", "fridges.0.fridge_id", "must be a fridge of this site (a, b), got 'z'"),
        ("fridges.0.temperature_celsius", 300, "fridges.0.temperature_celsius", "must be at most 80.0, got 300"),
        ("fridges.0.power", "yes", "fridges.0.power", "must be one of 'on' or 'off', got \"yes\""),
        (
            "surroundings.vans.0.van_id",
            "v",
            "surroundings.vans.0.van_id",
            "must be one of the 1 vans of Prague, got 'v'",
        ),
        ("surroundings.weather", "hail", "surroundings.weather", "must be one of"),
    ],
)
def test_a_bad_value_is_refused_in_a_sentence_with_its_path_and_bound(path, value, field, reason):
    error = refusal(changed(report_document(), path, value))
    assert type(error) is ReportMalformed
    assert error.field == field
    assert error.reason.startswith(reason)
    assert str(error) == f"{field}: {error.reason}"


def test_things_given_twice_are_refused():
    document = report_document()
    assert refusal(changed(document, "fridges", document["fridges"] * 2)).field == "fridges.1.fridge_id"
    vans = {"vans": [{"van_id": "van-1"}] * 2}
    assert refusal(report_document(surroundings=vans)).field == "surroundings.vans.1.van_id"


def test_the_same_lot_may_be_told_in_parts_and_lie_in_two_fridges():
    document = report_document()
    document["lots"] += [document["lots"][0], document["lots"][0] | {"fridge_id": "b"}]
    assert isinstance(read(document)[0], AcceptedItem)


def test_seats_may_be_taken_a_fifth_beyond_the_possible_and_no_further():
    assert isinstance(read(report_document(seats={"taken": 48}))[0], AcceptedItem)
    assert isinstance(read(report_document(seats={"taken": 12, "possible": 10}))[0], AcceptedItem)
    assert refusal(report_document(seats={"taken": 13, "possible": 10})).field == "seats.taken"


def test_a_site_whose_fridges_the_city_does_not_list_may_report_any_and_keep_lots_there():
    document = report_document(site_id="prague-002", fridges=[{"fridge_id": "new"}])
    document["lots"][0]["fridge_id"] = "new"
    assert isinstance(read(document)[0], AcceptedItem)
    document["lots"][0]["fridge_id"] = "other"
    assert refusal(document).field == "lots.0.fridge_id"


def test_several_problems_are_counted():
    assert refusal({"valid_at": "2026-05-04T08:00:00Z"}).reason == "must be given"
    assert refusal({"valid_at": "2026-05-04T08:00:00Z", "x": 1}).reason == "must be given (1 more problem)"
    assert refusal({}).reason == "must be given (1 more problem)"
    assert refusal({"x": 1, "y": 2}).reason == "must be given (3 more problems)"


def test_long_values_and_names_are_cut_and_stay_on_one_line():
    error = refusal(report_document(**{"a\nb" * 1000: 1}, arrivals_people="x\n" * 5000))
    assert len(str(error)) < 250
    assert str(error).isprintable()


def test_an_unknown_site_is_told_the_nearest_one_it_may_have_meant():
    error = refusal(report_document(site_id="prague-0011"))
    assert type(error) is SiteUnknown
    assert error.reason == "must be one of the 2 sites of Prague, got 'prague-0011'; did you mean 'prague-001'?"
    assert "did you mean" not in refusal(report_document(site_id="zzz")).reason


def test_unknown_sites_beyond_a_score_get_no_suggestion():
    items = read([report_document(site_id=f"prague-00{number}", report_id=str(number)) for number in range(100, 130)])
    assert sum("did you mean" in item.error.reason for item in items) == 20


@pytest.mark.parametrize(
    ("minutes", "is_taken"), [(10, True), (10.1, False), (-72 * 60, True), (-72 * 60 - 0.1, False), (-(10**8), False)]
)
def test_a_report_may_be_ten_minutes_ahead_and_three_days_old(minutes, is_taken):
    (item,) = read(report_document(valid_at=(NOW + timedelta(minutes=minutes)).isoformat(), staff=...))
    assert isinstance(item, AcceptedItem) is is_taken
    if not is_taken:
        assert type(item.error) is TimeImplausible
        bound = "at most 10 minutes ahead of" if minutes > 0 else "at most 72 hours before"
        assert bound in item.error.reason
        assert item.error.field == "valid_at"


def test_one_bad_report_never_spoils_the_others():
    reports = [report_document(report_id=str(number)) for number in range(5)]
    reports[1] = report_document(report_id="1", doses_given=-1)
    reports[3] = 17
    items = read(reports)
    assert [item.position for item in items] == [0, 1, 2, 3, 4]
    assert [isinstance(item, AcceptedItem) for item in items] == [True, False, True, False, True]
    assert (items[1].site_id, items[1].error.field) == ("prague-001", "doses_given")
    assert (items[3].site_id, str(items[3].error)) == (None, "report: must be an object, got 17")


def test_a_report_that_stands_twice_in_a_body_counts_once():
    again = report_document(doses_given=99)
    items = read([report_document(), report_document(report_id="second"), again])
    assert [isinstance(item, AcceptedItem) for item in items] == [True, True, False]
    assert type(items[2].error) is ReportRepeated
    assert "position 0" in items[2].error.reason


def test_reports_of_a_list_keep_the_bytes_they_came_with():
    pieces = [
        b'{"site_id" : "prague-001",  "valid_at":"2026-05-04T08:00:00Z", "doses_given":1, "doses_given":2}',
        b'{"site_id":"prague-001", "valid_at": "2026-05-04T07:55:00Z", "walk_in_share": 1.00e-1}',
    ]
    items = read(b" [ " + b" ,\n".join(pieces) + b" ] ")
    assert [item.raw for item in items] == pieces


def test_the_same_name_at_two_sites_is_two_reports():
    other = report_document(site_id="prague-002", fridges=..., lots=...)
    assert all(isinstance(item, AcceptedItem) for item in read([report_document(), other]))


def test_without_a_name_the_content_names_the_report():
    document = report_document(report_id=...)
    reordered = dict(reversed(document.items())) | {"schema_version": 1}
    different = document | {"doses_given": 13}
    first, same, other = (read(one)[0].received.report for one in (document, reordered, different))
    assert first.report_id == same.report_id != other.report_id
    assert first.report_id.startswith(f"{first.valid_at:%Y%m%dT%H%M}")
    items = read([document, reordered])
    assert type(items[1].error) is ReportRepeated


def whole_refusal(body: bytes, **params):
    """The error of a body that cannot be read at all, and what was put in quarantine."""
    kept = []
    with pytest.raises(ReportRefused) as caught:
        read_body(body, CITY, NOW, IntakeParams(**params), kept.extend)
    return caught.value, kept


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "must be JSON, got nothing"),
        (b" \n ", "must be JSON, got nothing"),
        (b'{"site_id": "prague-001"', "must be JSON, broken at byte 24"),
        ('[{"site_id": "é", x}]'.encode(), "must be JSON, broken at byte 19"),
        (b'{"site_id": "\xff"}', "must be UTF-8, broken at byte 13 (0xff)"),
        (b'{"site_id": "\\ud800"}', "must be JSON"),
        (b"[" * 5000, "must be JSON"),
        (b"[]", "must hold at least 1 report, got an empty list"),
        (b"3", "must be a report or a list of reports, got 3"),
        (b'"report"', 'must be a report or a list of reports, got "report"'),
        (b"null", "must be a report or a list of reports, got null"),
        (b"<html>", "must be JSON, broken at byte 0"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_whole_and_kept(body, reason):
    error, (kept,) = whole_refusal(body)
    assert type(error) is ReportMalformed
    assert error.field == "body"
    assert error.reason.startswith(reason)
    assert (kept.field, kept.reason, kept.raw, kept.num_bytes) == ("body", error.reason, body, len(body))
    assert (kept.received_at, kept.site_id, kept.quarantine_id) == (NOW, None, None)


def test_a_body_over_the_limit_is_refused_and_its_beginning_kept():
    body = b" " * 5000 + json.dumps(report_document()).encode()
    limits = {"max_body_bytes": 4096, "max_report_bytes": 2048, "max_quarantine_bytes": 100}
    error, (kept,) = whole_refusal(body, **limits)
    assert type(error) is ReportTooLarge
    assert error.reason == f"must have at most 4096 bytes, got {len(body)}"
    assert (kept.raw, kept.num_bytes) == (b" " * 100, len(body))


def test_too_many_reports_are_refused_whole():
    for body in (orjson.dumps([report_document()] * 4), b"[1,2,3,4]"):
        error, _ = whole_refusal(body, max_reports=3)
        assert type(error) is ReportTooLarge
        assert error.reason == "must hold at most 3 reports, got 4"


def test_a_report_that_only_looks_like_many_is_one():
    error = refusal([report_document(lots=[{"site_id": "prague-001"}] * 9)], max_reports=3)
    assert error.field == "lots.0.lot_number"


def test_one_report_over_the_limit_does_not_spoil_the_others():
    large = report_document(report_id="large", surroundings={"padding": "x" * 5000})
    for reports in ([report_document(), large], [large, report_document()], [large]):
        for item in read(reports, max_report_bytes=4096):
            is_large = len(item.raw) > 4096
            assert isinstance(item, RefusedItem) is is_large
            if is_large:
                assert type(item.error) is ReportTooLarge
                assert item.site_id == "prague-001"


@pytest.mark.parametrize("depth", [190, 300, 900])
def test_a_report_nested_absurdly_deep_does_not_spoil_the_others(depth):
    deep = report_document(report_id="deep", padding=[])
    for _ in range(depth):
        deep["padding"] = [deep["padding"]]
    assert type(refusal(deep)) is ReportMalformed
    items = read([report_document(), deep, report_document(report_id="last")])
    assert [isinstance(item, AcceptedItem) for item in items] == [True, False, True]
    assert type(items[1].error) is ReportMalformed


def test_a_byte_order_mark_is_ignored():
    (item,) = read(b"\xef\xbb\xbf" + json.dumps(report_document()).encode())
    assert isinstance(item, AcceptedItem)


# However a body is written, it means the same reports.
keys_first = st.sampled_from(["site_id", "valid_at", "staff", "lots"])
separators = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n\t", " : ")])
edges = st.sampled_from(["", " ", "\r\n" * 40])


@settings(max_examples=60)
@given(st.lists(keys_first, min_size=1, max_size=4), separators, edges, st.booleans())
def test_the_bytes_of_a_list_may_be_written_in_any_way(first_keys, separator, edge, has_tricky_text):
    reports = []
    for number, key in enumerate(first_keys):
        document = report_document(report_id=f'}},{{"site_id":{number}' if has_tricky_text else str(number))
        reports.append({key: document.pop(key)} | document)
    items = read((edge + json.dumps(reports, separators=separator) + edge).encode())
    assert [item.received.report.report_id for item in items] == [one["report_id"] for one in reports]
    assert [json.loads(item.raw) for item in items] == reports


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["site_id", "role", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = [
    "site_id",
    "valid_at",
    "waiting_people",
    "booked_people",
    "staff",
    "lots",
    "fridges",
    "surroundings",
    "no_show",
    "x",
]


@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from(FIELDS), json_values, max_size=4))
def test_whatever_stands_in_a_report_it_is_accepted_or_refused_with_a_field_and_a_reason(junk):
    for item in read([report_document(**junk), report_document(report_id="good")])[:1]:
        if isinstance(item, RefusedItem):
            assert item.error.field
            assert item.error.reason
            assert len(str(item.error)) < 400


@settings(max_examples=100)
@given(st.binary(max_size=60) | st.text('[]{}",: \\site_id01é', max_size=60).map(str.encode))
def test_no_bytes_whatever_raise_anything_but_a_refusal(body):
    kept = []
    try:
        items = read_body(body, CITY, NOW, IntakeParams(), kept.extend)
    except ReportRefused as error:
        items, field = [], error.field
    else:
        field = None
    assert (field == "body") is not bool(items)
    assert [one.raw for one in kept] == ([] if items else [body])
