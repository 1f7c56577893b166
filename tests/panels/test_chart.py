import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doseflow.gateways.prometheus import Series
from doseflow.panels.answers import AnsweredPanel, NamedSeries
from doseflow.panels.chart import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, chart, legend
from doseflow.panels.dashboard import Panel
from doseflow.panels.page import dashboards_page
from doseflow.panels.written_value import written_value


def panel_of(*lines, unit="short", limits=(), title="Panel", kind="timeseries"):
    panel = Panel(kind, title, "about", unit, (), tuple(limits), 12)
    named = [NamedSeries(f"line {number}", Series({}, *map(tuple, line))) for number, line in enumerate(lines)]
    return AnsweredPanel(panel, tuple(named))


def points(svg):
    written = re.findall(r'points="([^"]+)"', svg)
    return [[tuple(map(float, point.split(","))) for point in line.split()] for line in written]


def axis_values(svg):
    return [float(text) for text in re.findall(r'text-anchor="end">(-?[\d.,]+)</text>', svg)]


def test_a_line_begins_and_ends_where_its_moments_and_values_lie():
    svg = chart(panel_of(((100, 150, 200), (0, 10, 5))), 100, 200)
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    assert points(svg) == [[(LEFT, HEIGHT - BOTTOM), (middle, TOP), (WIDTH - RIGHT, (TOP + HEIGHT - BOTTOM) / 2)]]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=8))
def test_every_value_lies_within_the_frame_whatever_it_is(values):
    svg = chart(panel_of((range(len(values)), values)), 0, len(values) - 1)
    for x, y in points(svg)[0]:
        assert LEFT <= x <= WIDTH - RIGHT
        assert TOP - 0.05 <= y <= HEIGHT - BOTTOM + 0.05


@given(st.floats(0.001, 1e5))
def test_the_axis_has_few_even_steps_from_nought_over_the_highest_value(highest):
    svg = chart(panel_of(((0, 1), (0, highest))), 0, 1)
    num_ticks = len(re.findall('class="grid"', svg))
    assert 3 <= num_ticks <= 7


def test_a_limit_in_sight_is_drawn_and_one_far_above_does_not_press_the_lines_flat():
    near = chart(panel_of(((0, 1), (0.05, 0.06)), limits=[(0.1, "red")]), 0, 1)
    far = chart(panel_of(((0, 1), (0.001, 0.002)), limits=[(0.1, "red")]), 0, 1)
    assert near.count('class="limit"') == 1
    assert far.count('class="limit"') == 0


def test_the_legend_names_every_line_with_its_latest_value():
    answered = panel_of(((0, 1), (1, 0.0123)), ((0, 1), (1, 0.5)), unit="s")
    assert re.findall(r"</i>(.*?) <b>(.*?)</b>", legend(answered.series, "s")) == [
        ("line 0", "12.3 ms"),
        ("line 1", "500 ms"),
    ]


@pytest.mark.parametrize(
    ("value", "unit", "written"),
    [
        (0.0123, "s", "12.3 ms"),
        (2, "s", "2 s"),
        (0.825, "percentunit", "82.5 %"),
        (12345, "short", "12,345"),
        (3 * 2**30, "bytes", "3 GiB"),
        (512, "bytes", "512 B"),
        (45, "celsius", "45 °C"),
        (0.05, "short", "0.05"),
        (7, "m", "7 min"),
    ],
)
def test_values_are_written_with_units_that_people_know(value, unit, written):
    assert written_value(value, unit) == written


def test_text_of_a_dashboard_never_becomes_markup():
    from doseflow.panels.answers import AnsweredSection
    from doseflow.panels.dashboard import Dashboard

    hostile = '<img src=x onerror="1">'
    answered = panel_of(((0, 1), (1, 2)), title=hostile)
    dashboard = Dashboard("uid", hostile, ())
    page = dashboards_page([(dashboard, [AnsweredSection(hostile, (answered,))])], 0, 1, hostile)
    assert "<img" not in page


def test_a_panel_without_series_says_so_and_a_number_over_its_limit_takes_its_colour():
    from doseflow.panels.answers import AnsweredSection
    from doseflow.panels.dashboard import Dashboard

    empty = panel_of(kind="stat", title="Empty")
    over = panel_of(((0, 1), (0, 5)), kind="stat", title="Over", limits=[(1, "orange"), (4, "red")])
    page = dashboards_page([(Dashboard("uid", "t", ()), [AnsweredSection("s", (empty, over))])], 0, 1, "here")
    assert '<p class="none">no series</p>' in page
    assert '<strong style="color: red">5</strong>' in page
