"""What a duty officer sees and does in the command room, in a real browser."""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

# One group: all of them share one browser, in one worker.
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

REPOSITORY = Path(__file__).parents[2]
IMAGES = REPOSITORY / "docs" / "images"
AXE = REPOSITORY / "tests" / "e2e" / "axe" / "axe.min.js"
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
MOST_BYTES_OF_FIRST_LOAD = 1_500_000
WCAG_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
STAGE_WORDS = ("登记", "健康询问", "候种", "接种", "留观", "预约", "取号")


@pytest.fixture
def open_room(stage, open_page):
    """The room instead of the dashboard, in a browser of its own."""

    def open_room(path: str = "/room/", **options):
        return open_page(path=path, ready='.line-pill[data-line="live"]', **options)

    return open_room


def tell(figure: str) -> None:
    """A figure for whoever runs the tests with -s; what it must be depends on the machine."""
    sys.stdout.write(f"{figure}\n")


def wait_for_rows(page: Page) -> None:
    page.wait_for_selector("table.sites tbody tr")


def serious_findings(page: Page) -> list[str]:
    # Through the protocol and not as a script of the page, which its policy would refuse.
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("tags => axe.run(document, { runOnly: { type: 'tag', values: tags } })", WCAG_TAGS)
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}"
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_map_and_list_have_no_serious_barrier_and_fit_the_screen(stage, open_room, locale, size):
    stage.play_until_orders()
    watched = open_room(locale=locale, **size)
    page = watched.page
    wait_for_rows(page)
    page.wait_for_selector(".chart canvas")
    assert page.locator("table.sites tbody tr").count() == stage.city.city.num_sites
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert serious_findings(page) == []
    assert watched.complaints == []


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_site_page_has_no_serious_barrier_and_says_the_site_in_full(stage, open_room, locale, size):
    for _ in range(6):
        stage.play()
    site = stage.city.city.sites[1]
    watched = open_room(f"/room/sites/{site.site_id}", locale=locale, **size)
    page = watched.page
    page.wait_for_selector(".fridge .chart canvas")
    text = page.locator("main").inner_text()
    assert site.name in text
    lots = stage.opened.live.latest.state.lots
    own = [lots.lot_number[row] for row in (lots.site_idx == 1).nonzero()[0]]
    assert own
    assert [lot for lot in own if lot not in text] == []
    if locale == "zh-CN":
        assert [word for word in STAGE_WORDS if word not in text] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert serious_findings(page) == []
    assert watched.complaints == []


def test_the_dark_colours_have_no_serious_barrier(stage, open_room):
    stage.play_until_orders()
    page = open_room(color_scheme="dark").page
    wait_for_rows(page)
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(13, 18, 24)"
    assert serious_findings(page) == []
    page.locator(".tools select").select_option("light")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(238, 241, 244)"
    page.reload()
    wait_for_rows(page)
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(238, 241, 244)"


def test_the_first_load_is_small_and_comes_from_nowhere_else(stage, open_page):
    stage.play()
    sizes: dict[str, int] = {}
    watched = open_page(
        path="/room/", ready="table.sites tbody tr", on_answer=lambda url, size: sizes.update({url: size})
    )
    watched.page.wait_for_selector(".chart canvas")
    watched.page.wait_for_timeout(300)
    pages = {url: size for url, size in sizes.items() if urlsplit(url).path.startswith("/room")}
    assert {urlsplit(url).netloc for url in watched.requested} == {urlsplit(stage.url).netloc}
    assert any(url.endswith("charts.js") for url in pages)
    tell(
        f"\nfirst load: {sum(pages.values())} bytes in {len(pages)} files, of them before the charts: "
        f"{sum(size for url, size in pages.items() if 'chart' not in url)}"
    )
    assert 50_000 < sum(pages.values()) <= MOST_BYTES_OF_FIRST_LOAD


def test_a_cycle_reaches_the_screen_by_itself(stage, open_room):
    stage.play()
    page = open_room().page
    wait_for_rows(page)
    page.evaluate("window.wasNeverReloaded = true")
    lags = []
    for _ in range(5):
        stage.play()
        done = time.perf_counter()
        local_time = f"{stage.city.now_local:%H:%M}"
        page.wait_for_function("time => document.querySelector('.clock strong').innerText === time", arg=local_time)
        lags.append(time.perf_counter() - done)
    tell(f"\nfrom the cycle's end to the screen: {sorted(round(1000 * lag) for lag in lags)} ms")
    assert page.evaluate("window.wasNeverReloaded")
    assert sorted(lags)[2] < 5  # a stall, not a measure: the figure is printed


def test_the_language_changes_on_the_spot_with_numbers_and_plurals_and_is_kept(stage, open_room):
    stage.play()
    page = open_room().page
    wait_for_rows(page)
    page.evaluate("window.wasNeverReloaded = true")
    assert "Sites by trouble" in page.locator("main").inner_text()
    page.get_by_title("显示中文").click()
    assert "接种点（按问题排序）" in page.locator("main").inner_text()
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    assert page.evaluate("window.wasNeverReloaded")
    page.reload()
    wait_for_rows(page)
    assert "接种点（按问题排序）" in page.locator("main").inner_text()


def test_a_lost_line_says_since_when_and_of_when_the_figures_are_and_heals(stage, open_room):
    stage.play()
    page = open_room().page
    wait_for_rows(page)
    as_of = f"{stage.city.now_local:%H:%M}"
    stage.close_doors()
    page.wait_for_selector('.room[data-line="lost"]')
    banner = page.locator(".room > .banner")
    assert as_of in banner.inner_text()
    assert "No connection since" in banner.inner_text()
    assert "grayscale" in page.evaluate("getComputedStyle(document.querySelector('main')).filter")
    assert page.locator("table.sites tbody tr").count() == stage.city.city.num_sites
    stage.open_doors()
    page.wait_for_selector('.room[data-line="live"]')
    expect(banner).to_be_hidden()
    stage.play()
    expect(page.locator(".clock strong")).to_have_text(f"{stage.city.now_local:%H:%M}")


def test_sites_that_fall_silent_look_old_and_say_how_old(stage, open_room):
    stage.play()
    page = open_room().page
    wait_for_rows(page)
    assert page.locator("table.sites tr.old").count() == 0
    stage.clock.set(stage.clock.now() + timedelta(minutes=20))
    stage.opened.live.run_cycle()
    row = page.locator("table.sites tr.old").first
    row.wait_for()
    assert "20 min" in row.locator(".age").inner_text()


def test_a_past_moment_is_shown_as_past_and_now_comes_back(stage, open_room):
    first = stage.play()
    first_time = f"{stage.city.now_local:%H:%M}"
    for _ in range(5):
        stage.play()
    page = open_room().page
    wait_for_rows(page)
    slider = page.locator(".time-slider input")
    slider.wait_for()
    slider.focus()
    page.keyboard.press("Home")
    page.locator(".banner.past").wait_for()
    assert first_time in page.locator(".banner.past").inner_text()
    waiting = first.state.waiting_people[1, :3].sum()
    row = page.locator(f'tr[data-site="{stage.city.city.sites[1].site_id}"] td').nth(1)
    expect(row).to_have_text(f"{waiting:.0f}")
    page.get_by_role("button", name="Back to now").click()
    expect(page.locator(".banner.past")).to_have_count(0)


def test_everything_is_reached_by_keys_alone(stage, open_room):
    stage.play()
    page = open_room().page
    wait_for_rows(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.locator("table.sites a").first.focus()
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    page.wait_for_selector(".site-head h1")
    assert page.evaluate("document.activeElement.id") == "main"
    page.go_back()
    wait_for_rows(page)


def test_a_name_that_is_markup_is_shown_as_text(stage, open_room):
    stage.play()
    watched = open_room()
    page = watched.page
    page.locator('input[type="search"]').fill("onerror")
    page.locator("table.sites a").click()
    page.wait_for_selector(".site-head h1")
    assert "<img src=x" in page.locator("h1").inner_text()
    assert "broken" not in page.title()
    assert watched.complaints == []


def test_a_site_that_is_not_there_is_said_in_words(stage, open_room):
    stage.play()
    page = open_room("/room/sites/nowhere").page
    page.wait_for_selector(".problem")
    assert page.locator(".problem").first.inner_text() == "This city has no such site."


@pytest.mark.skipif(not os.environ.get("DOSEFLOW_PICTURES"), reason="pictures are drawn anew with DOSEFLOW_PICTURES=1")
@pytest.mark.parametrize("stage", ["large"], indirect=True)
@pytest.mark.parametrize(("locale", "size"), [("en-GB", DESKTOP), ("zh-CN", DESKTOP), ("zh-CN", PHONE)])
def test_the_pictures_of_the_documents_are_drawn(stage, open_room, locale, size):
    for _ in range(14):
        stage.play()
    page = open_room(locale=locale, device_scale_factor=1, **size).page
    wait_for_rows(page)
    page.wait_for_selector(".chart canvas")
    name = f"{locale[:2]}-{'phone' if size is PHONE else 'desktop'}.png"
    page.wait_for_timeout(500)  # the ground is drawn anew once the view is at rest
    page.screenshot(path=IMAGES / f"room-now-{name}", full_page=size is DESKTOP)
    page.locator("table.sites a").first.click()
    page.wait_for_selector(".fridge .chart canvas")
    page.wait_for_timeout(500)
    page.screenshot(path=IMAGES / f"room-site-{name}", full_page=size is DESKTOP)


FRAMES_SCRIPT = """async milliseconds => {
  const canvas = document.querySelector('.map-panel canvas');
  const box = canvas.getBoundingClientRect();
  const at = (x, y) => ({ clientX: box.x + x, clientY: box.y + y, pointerId: 1, bubbles: true });
  canvas.setPointerCapture = () => {};
  canvas.dispatchEvent(new PointerEvent('pointerdown', at(200, 150)));
  const times = [];
  const began = performance.now();
  await new Promise((resolve) => {
    function frame(now) {
      times.push(now);
      const step = times.length;
      const moved = at(200 + 60 * Math.sin(step / 9), 150 + 40 * Math.cos(step / 7));
      canvas.dispatchEvent(new PointerEvent('pointermove', moved));
      if (now - began < milliseconds) requestAnimationFrame(frame); else resolve();
    }
    requestAnimationFrame(frame);
  });
  canvas.dispatchEvent(new PointerEvent('pointerup', at(200, 150)));
  const gaps = times.slice(1).map((time, idx) => time - times[idx]).sort((a, b) => a - b);
  return { frames: times.length, p50: gaps[Math.floor(gaps.length / 2)], p95: gaps[Math.floor(0.95 * gaps.length)] };
}"""


@pytest.mark.parametrize("num_sites", [200, 2000])
def test_the_map_keeps_drawing_while_it_is_dragged(num_sites, stage, open_room):
    """Frames of two seconds of dragging are printed; that it draws at all is what is asserted."""
    stage.play()
    page = open_room(route={"**/api/v1/sites": lambda body: multiplied(body, num_sites)}).page
    wait_for_rows(page)
    outcome = page.evaluate(FRAMES_SCRIPT, 2000)
    tell(f"\n{num_sites} sites dragged for 2 s: {outcome}")
    assert outcome["frames"] > 10


def multiplied(body: bytes, num_sites: int) -> bytes:
    """The same city with as many sites as are asked for, strewn over its ground."""
    city = json.loads(body)
    own = city["sites"]
    city["sites"] = [
        own[idx % len(own)]
        | {
            "site_id": f"site-{idx}",
            "latitude": 50 + ((idx * 0.6180339887) % 1),
            "longitude": 14 + 1.5 * ((idx * 0.7548776662) % 1),
            "district": f"district {idx % 12}",
        }
        for idx in range(num_sites)
    ]
    return json.dumps(city).encode()
