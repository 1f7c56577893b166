from dataclasses import replace

import numpy as np
import orjson
import pytest
from intake_samples import NOW, changed, city_document, make_city, report_document

from doseflow.domain.orders import Commitments
from doseflow.domain.recent_periods import RecentPeriods
from doseflow.domain.report import ReceivedReport
from doseflow.errors import SnapshotWrong
from doseflow.intake.body import read_body
from doseflow.intake.city_file import city_to_json
from doseflow.intake.params import IntakeParams
from doseflow.intake.snapshot_file import Snapshot, read_snapshot, write_snapshot


def snapshot_document(**changes):
    document = {
        "city": city_document(),
        "as_of": "2026-05-04T08:00:20Z",
        "reports": [report_document()],
        "frozen_site_ids": ["prague-002"],
        "suspended_site_ids": [],
        "arrivals_past_weeks_people": {"prague-001": [[5.0] * 24, [None] * 12 + [6.5] * 12]},
    }
    return document | changes


def test_a_snapshot_is_read_whole():
    snapshot = read_snapshot(orjson.dumps(snapshot_document()))
    assert snapshot.as_of == NOW
    (item,) = read_body(orjson.dumps(report_document()), make_city(), NOW, IntakeParams(), list)
    assert snapshot.reports == [item.received]
    assert snapshot.commitments == Commitments(frozen_site_ids=frozenset({"prague-002"}))
    past = snapshot.arrivals_past_weeks_people
    assert past.shape == (2, 4, 24)
    assert (past[0, 0] == 5).all()
    assert np.isnan(past[0, 1, :12]).all()
    assert np.isnan(past[0, 2:]).all()
    assert np.isnan(past[1]).all()


def test_a_city_and_a_moment_are_enough():
    snapshot = read_snapshot(orjson.dumps({"city": city_document(), "as_of": "2026-05-04T08:00:20Z", "reports": []}))
    assert snapshot.reports == []
    assert np.isnan(snapshot.arrivals_past_weeks_people).all()
    assert all(np.isnan(rows).all() for rows in vars(snapshot.recent).values())


def _recent():
    recent = RecentPeriods.unknown(2)
    recent.arrivals_people[1, 20:] = [3, 0, 4, 1]
    recent.booked_people[1, 5] = 5 / 3
    recent.past_weeks_people[1, 2, 3:] = np.arange(21) / 3
    return recent


def test_what_was_written_is_read_back_the_same():
    city = make_city()
    read = read_body(
        orjson.dumps([report_document(), {"site_id": "prague-002", "valid_at": "2026-05-04T07:55:00Z"}]),
        city,
        NOW,
        IntakeParams(),
        list,
    )
    past = np.full((2, 4, 24), np.nan)
    past[1, 2, 3:] = np.arange(21) / 3
    commitments = Commitments(frozen_site_ids=frozenset({"prague-001"}), suspended_site_ids=frozenset({"prague-002"}))
    snapshot = Snapshot(city, NOW, [item.received for item in read], commitments, past, _recent())
    again = read_snapshot(write_snapshot(snapshot))
    assert (again.as_of, again.reports, again.commitments) == (NOW, snapshot.reports, commitments)
    np.testing.assert_array_equal(again.arrivals_past_weeks_people, past)
    for name, rows in vars(_recent()).items():
        np.testing.assert_array_equal(getattr(again.recent, name), rows, err_msg=name)
    assert city_to_json(again.city) == city_to_json(city)


def test_reports_count_as_received_at_the_moment_of_the_snapshot():
    snapshot = read_snapshot(orjson.dumps(snapshot_document()))
    late = [ReceivedReport(one.report, NOW.replace(hour=7)) for one in snapshot.reports]
    again = read_snapshot(write_snapshot(replace(snapshot, reports=late)))
    assert again.reports == snapshot.reports


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("as_of", ..., "as_of: must be given"),
        ("as_of", "2026-05-04T08:00:20", "as_of: must be a moment with its offset from UTC"),
        ("city", 3, "city: must be an object, got 3"),
        ("city.sites.0.latitude", 100, "city.sites.0.latitude: must be at most 90.0, got 100"),
        ("reports.0.arrivals_people", -1, "reports.0.arrivals_people: must be at least 0, got -1"),
        ("reports.0.site_id", "zzz", "reports.0.site_id: must be one of the 2 sites of Prague"),
        ("reports.0.valid_at", "2026-05-04T09:00:00Z", "reports.0.valid_at: must be at most 10 minutes ahead"),
        ("reports.0.lots.0.product_id", "green", "reports.0.lots.0.product_id: must be one of red, blue"),
        ("frozen_site_ids", ["zzz"], "frozen_site_ids.0: must be a site of the city, got 'zzz'"),
        ("suspended_site_ids", ["zzz"], "suspended_site_ids.0: must be a site of the city, got 'zzz'"),
        ("extra", 1, "extra: is not a field that is known here"),
    ],
)
def test_a_bad_snapshot_is_refused_with_its_path(path, value, sentence):
    with pytest.raises(SnapshotWrong) as caught:
        read_snapshot(orjson.dumps(changed(snapshot_document(), path, value)))
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("past_weeks", "sentence"),
    [
        ({"zzz": []}, ": must be a site of the city, got 'zzz'"),
        ({"prague-001": [[1.0]]}, ".prague-001.0: must have at least 24 items, got 1"),
        ({"prague-001": [[1.0] * 23 + [-1.0]]}, ".prague-001.0.23: must be at least 0"),
        ({"prague-001": [[1.0] * 24] * 5}, ".prague-001: must have at most 4 items, got 5"),
    ],
)
def test_past_weeks_that_do_not_fit_are_refused_with_their_path(past_weeks, sentence):
    with pytest.raises(SnapshotWrong) as caught:
        read_snapshot(orjson.dumps(snapshot_document(arrivals_past_weeks_people=past_weeks)))
    assert str(caught.value).startswith(f"arrivals_past_weeks_people{sentence}")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [(b"{", "snapshot: must be JSON"), (b"", "snapshot: must be JSON"), (b"[]", "snapshot: must be an object")],
)
def test_what_is_not_a_snapshot_at_all_is_refused(data, sentence):
    with pytest.raises(SnapshotWrong, match=sentence):
        read_snapshot(data)
