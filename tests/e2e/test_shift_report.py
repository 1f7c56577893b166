"""An officer reads the shift, prints it, and hands it over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

REPOSITORY = Path(__file__).parents[2]
IMAGES = REPOSITORY / "docs" / "images"
AXE = REPOSITORY / "tests" / "e2e" / "axe" / "axe.min.js"
WCAG_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


def serious_findings(page) -> list[str]:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("tags => axe.run(document, { runOnly: { type: 'tag', values: tags } })", WCAG_TAGS)
    bad = [one for one in found["violations"] if one["impact"] in {"serious", "critical"}]
    return [f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}" for one in bad for node in one["nodes"]]


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_shift_is_read_handed_over_and_printed(stage, open_page, locale, size):
    stage.play(9)
    watched = open_page(path="/room/shift", ready='.line-pill[data-line="live"]', locale=locale, **size)
    page = watched.page
    page.wait_for_selector(".shift table")
    page.fill("input[name=from]", "林")
    page.fill("input[name=to]", "王")
    page.fill("input[name=note]", "冰箱二 <b>偏热</b>")
    page.locator('.shift button[type="submit"]').click()
    expect(page.locator(".shift li", has_text="冰箱二 <b>偏热</b>")).to_have_count(1)
    page.locator(".shift li button").click()
    expect(page.locator(".shift li button")).to_have_count(0)
    assert [one.confirmed_by is not None for one in stage.opened.live.desk.handovers(10)] == [True]
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert serious_findings(page) == []
    assert watched.complaints == []
    if os.environ.get("DOSEFLOW_PICTURES") and size is DESKTOP:
        page.screenshot(path=IMAGES / f"shift-{locale[:2]}.png", full_page=True)
    page.locator(".shift a").first.click()
    page.wait_for_selector("h1")
    assert "冰箱二" in page.inner_text("main")
    assert serious_findings(page) == []
