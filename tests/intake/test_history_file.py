"""A history file becomes a grid on which unknown is unknown, or is refused in one sentence."""

import gzip
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from history_samples import file_of, regular_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.errors import HistoryWrong
from doseflow.intake.history_file import read_history
from doseflow.intake.timestamp_form import read_timestamp


def test_gaps_and_empty_values_are_unknown_and_zeros_are_zero():
    rows = regular_rows(num_rows=12)
    rows[0] = "a,2024-03-01T00:00:00,0"
    rows[5] = "a,2024-03-01T05:00:00,"
    del rows[3]
    history = read_history(file_of(rows))
    values = history.table.values[0]
    assert values[0] == 0
    assert np.flatnonzero(np.isnan(values)).tolist() == [3, 5]
    assert (history.num_gaps, history.num_rows, history.table.step_minutes) == (1, 11, 60)


@pytest.mark.parametrize("step_minutes", [5, 10, 15, 60, 120, 1440, 10080])
def test_the_step_is_the_commonest_gap(step_minutes):
    rows = regular_rows(num_rows=40, step_minutes=step_minutes)
    del rows[7:9], rows[20]
    assert read_history(file_of(rows)).table.step_minutes == step_minutes


@settings(max_examples=40, deadline=None)
@given(
    step=st.integers(1, 3000),
    kept=st.lists(st.booleans(), min_size=30, max_size=60),
    seed=st.integers(0, 2**16),
)
def test_any_regular_table_comes_back_value_by_value_whatever_the_order_of_rows(step, kept, seed):
    rows = regular_rows(num_rows=len(kept) + 20, step_minutes=step)
    chosen = [row for row, keep in zip(rows[20:], kept, strict=True) if keep]
    told = rows[:20] + chosen
    np.random.default_rng(seed).shuffle(told)
    history = read_history(file_of(told))
    expected = {row.split(",")[1]: float(row.split(",")[2]) for row in told}
    table = history.table
    found = {
        history.forms[0].write(table.at(idx)): value for idx, value in enumerate(table.values[0]) if np.isfinite(value)
    }
    assert found == expected


def test_new_series_begin_late_and_old_ones_end_early():
    rows = regular_rows("old", 10) + regular_rows("new", 5, starts_at="2024-03-01T20:00:00")
    history = read_history(file_of(rows))
    assert history.last_step_idx.tolist() == [9, 24]
    assert history.num_gaps == 0
    assert np.isnan(history.table.values[1, :20]).all()


def test_an_empty_value_at_the_end_is_still_the_last_timestamp():
    history = read_history(file_of([*regular_rows(num_rows=10), "a,2024-03-01T10:00:00,"]))
    assert history.last_step_idx.tolist() == [10]


def test_columns_may_stand_in_any_order_with_places_and_covariates_gzipped_and_with_a_byte_order_mark():
    rows = [f"{idx},3.5,2024-03-0{idx + 1},50.1,14.4,a b" for idx in range(9)]
    data = file_of(rows, "value,rain,timestamp,latitude,longitude,series_id")
    table = read_history(gzip.compress(b"\xef\xbb\xbf" + data), is_gzip=True).table
    assert table.series_ids == ("a b",)
    assert (table.latitude[0], table.longitude[0]) == (50.1, 14.4)
    assert (table.covariates["rain"] == 3.5).all()
    assert table.step_minutes == 1440


@pytest.mark.parametrize(
    "text",
    [
        "2024-02-29",
        "2024-02-29T13:05",
        "2024-02-29 13:05:07",
        "2024-02-29T13:05:07.250",
        "2024-02-29T13:05:00Z",
        "2024-02-29T13:05:00+05:30",
        "2024-02-29T13:05-0400",
        "2024-02-29 13:05:00+01",
    ],
)
def test_a_timestamp_is_written_in_the_form_it_came_in(text):
    moment, form = read_timestamp(text)
    assert form.write(moment) == text
    assert moment.tzinfo == UTC


def test_an_offset_is_minutes_east_of_greenwich():
    assert read_timestamp("2024-02-29T13:05:00+05:30")[0] == datetime(2024, 2, 29, 7, 35, tzinfo=UTC)


def test_hours_across_a_clock_change_are_one_hour_apart_with_their_offsets():
    rows = [f"a,2024-03-31T0{hour}:00:00+01:00,1" for hour in (0, 1)]
    rows += [f"a,2024-03-31T{hour:02d}:00:00+02:00,1" for hour in range(3, 12)]
    history = read_history(file_of(rows))
    assert (history.table.step_minutes, history.num_gaps) == (60, 0)
    assert history.forms[0].write(history.table.at(11)) == "2024-03-31T12:00:00+02:00"


def test_local_days_across_a_clock_change_are_one_day_apart():
    rows = [f"a,2024-03-{day}T00:00:00+01:00,1" for day in range(25, 32)]
    rows += [f"a,2024-04-0{day}T00:00:00+02:00,1" for day in range(1, 6)]
    history = read_history(file_of(rows))
    assert (history.table.step_minutes, history.num_gaps) == (1440, 0)
    assert history.forms[0].write(history.table.at(12)) == "2024-04-06T00:00:00+02:00"


def test_each_series_goes_on_by_its_own_clock():
    ended = [f"ended,2024-03-{day}T00:00+01:00,1" for day in range(20, 29)]
    running = [f"on,2024-03-{day}T00:00+01:00,1" for day in range(20, 32)]
    running += [f"on,2024-04-0{day}T00:00+02:00,1" for day in range(1, 6)]
    london = [f"london,2024-03-{day}T00:00+00:00,1" for day in range(20, 32)]
    history = read_history(file_of(ended + running + london))
    assert (history.table.step_minutes, history.num_gaps) == (1440, 0)
    assert [history.written(idx, 1) for idx in range(3)] == [
        "2024-03-29T00:00+01:00",
        "2024-04-06T00:00+02:00",
        "2024-04-01T00:00+00:00",
    ]


@pytest.mark.parametrize("other", ["T02:00+02:00", "T00:00+00:00"])
def test_days_that_are_a_day_apart_as_moments_are_so_whatever_their_offsets(other):
    rows = [f"a,2024-01-{day:02d}{'T00:00Z' if day % 2 else other},1" for day in range(1, 21)]
    history = read_history(file_of(rows))
    assert (history.table.step_minutes, history.num_gaps) == (1440, 0)
    assert history.written(0, 1) == f"2024-01-21{other}"


def test_days_run_over_the_end_of_a_month_and_a_leap_day():
    history = read_history(file_of([f"a,2024-02-{day},1" for day in range(18, 29)]))
    assert [history.forms[0].write(history.table.at(idx)) for idx in (11, 12)] == ["2024-02-29", "2024-03-01"]


GOOD = regular_rows(num_rows=10)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"\n \n", "the file is empty"),
        (file_of([]), "no rows"),
        (file_of(GOOD, "series_id,timestamp,count"), "line 1: the column value is missing"),
        (file_of(GOOD, "series_id;timestamp;value"), "line 1: the column series_id is missing"),
        (file_of([f"{row},1" for row in GOOD], "series_id,timestamp,value,value"), "value is there twice"),
        (file_of([f"{row},1" for row in GOOD], "series_id,timestamp,value,"), "a column has no name"),
        (file_of([f"{row},1" for row in GOOD], "series_id,timestamp,value,latitude"), "latitude is given without"),
        (file_of([*GOOD, "a,2024-03-01T03:00:00,4"]), "line 12: series a has timestamp 2024-03-01T03:00:00 already"),
        (file_of([*GOOD, "a,2024-03-01T10:00:00,many"]), "line 12: value must be a number or empty, got 'many'"),
        (file_of([*GOOD, "a,2024-03-01T10:00:00,1_0"]), "line 12: value must be a number"),
        (file_of([*GOOD, "a,2024-03-01T10:00:00,inf"]), "line 12: value must be finite"),
        (file_of([*GOOD, "a,2024-03-01T10:00:00,NaN"]), "line 12: value must be finite"),
        (file_of([*GOOD, "a,2024-03-01T10:00:00,1e13"]), "line 12: value must lie in"),
        (file_of([*GOOD, "a,2024-03-01T10:00:00"]), "line 12: must have 3 fields as the header, got 2"),
        (file_of([*GOOD, ",2024-03-01T10:00:00,1"]), "line 12: series_id must have 1 to 200 characters"),
        (file_of([*GOOD, "a,01/03/2024 10:00,1"]), "line 12: timestamp must be an ISO 8601"),
        (file_of([*GOOD, "a,2024-02-30T10:00:00,1"]), "line 12: timestamp is no moment"),
        (file_of([*GOOD, "a,2024-03-01T10:17:00,1"]), "line 12: series a, timestamp 2024-03-01T10:17:00 is not on"),
        (file_of(["b,2024-03-01T00:30:00,1", *GOOD]), "series b, timestamp 2024-03-01T00:30:00 is not on"),
        (file_of([*GOOD, "a,2024-03-01T10:00:00Z,1"]), "line 12: timestamps must all have a zone or none"),
        (file_of(regular_rows(num_rows=1)), "some series must have at least 2 timestamps"),
        (file_of(regular_rows(num_rows=5)), "at least 8, the longest has 5"),
        (file_of([*GOOD, "b,2024-03-01T00:00:00,"]), "series b has no known value"),
        (file_of([f"a,2024-{month:02d}-01,1" for month in range(1, 13)]), "calendar months are no regular step"),
        (file_of([f"a,2024-03-01T00:00:{second:02d},1" for second in range(20)]), "whole number of minutes"),
        (
            file_of([*GOOD, "a,0024-03-01T00:00:00,1", *(row for name in "bcd" for row in regular_rows(name))]),
            "more than 40,000,000 values",
        ),
        (b"series_id,timestamp,value\na,2024-03-01,\xff\n", "line 2: must be UTF-8"),
        (gzip.compress(file_of(GOOD), mtime=0)[:-12], "broken gzip"),
    ],
)
def test_what_cannot_be_taken_is_refused_in_one_sentence(data, words):
    with pytest.raises(HistoryWrong) as refused:
        read_history(data)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_plain_file_named_gz_is_refused():
    with pytest.raises(HistoryWrong, match="not gzip"):
        read_history(file_of(GOOD), is_gzip=True)


def test_a_place_must_not_move():
    rows = [f"a,2024-03-{day:02d},1,50.1,{14 + (day == 9)}" for day in range(1, 10)]
    with pytest.raises(HistoryWrong, match="line 10: longitude of series a must stay"):
        read_history(file_of(rows, "series_id,timestamp,value,latitude,longitude"))


def test_a_latitude_lies_within_the_globe():
    with pytest.raises(HistoryWrong, match=r"line 2: latitude must lie in -90..90"):
        read_history(file_of(["a,2024-03-01,1,91,14"], "series_id,timestamp,value,latitude,longitude"))


def test_reading_tells_how_far_it_is():
    told = []
    first = datetime(2000, 1, 1)
    rows = [f"a,{first + timedelta(minutes=idx)},1" for idx in range(60_000)]
    read_history(file_of(rows), advance=told.append)
    assert told == [50_000]
