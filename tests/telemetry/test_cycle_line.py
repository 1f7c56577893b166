import pytest

from doseflow.telemetry.cycle_line import cycle_line

USUAL = {
    "planner": "rules",
    "num_reported": 188,
    "num_sites": 200,
    "num_new_orders": 1,
    "num_withdrawn": 0,
    "stage_milliseconds": {"state": 4.2, "feasible": 12.9, "store": 7.0},
    "why": "",
}


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({}, "24 ms, of it feasible 13: 188 of 200 sites reported, 1 new order, 0 withdrawn, planned by rules"),
        (
            {"num_new_orders": 1200, "why": "the net failed: timed out"},
            (
                "24 ms, of it feasible 13: 188 of 200 sites reported, 1,200 new orders, 0 withdrawn, planned by rules, "
                "since the net failed: timed out"
            ),
        ),
        ({"stage_milliseconds": {}}, "0 ms: 188 of 200 sites reported, 1 new order, 0 withdrawn, planned by rules"),
    ],
)
def test_a_cycle_is_one_sentence_that_a_person_on_duty_can_read(changed, line):
    assert cycle_line(**(USUAL | changed)) == line
