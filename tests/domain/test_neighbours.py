import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.domain import neighbours
from doseflow.domain.neighbours import EARTH_RADIUS_KM, great_circle_km, nearest_neighbours


def _km_by_law_of_cosines(one, other) -> float:
    lat_1, lon_1, lat_2, lon_2 = map(math.radians, (*one, *other))
    cosine = math.sin(lat_1) * math.sin(lat_2) + math.cos(lat_1) * math.cos(lat_2) * math.cos(lon_1 - lon_2)
    return EARTH_RADIUS_KM * math.acos(max(-1.0, min(1.0, cosine)))


def test_a_quarter_of_the_globe_and_a_degree_of_latitude():
    km = great_circle_km(np.array([0.0, 50.0]), np.array([0.0, 14.0]), np.array([0.0, 51.0]), np.array([90.0, 14.0]))
    np.testing.assert_allclose(km, [EARTH_RADIUS_KM * math.pi / 2, EARTH_RADIUS_KM * math.pi / 180])


places = st.tuples(st.floats(-89, 89), st.floats(-180, 180))


@settings(max_examples=60)
@given(st.lists(places, min_size=1, max_size=9), st.integers(1, 6))
def test_neighbours_are_those_of_a_full_sort_by_another_formula(sites, num_neighbours):
    latitudes, longitudes = np.array(sites).T
    idx, minutes = nearest_neighbours(latitudes, longitudes, num_neighbours)
    assert idx.shape == minutes.shape == (len(sites), num_neighbours)
    for site_idx, site in enumerate(sites):
        others = sorted(_km_by_law_of_cosines(site, other) for at, other in enumerate(sites) if at != site_idx)
        found = [column for column in idx[site_idx] if column >= 0]
        assert site_idx not in found
        assert len(set(found)) == len(found) == min(num_neighbours, len(sites) - 1)
        expected = [km * 1.3 / 45 * 60 + 5 for km in others[:num_neighbours]]
        # The law of cosines is only good to some hundred metres for places that are close.
        np.testing.assert_allclose(minutes[site_idx, : len(found)], expected, rtol=1e-6, atol=0.5)
        assert (idx[site_idx, len(found) :] == -1).all()
        assert np.isnan(minutes[site_idx, len(found) :]).all()


def test_a_city_of_one_site_has_no_neighbours():
    idx, minutes = nearest_neighbours(np.array([50.0]), np.array([14.0]))
    assert idx.tolist() == [[-1] * 10]
    assert np.isnan(minutes).all()


def test_sites_at_one_address_are_five_minutes_apart():
    _, minutes = nearest_neighbours(np.array([50.0, 50.0]), np.array([14.0, 14.0]), 1)
    assert minutes.tolist() == [[5.0], [5.0]]


def test_the_result_does_not_depend_on_how_many_rows_are_taken_at_once(monkeypatch):
    rng = np.random.default_rng(1)
    latitudes, longitudes = 50 + rng.random(50), 14 + rng.random(50)
    at_once = nearest_neighbours(latitudes, longitudes)
    monkeypatch.setattr(neighbours, "ROWS_AT_ONCE", 7)
    in_parts = nearest_neighbours(latitudes, longitudes)
    np.testing.assert_array_equal(at_once[0], in_parts[0])
    np.testing.assert_array_equal(at_once[1], in_parts[1])


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"latitudes": np.array([91.0])}, "latitudes"),
        ({"latitudes": np.array([np.nan])}, "latitudes"),
        ({"longitudes": np.array([181.0])}, "longitudes"),
        ({"longitudes": np.array([1.0, 2.0])}, "latitudes"),
        ({"num_neighbours": 0}, "num_neighbours"),
        ({"detour_factor": 0.9}, "detour_factor"),
        ({"speed_kmh": 0.0}, "speed_kmh"),
    ],
)
def test_an_argument_out_of_range_is_refused_by_name(changes, field):
    arguments = {"latitudes": np.array([50.0]), "longitudes": np.array([14.0])} | changes
    with pytest.raises(ValueError, match=f"^{field}: "):
        nearest_neighbours(**arguments)
