"""A shift's summary tells what is kept, in both languages and in every shape."""

from __future__ import annotations

from datetime import timedelta

import pytest

from doseflow.domain.commanding import Press


@pytest.fixture
def shift(played, client):
    began = played.live.clock.now()
    for _ in range(4):
        cycle = played.play()
    site = played.city.city.sites[0]
    press = Press("lin", played.live.clock.now(), client_key="k1")
    played.live.desk.hand_over("lin", "wang", "fridge <2> is warm", press)
    ended = played.live.clock.now() + timedelta(minutes=1)
    return client, cycle, site, {"from": began.isoformat(), "to": ended.isoformat()}


def test_a_shift_tells_its_handover_and_its_orders(shift, played):
    client, _, _, when = shift
    told = client.get("/api/v1/summaries/shift", params=when).json()
    assert [one["note"] for one in told["handovers"]] == ["fridge <2> is warm"]
    assert sum(told["orders_by_state"].values()) == len(played.live.plans.orders(limit=10_000))
    assert told["num_moments"] == 2
    assert told["deeds_by_action"].get("handover.give") == 1


def test_a_page_shows_what_people_wrote_and_does_not_run_it(shift):
    client, _, _, when = shift
    page = client.get("/api/v1/summaries/shift", params={**when, "shape": "html", "language": "zh"}).text
    assert "fridge &lt;2&gt; is warm" in page
    assert 'lang="zh-CN"' in page
    assert "交接班" in page


def test_a_pdf_is_one_and_names_a_chinese_font(shift):
    pytest.importorskip("reportlab")
    client, _, _, when = shift
    pdf = client.get("/api/v1/summaries/shift", params={**when, "shape": "pdf", "language": "zh"})
    assert pdf.headers["content-type"] == "application/pdf"
    assert pdf.content.startswith(b"%PDF-")
    assert b"STSong-Light" in pdf.content


def test_a_shift_that_ends_before_it_begins_is_refused(shift):
    client, _, _, when = shift
    assert client.get("/api/v1/summaries/shift", params={"from": when["to"], "to": when["from"]}).status_code == 422
    assert client.get("/api/v1/summaries/shift", params={"from": when["from"], "to": "soon"}).status_code == 422


def test_a_day_holds_its_shifts(shift, played):
    client, _, _, when = shift
    day = client.get("/api/v1/summaries/day", params={"on": f"{played.city.now_local:%Y-%m-%d}"}).json()
    assert day["num_moments"] == client.get("/api/v1/summaries/shift", params=when).json()["num_moments"]
