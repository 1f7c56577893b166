"""Which city a name means."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doseflow.errors import CityWrong
from doseflow.intake.city_file import city_to_json
from doseflow.simulate.city_choice import city_from_name, days_of
from doseflow.simulate.czech_days import CzechDays
from doseflow.simulate.replayed_city import SimulatedCity
from doseflow.simulate.report_faults import NO_FAULTS
from doseflow.simulate.synthetic_city import SyntheticDays, synthetic_city


@pytest.mark.parametrize(
    "name", ["synthetic:0", "synthetic:-1", "synthetic:abc", "synthetic:", "synthetic:20001", "synthetic:9999999999"]
)
def test_a_wrong_size_is_refused_with_the_bound(name):
    with pytest.raises(CityWrong, match=r"1\.\.20000"):
        city_from_name(name)


@pytest.mark.parametrize("name", ["", "prague", "no/such/file.json", "czech:3", "synthetic", "a\0b", "."])
def test_a_name_that_is_no_city_is_refused_in_one_sentence(name):
    with pytest.raises(CityWrong, match="city: "):
        city_from_name(name)


def test_czech_is_the_real_city_with_its_real_days():
    city = city_from_name("czech")
    assert city.num_sites == 200
    assert isinstance(days_of(city), CzechDays)


def test_a_city_written_to_a_file_is_read_back_whole(tmp_path, small_city):
    path = tmp_path / "city.json"
    path.write_bytes(city_to_json(small_city))
    again = city_from_name(str(path))
    assert again.sites == small_city.sites
    assert again.vans == small_city.vans
    assert np.array_equal(again.neighbour_idx, small_city.neighbour_idx)


def test_the_city_file_of_the_docs_is_a_city_and_can_be_lived_in(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "reference" / "cities.md").read_text(encoding="utf-8")
    path = tmp_path / "riverside.json"
    path.write_text(re.search(r"```json\n(.*?)```", text, re.DOTALL).group(1))
    living = SimulatedCity.from_name(str(path), faults=NO_FAULTS)
    living.advance(30)
    assert len(living.reports()) == 2
    assert living.summary()["arrived_people"] > 10


def test_a_file_that_is_no_city_is_named_with_its_field(tmp_path):
    path = tmp_path / "city.json"
    path.write_text('{"city_id": 3}')
    with pytest.raises(CityWrong, match=r"city\.json: city_id"):
        city_from_name(str(path))


def test_a_file_that_borrows_the_czech_name_does_not_get_its_days(small_city):
    assert isinstance(days_of(replace(small_city, city_id="czech")), SyntheticDays)


@settings(max_examples=15)
@given(st.integers(1, 40), st.integers(0, 1000))
def test_any_size_makes_a_whole_city_and_the_same_seed_the_same(num_sites, seed):
    city, again = synthetic_city(num_sites, seed), synthetic_city(num_sites, seed)
    assert city.num_sites == num_sites
    assert city.sites == again.sites
    assert np.array_equal(city.neighbour_travel_minutes, again.neighbour_travel_minutes, equal_nan=True)
    assert len(city.vans) >= 1


def test_sizes_differ_as_much_as_those_of_the_real_city():
    made = np.log([site.daily_capacity_people for site in synthetic_city(2000).sites])
    real = np.log([site.daily_capacity_people for site in city_from_name("czech").sites])
    assert abs(made.std() - real.std()) < 0.15


def test_neighbours_of_a_large_city_are_as_near_as_those_of_a_small_one():
    near = [np.nanmedian(synthetic_city(size).neighbour_travel_minutes[:, 0]) for size in (100, 1000)]
    assert 0.6 < near[0] / near[1] < 1.6


def test_made_days_repeat_with_the_seed_and_follow_the_week(small_city):
    days = SyntheticDays(small_city, seed=3)
    friday, sunday = date(2021, 5, 21), date(2021, 5, 23)
    assert np.array_equal(days.on(friday).booked_people, SyntheticDays(small_city, seed=3).on(friday).booked_people)
    fridays = sum(days.on(date.fromordinal(friday.toordinal() + 7 * k)).booked_people.sum() for k in range(12))
    sundays = sum(days.on(date.fromordinal(sunday.toordinal() + 7 * k)).booked_people.sum() for k in range(12))
    assert 1.4 < fridays / sundays < 2.4


def test_made_days_never_book_beyond_capacity(small_city):
    for offset in range(14):
        day = SyntheticDays(small_city).on(date.fromordinal(date(2021, 5, 1).toordinal() + offset))
        assert (day.booked_people <= day.capacity_people).all()
        assert (day.booked_people >= 0).all()
