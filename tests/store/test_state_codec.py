from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from store_samples import START, assert_same_state, make_city, make_state, one_of_each_kind

from doseflow.domain.orders import Commitments
from doseflow.domain.recent_periods import RecentPeriods
from doseflow.domain.state import CityState, VanTable
from doseflow.store.state_codec import decode_state, encode_state

CITY = make_city()
STATE = make_state(CITY)
COMMITMENTS = Commitments(
    acknowledged=one_of_each_kind()[:2],
    under_way=one_of_each_kind()[2:4],
    sent=one_of_each_kind()[4:7],
    refused=one_of_each_kind()[7:8],
    pinned=one_of_each_kind()[8:],
    frozen_site_ids=frozenset({"site-0002", "site-0000"}),
    suspended_site_ids=frozenset({"site-0001"}),
)


def same_again(state: CityState) -> CityState:
    return decode_state(encode_state(state), state.city)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from((1, 3, 17)))
def test_a_state_comes_back_equal_in_values_and_types(seed: int, num_sites: int) -> None:
    state = make_state(make_city(num_sites), START, seed=seed, commitments=COMMITMENTS)
    back = same_again(state)
    assert back.city is state.city
    assert_same_state(back, state)


ARRAYS = st_numpy.arrays(
    st.sampled_from(("<f8", "<f4", "<i8", "<i4", "?")),
    st_numpy.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5),
)


@settings(max_examples=150)
@given(ARRAYS)
def test_any_array_comes_back_equal_in_values_shape_and_type(array: np.ndarray) -> None:
    state = replace(STATE, arrivals_people=array)
    back = same_again(state).arrivals_people
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array, strict=True)


EDGES = (np.nan, np.inf, -np.inf, 0.1, 1 / 3, 2.0**53 + 2, -(2.0**31), 2.0**32, 5e-324, 1.7e308, 29_548_800 + 1 / 60)


@settings(max_examples=120)
@given(st.lists(st.sampled_from(EDGES) | st.integers(-5, 300).map(float), min_size=1, max_size=6))
def test_edge_values_of_floats_come_back(values: list[float]) -> None:
    state = replace(STATE, observed_wait_minutes=np.array(values))
    np.testing.assert_array_equal(same_again(state).observed_wait_minutes, np.array(values))


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4))
def test_edge_values_of_integers_come_back(values: list[int]) -> None:
    state = replace(STATE, vans=VanTable(np.array(values, dtype=np.int64), np.zeros(len(values))))
    np.testing.assert_array_equal(same_again(state).vans.site_idx, values)


def test_integers_that_span_their_whole_type_come_back() -> None:
    widest = np.array([-(2**31), 2**31 - 4, 2**31 - 1], dtype=np.int32)
    for values in (widest[:2], widest):
        back = same_again(replace(STATE, weather_idx=values)).weather_idx
        np.testing.assert_array_equal(back, values, strict=True)


def test_what_came_back_belongs_to_nobody_else() -> None:
    back = same_again(STATE)
    for field in fields(back):
        value = getattr(back, field.name)
        if isinstance(value, np.ndarray):
            assert value.flags.writeable, field.name


def test_whole_numbers_and_whole_seconds_take_little_room() -> None:
    city = make_city(100)
    state = make_state(city)
    fraction = replace(state, valid_epoch_minutes=state.valid_epoch_minutes + 1e-7)
    assert len(encode_state(fraction)) - len(encode_state(state)) > 100 * 17 * 5
    assert len(encode_state(state)) < 90_000


@pytest.mark.parametrize("data", [b"", b"\x05\x00\x00\x00{}", b"nonsense that is long enough"])
def test_what_is_no_state_is_said_so(data: bytes) -> None:
    with pytest.raises(ValueError, match="state: must be written as"):
        decode_state(data, CITY)


def test_a_state_of_a_version_with_other_fields_is_said_so() -> None:
    data = encode_state(make_state(CITY, START + timedelta(hours=1)))
    with pytest.raises(ValueError, match="arrays/3"):
        decode_state(data.replace(b'"weekday"', b'"weekdax"'), CITY)


def without_recent(data: bytes) -> bytes:
    """The bytes as the first layout had them: no array of the last two hours."""
    header_end = 4 + int.from_bytes(data[:4], "little")
    header = orjson.loads(data[4:header_end])
    kept, blocks, offset = [], [], header_end
    for column in header["arrays"]:
        path, _, stored_dtype, shape, *_ = column
        num_bytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(stored_dtype).itemsize
        if not path.startswith("recent."):
            kept.append(column)
            blocks.append(data[offset : offset + num_bytes])
        offset += num_bytes
    text = orjson.dumps(header | {"arrays": kept})
    return len(text).to_bytes(4, "little") + text + b"".join(blocks)


def test_a_state_of_the_first_layout_is_read_with_its_last_two_hours_unknown() -> None:
    back = decode_state(without_recent(encode_state(STATE)), CITY)
    assert_same_state(back, replace(STATE, recent=RecentPeriods.unknown(CITY.num_sites)))
