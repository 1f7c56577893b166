from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from doseflow.domain.approvals import Approval, ApprovalParams, ApprovalRule
from doseflow.domain.decisions import DecisionKind, DoseTransfer, Family, StationChange, Why
from doseflow.domain.roles import Stage

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def carrying(doses: int = 60, to: str = "s1") -> DoseTransfer:
    return DoseTransfer("s0", to, "liquid", "L1", "f1", "f1", "v1", doses, 12.0, Why("stock_out"))


def closing(code: str = "overstaffed") -> StationChange:
    return StationChange("s0", Stage.VACCINATION, 3, 0, Why(code))


@pytest.mark.parametrize(
    ("rule", "speaks"),
    [
        ({}, True),
        ({"kinds": (DecisionKind.DOSE_TRANSFER,)}, True),
        ({"kinds": (DecisionKind.STAFF_MOVE,)}, False),
        ({"families": (Family.DOSES,), "min_quantity": 60}, True),
        ({"families": (Family.DOSES,), "min_quantity": 61}, False),
        ({"site_ids": ("s1",)}, True),
        ({"site_ids": ("s9",)}, False),
    ],
)
def test_a_rule_speaks_of_what_all_its_parts_name(rule, speaks):
    assert ApprovalRule(Approval.ALWAYS_ASK, **rule).speaks_of(carrying()) is speaks


def test_the_first_rule_that_speaks_counts_and_without_one_an_order_goes_out_at_once():
    large = ApprovalRule(Approval.ALWAYS_ASK, families=(Family.DOSES,), min_quantity=50)
    small = ApprovalRule(Approval.GOES_OUT, families=(Family.DOSES,), minutes=5)
    params = ApprovalParams((large, small))
    modes = [params.rule_for(one).mode for one in (carrying(60), carrying(6), closing())]
    assert modes == [Approval.ALWAYS_ASK, Approval.GOES_OUT, Approval.AUTOMATIC]
    assert small.decide_by(NOW) == NOW + timedelta(minutes=5)
    assert large.decide_by(NOW) is None


@pytest.mark.parametrize("code", ["suspended", "recalled"])
def test_what_a_person_has_commanded_already_is_not_asked_about(code):
    params = ApprovalParams((ApprovalRule(Approval.ALWAYS_ASK),))
    assert params.rule_for(closing(code)).mode is Approval.AUTOMATIC


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        ({"mode": Approval.GOES_OUT}, "minutes"),
        ({"mode": Approval.LAPSES, "minutes": 0.0}, "minutes"),
        ({"mode": Approval.ALWAYS_ASK, "minutes": 5.0}, "minutes"),
        ({"mode": Approval.ALWAYS_ASK, "min_quantity": float("nan")}, "min_quantity"),
    ],
)
def test_a_rule_out_of_its_bounds_names_its_field(rule, word):
    with pytest.raises(ValueError, match=word):
        ApprovalRule(**rule)


def test_time_to_undo_has_bounds():
    with pytest.raises(ValueError, match="undo_seconds"):
        ApprovalParams(undo_seconds=-1)
