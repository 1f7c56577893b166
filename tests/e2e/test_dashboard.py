"""What a person sees in a real browser."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from doseflow.serve.aliases import begin
from doseflow.serve.opened_model import PACKAGED_BUNDLES

# One group: all of them share one browser, in one worker.
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


def text_of(page, part: str) -> str:
    return page.locator(f'[data-part="{part}"]').inner_text()


def figure(page, name: str) -> str:
    return page.locator(f'[data-figure="{name}"]').inner_text()


def wait_for_figure(page, name: str, pattern: str) -> None:
    page.wait_for_function(
        "([name, pattern]) => new RegExp(pattern).test(document.querySelector(`[data-figure=${name}]`).innerText)",
        arg=[name, pattern],
    )


def test_sites_orders_and_cycle_appear_by_themselves_when_a_cycle_completes(stage, open_page):
    watched = open_page()
    page = watched.page
    assert page.locator('[data-part="first-wait"]').is_visible()
    page.locator('[data-part="first-wait"]', has_text="12").wait_for()
    page.evaluate("window.wasNeverReloaded = true")

    cycle = stage.play_until_orders()
    wait_for_figure(page, "orders", r"^[1-9]")
    page.wait_for_selector('[data-part="first-wait"]', state="hidden")
    orders = stage.opened.live.open_orders()
    page.wait_for_function(
        "count => document.querySelectorAll('[data-part=order-list] li').length === count", arg=len(orders)
    )
    page.wait_for_selector(f'li[data-order="{orders[0].order_id}"]')
    assert orders[0].reason_en in text_of(page, "order-list")
    assert re.match(r"\d", figure(page, "total"))
    assert figure(page, "planner") == cycle.plan.planner

    stage.play()
    local_time = f"{stage.city.now_local:%H:%M}"
    page.wait_for_function("time => document.querySelector('[data-part=time]').innerText === time", arg=local_time)
    assert page.evaluate("window.wasNeverReloaded")
    assert watched.complaints == []


def test_nothing_is_asked_of_any_other_machine(stage, open_page):
    watched = open_page()
    stage.play()
    wait_for_figure(watched.page, "waiting", r"\d")
    watched.page.goto(f"{stage.url}/docs")
    watched.page.wait_for_selector("details")
    assert watched.page.locator("details").count() >= 15
    assert [url for url in watched.requested if not url.startswith(stage.url)] == []
    assert watched.complaints == []


def test_the_language_changes_on_the_spot_and_is_remembered(stage, open_page):
    stage.play_until_orders()
    page = open_page().page
    wait_for_figure(page, "orders", r"^[1-9]")
    assert page.locator("h2").first.inner_text().startswith("Needs attention")
    page.evaluate("window.wasNeverReloaded = true")
    page.click('[data-part="language"]')
    assert page.locator("h2").first.inner_text().startswith("需要关注")
    assert stage.opened.live.open_orders()[0].reason_zh in text_of(page, "order-list")
    assert "畅通" in figure(page, "bands-legend")
    assert page.evaluate("window.wasNeverReloaded")
    page.reload()
    page.wait_for_selector('[data-part="link"][data-link="live"]')
    assert page.locator("h2").first.inner_text().startswith("需要关注")
    assert page.evaluate("document.documentElement.lang") == "zh-CN"


def test_a_chinese_browser_is_greeted_in_chinese(stage, open_page):
    assert open_page(locale="zh-CN").page.locator("h2").first.inner_text().startswith("需要关注")


def test_a_site_opens_by_mouse_and_by_keyboard_and_escape_gives_the_focus_back(stage, open_page):
    stage.play()
    page = open_page().page
    page.fill('[data-part="site-search"]', "Site")
    rows = page.locator('[data-part="site-list"] .row-button')
    rows.first.wait_for()
    rows.nth(1).focus()
    page.keyboard.press("Enter")
    panel = page.locator('[data-part="site-panel"]')
    panel.locator("table.figures").first.wait_for()
    assert panel.locator("svg.fan").count() == 1
    for heading in ("Queue, staff and stations", "Doses by expiry", "Fridges", "Staff on duty"):
        assert heading in panel.inner_text()
    page.keyboard.press("Escape")
    assert panel.is_hidden()
    assert page.evaluate("document.activeElement.classList.contains('row-button')")


def test_a_click_on_the_map_opens_the_site_under_it(stage, open_page):
    stage.play()
    page = open_page().page
    wait_for_figure(page, "waiting", r"\d")
    canvas = page.locator("canvas")
    box = canvas.bounding_box()
    # The tip follows the pointer, so that the map itself says where a site is.
    for step in range(4000):
        x, y = (
            box["x"] + 60 + (step % 80) * (box["width"] - 120) / 80,
            box["y"] + 70 + (step // 80) * (box["height"] - 140) / 50,
        )
        page.mouse.move(x, y)
        if page.locator("[data-tip]").is_visible():
            break
    name = page.locator("[data-tip] strong").inner_text()
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function("name => document.querySelector('[data-site-title]').textContent === name", arg=name)


def test_a_name_that_is_markup_is_shown_as_text(stage, open_page):
    stage.play()
    watched = open_page()
    page = watched.page
    page.fill('[data-part="site-search"]', "onerror")
    page.locator('[data-part="site-list"] .row-button').click()
    page.locator('[data-part="site-panel"] table.figures').first.wait_for()
    assert page.locator("[data-site-title]").inner_text().startswith("<img src=x")
    assert page.locator("main img, main b.bold, [data-part=site-panel] img").count() == 0
    assert "broken" not in page.title()
    assert watched.complaints == []


def test_a_lost_line_makes_the_figures_look_old_and_heals_by_itself(stage, open_page):
    stage.play()
    page = open_page().page
    wait_for_figure(page, "waiting", r"\d")
    stage.close_doors()
    page.wait_for_selector('[data-part="link"][data-link="lost"]')
    banner = page.locator('[data-part="banner"]')
    banner.wait_for(state="visible")
    assert f"{stage.city.now_local:%H:%M}" in banner.inner_text()
    assert float(page.evaluate("getComputedStyle(document.querySelector('main')).opacity")) < 0.8
    stage.open_doors()
    page.wait_for_selector('[data-part="link"][data-link="live"]')
    banner.wait_for(state="hidden")
    stage.play()
    local_time = f"{stage.city.now_local:%H:%M}"
    page.wait_for_function("time => document.querySelector('[data-part=time]').innerText === time", arg=local_time)


def test_sites_that_fall_silent_turn_unknown_and_say_how_old_they_are(stage, open_page):
    stage.play()
    page = open_page().page
    wait_for_figure(page, "old", r"^0 ")
    stage.clock.set(stage.clock.now() + timedelta(minutes=20))
    stage.opened.live.run_cycle()
    num_open = int(stage.opened.live.latest.state.is_open.sum())
    assert num_open
    wait_for_figure(page, "old", f"^{num_open} ")
    assert f"Unknown {num_open}" in figure(page, "bands-legend")
    row = page.locator('[data-part="site-list"] li.old').first
    assert "20 min old" in row.inner_text()


def test_the_plan_in_full_says_how_many_decisions_who_made_them_and_closes(stage, open_page):
    cycle = stage.play_until_orders()
    page = open_page().page
    page.click('[data-figure="plan"]')
    dialog = page.locator('[data-part="plan-dialog"]')
    page.wait_for_function("() => document.querySelector('[data-plan]').innerText.includes('planner')")
    assert f"{len(cycle.plan.decisions)} decisions by the planner {cycle.plan.planner}" in dialog.inner_text()
    for dropped in cycle.plan.dropped:
        assert dropped.reason_en in dialog.inner_text()
    page.keyboard.press("Escape")
    assert dialog.is_hidden()


@pytest.mark.parametrize("stage", ["learned"], indirect=True)
def test_the_models_are_told_and_a_challenger_is_rolled_back_by_a_click(stage, open_page):
    slot = stage.opened.live.releases["policy"].slot
    digest = slot.store.add(PACKAGED_BUNDLES / "policy").digest
    now = stage.clock.now()
    slot.store.switch(
        "policy", lambda one: begin(one, digest, 100), event="canary", by="releases", why="to see", at=now
    )
    stage.play()
    page = open_page().page
    page.click('[data-figure="models"]')
    dialog = page.locator('[data-part="models-dialog"]')
    page.wait_for_function("() => document.querySelector('[data-models]').innerText.includes('is being released')")
    said = dialog.inner_text()
    assert "policy packaged answers, its breaker is closed" in said
    assert f"{digest[:12]} is being released: for a share, 10 %" in said
    assert "policy canary (releases) to see" in said
    assert "Promote" not in said
    dialog.get_by_text("Roll back").click()
    page.wait_for_function("() => document.querySelector('[data-models]').innerText.includes('rolled_back')")
    assert slot.store.aliases("policy").challenger is None
    assert "is being released" not in dialog.inner_text()


def test_the_theme_follows_the_system_until_it_is_chosen(stage, open_page):
    page = open_page(color_scheme="dark").page
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.click('[data-part="theme"]')
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_no_width_makes_the_page_scroll_sideways(stage, open_page):
    stage.play_until_orders()
    page = open_page().page
    wait_for_figure(page, "orders", r"^[1-9]")
    for width in (390, 820, 1180, 1440, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator('[data-part="order-list"] li').first.bounding_box()["width"] > 250


def test_every_control_has_a_name(stage, open_page):
    stage.play()
    page = open_page().page
    # The drawings are named with what they show, as soon as they show something.
    wait_for_figure(page, "waiting", r"\d")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, input, canvas, [role=img]')]
        .filter((node) => !(node.getAttribute('aria-label') || node.textContent.trim() || node.labels?.length))
        .map((node) => node.outerHTML)"""
    )
    assert nameless == []


def test_the_ground_is_made_of_true_delaunay_triangles(open_page):
    """No point lies inside the circle through a triangle's corners (Delaunay, 1934); Euler's formula counts them."""
    page = open_page().page
    outcome = page.evaluate(
        """async () => {
        const { triangulate } = await import('/static/delaunay.js');
        let seed = 7;
        const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
        const points = Array.from({ length: 150 }, () => ({ x: random(), y: random() }));
        const inner = triangulate(points).filter(({ corners }) => corners.every((corner) => corner < points.length));
        const inside = inner.filter((triangle) => points.some((point, idx) => !triangle.corners.includes(idx)
            && (point.x - triangle.x) ** 2 + (point.y - triangle.y) ** 2 < triangle.squaredRadius * (1 - 1e-9)));
        const used = new Set(inner.flatMap(({ corners }) => corners));
        return { inner: inner.length, inside: inside.length, used: used.size };
        }"""
    )
    assert outcome["inside"] == 0
    assert outcome["used"] == 150
    # 2n - 2 - h triangles for n points, h of them on the hull; h of 150 uniform points lies well between 5 and 40.
    assert 2 * 150 - 2 - 40 <= outcome["inner"] <= 2 * 150 - 2 - 5
