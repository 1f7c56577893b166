"""A duty officer supposes something, sees both futures, and makes it real."""

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
SIMULATED = 60_000


def serious_findings(page) -> list[str]:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("tags => axe.run(document, { runOnly: { type: 'tag', values: tags } })", WCAG_TAGS)
    bad = [one for one in found["violations"] if one["impact"] in {"serious", "critical"}]
    return [f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}" for one in bad for node in one["nodes"]]


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_closed_site_is_supposed_seen_and_suspended(stage, open_page, locale, size):
    stage.play(15)
    watched = open_page(path="/room/what-if", ready='.line-pill[data-line="live"]', locale=locale, **size)
    page = watched.page
    site = stage.city.city.sites[2]
    page.locator(".what-if form select").nth(1).select_option(site.site_id)
    page.locator('.what-if form button[type="submit"]').click()
    page.wait_for_selector(".what-if .chart canvas", timeout=SIMULATED)
    assert site.name in page.locator("main").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert serious_findings(page) == []
    if os.environ.get("DOSEFLOW_PICTURES") and size is DESKTOP:
        page.screenshot(path=IMAGES / f"what-if-{locale[:2]}.png", full_page=True)
    # The row of the closed site: no dose is given with the change.
    row = page.locator("tr", has_text=site.name).locator("td")
    assert row.nth(1).inner_text().startswith("0")
    assert stage.opened.live.plans.commitments(stage.clock.now()).suspended_site_ids == frozenset()
    page.locator(".what-if input:not([type=number])").fill("a burst pipe")
    page.locator(".what-if button").last.click()
    expect(page.locator(".intents p")).to_have_count(0)
    stage.play()
    assert site.site_id in stage.opened.live.latest.state.commitments.suspended_site_ids
    assert watched.complaints == []
