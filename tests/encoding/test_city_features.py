import hashlib

import numpy as np
import pytest
from encoding_samples import TEN, after, everywhere, full_report, make_city, state_of
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.domain.feature_classes import FeatureClass
from doseflow.domain.report import ByStage, FridgeReading, LotOnHand
from doseflow.encoding.axes import AXES, AXIS_LENGTHS, PRODUCT_SLOTS
from doseflow.encoding.city_features import FEATURES, FEATURES_SCHEMA_VERSION, encode_city, feature_names
from doseflow.state.unknown import unknown_state

COLUMN = {name: column for column, name in enumerate(feature_names())}
BETA = 1


def value(encoded, name: str, site_idx: int = 0) -> float:
    """An encoded feature in its own unit, NaN where it is marked unknown."""
    column = COLUMN[name]
    known = encoded.known[site_idx, column]
    return float(encoded.values[site_idx, column]) * FEATURES[column].scale if known else np.nan


def test_the_table_covers_all_17_classes_and_names_each_feature_once():
    assert {feature.feature_class for feature in FEATURES} == set(FeatureClass)
    assert len(set(feature_names())) == len(FEATURES)
    assert all(feature.scale > 0 for feature in FEATURES)
    assert FEATURES_SCHEMA_VERSION >= 1


def test_names_order_and_scales_are_pinned_to_the_schema_version():
    """A change here needs a new FEATURES_SCHEMA_VERSION, since nets remember the order."""
    assert (FEATURES_SCHEMA_VERSION, len(FEATURES)) == (1, 85)
    table = ";".join(f"{feature.name}:{feature.scale:g}" for feature in FEATURES)
    assert hashlib.sha256(table.encode()).hexdigest()[:12] == "625e6048f985"


def test_every_class_letter_has_one_meaning_and_fixed_lengths_are_the_domains():
    assert set(AXIS_LENGTHS) - {"17"} <= set(AXES)
    assert AXIS_LENGTHS == {"R": 4, "T": 24, "W": 4, "Q": 5, "17": 17}


def test_nothing_known_is_all_zero_and_marked_so_but_for_place_and_calendar():
    encoded = encode_city(unknown_state(make_city(), TEN))
    known_classes = {FEATURES[column].feature_class for column in np.flatnonzero(encoded.known.any(axis=0))}
    assert known_classes == {FeatureClass.PLACE_AND_CALENDAR}
    assert (encoded.values[~encoded.known] == 0).all()
    assert (encoded.age == 1).all()
    assert not encoded.known[:, COLUMN["weather_rain"]].any()
    assert not encoded.known[:, COLUMN["incident_surge"]].any()


def test_a_full_report_is_encoded_value_by_value():
    encoded = encode_city(state_of(full_report("alpha"), past=np.ones((3, 4, 24))))
    expected = {
        "arrivals_people": 7,
        "waiting_people_vaccination": 5,
        "observed_wait_minutes": 12,
        "booked_people_bin_1": 0,
        "booked_people_bin_7": 2,
        "no_show_share": 0.1,
        "mean_early_minutes": 6,
        "walk_in_share": 0.25,
        "doses_given": 6,
        "doses_given_past_weeks_back_2": 3,
        "past_weeks_mean_arrivals_people_half_hour_1": 6,
        "staff_free_people_vaccinator": 3,
        "staff_leaving_within_hour_people_vaccinator": 0,
        "worked_hours_observer": 2,
        "breaks_due_people_observer": 1,
        "stations_open_screening": 4,
        "stations_possible_vaccination": 5,
        "seats_taken": 8,
        "seats_possible": 18,
        "free_doses_product_0": 90,
        "free_doses_product_1": 0,
        "open_vial_doses": 3,
        "first_expiry_hours": 100,
        "expiring_within_day_doses": 0,
        "expiring_within_week_doses": 62,
        "warmest_celsius": 9.5,
        "coldest_celsius": 5,
        "fridges_without_power": 1,
        "longest_excursion_minutes": 60,
        "volume_used_litres": 25,
        "volume_possible_litres": 95,
        "travel_to_nearest_minutes": 10,
        "travel_to_neighbours_minutes": 27.5,
        "vans_near": 1,
        "day_sine": 0.5,
        "is_holiday": 0,
        "is_open": 1,
        "open_minutes_left": 480,
        "weather_rain": 1,
        "weather_dry": 0,
        "incident_surge": 1,
        "incident_closed": 0,
    }
    got = {name: value(encoded, name) for name in expected}
    assert got == pytest.approx(expected, abs=1e-4)
    assert (encoded.age[0] == 0).all()


def test_a_true_zero_is_known_and_a_missing_value_is_not():
    encoded = encode_city(state_of(full_report("alpha", arrivals_people=0), full_report("beta", arrivals_people=None)))
    column = COLUMN["arrivals_people"]
    assert encoded.values[:2, column].tolist() == [0, 0]
    assert encoded.known[:2, column].tolist() == [True, False]


def test_a_site_that_says_it_has_no_staff_differs_from_one_that_says_nothing():
    encoded = encode_city(state_of(full_report("alpha", staff=(), lots=())))
    assert value(encoded, "staff_free_people_observer", 0) == 0
    assert np.isnan(value(encoded, "staff_free_people_observer", BETA))
    assert value(encoded, "free_doses_product_0", 0) == 0
    assert np.isnan(value(encoded, "free_doses_product_0", BETA))


def test_a_fridge_that_tells_no_temperature_does_not_hide_the_others():
    fridges = (FridgeReading("alpha-big"), FridgeReading("alpha-small", 6.0))
    encoded = encode_city(state_of(full_report("alpha", fridges=fridges)))
    assert value(encoded, "warmest_celsius") == pytest.approx(6.0)
    assert np.isnan(value(encoded, "fridges_without_power"))


def test_ages_rise_to_one():
    ages = [encode_city(state_of(full_report("alpha"), at=at)).age[0, FeatureClass.SEATS] for at in (0, 30, 120, 500)]
    assert ages == pytest.approx([0, 0.25, 1, 1])


def test_products_beyond_the_slots_share_the_last():
    city = make_city(num_products=7)
    lots = tuple(LotOnHand(f"L{number}", f"product-{number}", "alpha-big", 6 * (number + 1)) for number in range(7))
    encoded = encode_city(state_of(full_report("alpha", lots=lots), city=city))
    doses = [value(encoded, f"free_doses_product_{slot}") for slot in range(PRODUCT_SLOTS)]
    assert doses == pytest.approx([6, 12, 18, 24 + 30 + 36 + 42])


def test_a_van_counts_where_it_stands_and_at_the_neighbours_that_list_the_place():
    encoded = encode_city(state_of())
    assert [value(encoded, "vans_near", site_idx) for site_idx in range(3)] == pytest.approx([1, 1, 1])
    busy = state_of(at=0)
    busy.vans.free_epoch_minutes[0] += 31
    assert value(encode_city(busy), "vans_near") == 0


numbers = st.none() | st.sampled_from([0, 1, 100_000])


@settings(max_examples=40)
@given(
    st.tuples(numbers, numbers, numbers, numbers),
    st.none() | st.sampled_from([-120.0, 0.0, 80.0]),
    st.none() | st.integers(-100_000, 100_000),
    st.sampled_from([0, 40, 5000]),
)
def test_what_a_net_gets_is_always_finite_and_bounded(waiting, temperature, expires, at):
    lots = (LotOnHand("L", "product-0", "alpha-big", 10_000_000, 0, None if expires is None else after(expires)),)
    told = full_report(
        "alpha",
        waiting_people=ByStage(*waiting),
        fridges=(FridgeReading("alpha-big", temperature),),
        lots=lots,
        observed_wait_minutes=100_000.0,
    )
    encoded = encode_city(state_of(told, at=at))
    assert encoded.values.dtype == encoded.age.dtype == np.float32
    assert encoded.known.dtype == np.bool_
    assert np.isfinite(encoded.values).all()
    assert (np.abs(encoded.values) <= 8).all()
    assert ((encoded.age >= 0) & (encoded.age <= 1)).all()
    assert (encoded.values[~encoded.known] == 0).all()


def test_shapes_do_not_depend_on_what_was_reported():
    empty, full = encode_city(state_of()), encode_city(state_of(*everywhere()))
    assert empty.values.shape == full.values.shape == empty.known.shape == (3, len(FEATURES))
    assert empty.age.shape == (3, 17)
