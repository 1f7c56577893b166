from dataclasses import fields, replace
from datetime import date, time

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intake_samples import changed, city_document, make_city

from doseflow.domain.limits import OperatingLimits
from doseflow.errors import CityWrong
from doseflow.intake.city_file import city_from_json, city_to_json


def assert_same_city(one, other) -> None:
    for field in fields(one):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if isinstance(left, np.ndarray):
            np.testing.assert_array_equal(left, right)
            assert left.dtype == right.dtype
        else:
            assert left == right, field.name


def test_a_city_is_read_and_its_neighbours_are_computed():
    city = make_city()
    assert [site.site_id for site in city.sites] == ["prague-001", "prague-002"]
    assert city.sites[0].opens_at == time(8)
    assert city.sites[0].fridges[0].set_point_celsius == 5.0
    assert city.neighbour_idx.shape == (2, 10)
    assert city.neighbour_idx[:, 0].tolist() == [1, 0]
    # 0.1 degrees of latitude are 11.1 km; by road 1.3 times that at 45 km/h, and 5 minutes of handling.
    assert city.neighbour_travel_minutes[0, 0] == pytest.approx(11.12 * 1.3 / 45 * 60 + 5, abs=0.05)
    assert city.limits == OperatingLimits()


def test_what_was_written_is_read_back_the_same():
    city = replace(
        make_city(),
        limits=OperatingLimits(max_travel_minutes=35.5),
        assumed={"seats_possible": "assumed"},
        holiday_overrides={date(2027, 2, 15): True},
        seats_per_observer=11,
    )
    assert_same_city(city_from_json(city_to_json(city)), city)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180), st.floats(0.001, 1e5)), min_size=1, max_size=5))
def test_the_round_trip_is_exact_to_the_last_bit(places):
    template = city_document()["sites"][0]
    sites = [
        template
        | {
            "site_id": str(number),
            "latitude": latitude,
            "longitude": longitude,
            "fridges": [{"fridge_id": "f", "volume_litres": volume}],
        }
        for number, (latitude, longitude, volume) in enumerate(places)
    ]
    city = city_from_json(orjson.dumps(city_document(sites=sites, vans=[])))
    assert_same_city(city_from_json(city_to_json(city)), city)
    assert city_to_json(city_from_json(city_to_json(city))) == city_to_json(city)


_RED = city_document()["products"][0]


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        ("name", ..., "name: must be given"),
        ("mayor", "x", "mayor: is not a field that is known here"),
        ("sites", [], "sites: must have at least 1 item, got 0"),
        ("sites.1.latitude", 91, "sites.1.latitude: must be at most 90.0, got 91"),
        ("sites.1.opens_at", "late", "sites.1.opens_at: must be a time of day such as 08:30"),
        ("sites.1.site_id", "prague-001", "sites: the id 'prague-001' is given more than once"),
        ("sites.0.stations_possible", [1, 2], "sites.0.stations_possible"),
        ("sites.0.products.0", "green", "sites.0.products.0: must be one of blue, red, got 'green'"),
        ("sites.0.fridges.1.fridge_id", "a", "sites.0.fridges.1.fridge_id: must be given once, got 'a' again"),
        ("products", [_RED, _RED | {"product_id": "blue"}, _RED], "products: the id 'red' is given more than once"),
        ("products.1.doses_per_vial", 0, "products.1.doses_per_vial: must be at least 1, got 0"),
        ("products.1.storage_low_celsius", 9.0, "products.1.storage_low_celsius: must be below storage_high_celsius"),
        ("vans.0.home_site_id", "zzz", "vans.0.home_site_id: must be a site of this city, got 'zzz'"),
        ("timezone", "Mars/Base", "timezone: must be an IANA name such as Europe/Prague, got 'Mars/Base'"),
        ("timezone", "../../etc/passwd", "timezone: must be an IANA name"),
        ("timezone", "Europe", "timezone: must be an IANA name"),
        ("limits", {"max_moved_share": 2.0}, "limits.max_moved_share: must lie in 0..1, got 2.0"),
        ("limits", {"max_fun": 2.0}, "limits.max_fun: is not a field that is known here"),
        ("holiday_overrides", {"soon": True}, "holiday_overrides.soon"),
    ],
)
def test_a_bad_city_is_refused_with_its_field_and_bound(path, value, sentence):
    with pytest.raises(CityWrong) as caught:
        city_from_json(orjson.dumps(changed(city_document(), path, value)))
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("site_idx", "travel_minutes", "sentence"),
    [
        ([[1]], [[9.0]], "neighbours: must have a row of one length for each of the 2 sites"),
        ([[1], [0, -1]], [[9.0], [9.0]], "neighbours: must have a row of one length"),
        ([[0], [0]], [[9.0], [9.0]], "neighbours.site_idx.0.0: must be another site's position, at most 1, got 0"),
        ([[1], [2]], [[9.0], [9.0]], "neighbours.site_idx.1.0: must be another site's position, at most 1, got 2"),
        ([[1], [0]], [[9.0], [None]], "neighbours.travel_minutes.1.0: must be null exactly where site_idx is -1"),
        ([[1], [0]], [[9.0], [-9.0]], "neighbours.travel_minutes.1.0: must be at least 0"),
    ],
)
def test_a_bad_neighbour_table_is_refused_with_its_place(site_idx, travel_minutes, sentence):
    document = city_document(neighbours={"site_idx": site_idx, "travel_minutes": travel_minutes})
    with pytest.raises(CityWrong) as caught:
        city_from_json(orjson.dumps(document))
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [(b"{", "city: must be JSON"), (b"\xff", "city: must be UTF-8"), (b"[]", "city: must be an object")],
)
def test_what_is_not_a_city_at_all_is_refused(data, sentence):
    with pytest.raises(CityWrong, match=sentence):
        city_from_json(data)
