from __future__ import annotations

from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from doseflow.domain.limits import OperatingLimits
from doseflow.domain.playbooks import RELAXED_BY_SURGE, SURGE_BOUNDS, relaxed_limits

LIMITS = st.builds(
    OperatingLimits,
    max_moves_per_shift=st.integers(0, 5),
    max_moved_share=st.floats(0, 1),
    max_city_moved_people=st.integers(0, 500),
    max_station_changes=st.integers(0, 20),
    max_walk_ins_sent_share=st.floats(0, 1),
    max_slot_change_share=st.floats(0, 1),
)


@given(LIMITS, st.floats(1, 2))
def test_a_surge_never_tightens_a_limit_nor_passes_its_bound_and_leaves_all_others(limits, factor):
    relaxed, bounds = asdict(relaxed_limits(limits, factor)), asdict(SURGE_BOUNDS)
    for name, before in asdict(limits).items():
        if name in RELAXED_BY_SURGE:
            assert before <= relaxed[name] <= max(before, bounds[name])
            assert type(relaxed[name]) is type(before)
        else:
            assert relaxed[name] == before


@given(LIMITS)
def test_no_surge_leaves_every_limit(limits):
    assert relaxed_limits(limits, 1.0) == limits
