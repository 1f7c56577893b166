import pytest

from doseflow.intake.params import IntakeParams


def test_defaults_are_pinned():
    assert IntakeParams() == IntakeParams(8 * 2**20, 2**18, 10.0, 72.0, 65536, 10_000)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_body_bytes", 10),
        ("max_report_bytes", 2**24),
        ("max_future_minutes", -1),
        ("max_age_hours", 0),
        ("max_quarantine_bytes", -1),
        ("max_reports", 0),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"^{name}: must lie in "):
        IntakeParams(**{name: value})
