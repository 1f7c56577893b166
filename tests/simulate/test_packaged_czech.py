"""The packaged Czech data against the originals and against itself."""

from __future__ import annotations

import csv
import gzip
import importlib.util
import os
from collections import defaultdict
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from doseflow.errors import CityWrong
from doseflow.simulate.czech_city import czech_city, usual_capacity_people
from doseflow.simulate.czech_days import FIRST_ON, LAST_ON, PACKAGED, CzechDays, czech_site_rows, czech_table

ROOT = Path(__file__).parents[2]
ORIGINALS = Path(os.environ.get("CZECH_ORIGINALS", ROOT.parent / "shared" / "data" / "czech"))
needs_originals = pytest.mark.skipif(
    not (ORIGINALS / "sites.csv").is_file(),
    reason=f"THE ORIGINALS ARE NOT HERE ({ORIGINALS}): the packaged Czech data is not compared with its source; "
    "set CZECH_ORIGINALS to their folder",
)


def packaged(name: str) -> bytes:
    return (PACKAGED / name).read_bytes()


def packing_tool():
    spec = importlib.util.spec_from_file_location("package_czech", ROOT / "tools" / "package_czech.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def original_rows(name: str):
    opener = gzip.open if name.endswith(".gz") else open
    with opener(ORIGINALS / name, "rt", encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream)


@needs_originals
def test_the_packaged_files_are_what_the_tool_makes_of_the_originals():
    made = packing_tool().packaged_files(ORIGINALS)
    assert made["czech_200_sites.csv"] == packaged("czech_200_sites.csv")
    # Another zlib may pack the same rows into other bytes.
    assert gzip.decompress(made["czech_200_days.csv.gz"]) == gzip.decompress(packaged("czech_200_days.csv.gz"))


@needs_originals
def test_bookings_agree_with_the_originals_site_by_site_and_day_by_day():
    sums = defaultdict(int)
    for row in original_rows("rezervace_site_day.csv.gz"):
        booked = int(row["maximalni_kapacita"]) - int(row["volna_kapacita"])
        sums[row["datum"], row["ockovaci_misto_id"]] += booked
    for day_on in (date(2021, 1, 15), date(2021, 3, 6), date(2021, 5, 20), date(2021, 5, 31)):
        ours = CzechDays().on(day_on).booked_people
        theirs = [sums[day_on.isoformat(), row["site_id"]] for row in czech_site_rows()]
        assert ours.tolist() == theirs


@needs_originals
def test_doses_used_and_received_agree_with_the_originals_in_total():
    ids, products = (
        {row["site_id"] for row in czech_site_rows()},
        ("Comirnaty", "COVID-19 Vaccine Moderna", "VAXZEVRIA"),
    )
    used, received = dict.fromkeys(products, 0), dict.fromkeys(products, 0)
    for row in original_rows("spotreba_site_day.csv.gz"):
        if row["ockovaci_misto_id"] in ids and row["datum"] >= FIRST_ON.isoformat():
            used[row["ockovaci_latka"]] += int(row["pouzite_davky"])
    for row in original_rows("distribuce_site_day.csv.gz"):
        if row["datum"] < FIRST_ON.isoformat():
            continue
        giver, taker = row["ockovaci_misto_id"], row["cilove_ockovaci_misto_id"]
        to = giver if row["akce"] == "Příjem" else taker if taker != giver else ""
        if to in ids:
            received[row["ockovaci_latka"]] += int(row["pocet_davek"])
    assert czech_table().used_doses.sum(axis=(0, 1)).tolist() == list(used.values())
    assert czech_table().received_doses.sum(axis=(0, 1)).tolist() == list(received.values())


@needs_originals
def test_no_busier_site_with_coordinates_was_left_out():
    with_place = {
        row["ockovaci_misto_id"] for row in original_rows("sites.csv") if row["latitude"] and row["longitude"]
    }
    booked = defaultdict(int)
    for row in original_rows("rezervace_site_day.csv.gz"):
        if "2021-04-05" <= row["datum"] <= "2021-05-31":
            booked[row["ockovaci_misto_id"]] += int(row["maximalni_kapacita"]) - int(row["volna_kapacita"])
    packaged_ids = {row["site_id"] for row in czech_site_rows()}
    least_packaged = min(booked[site_id] for site_id in packaged_ids)
    assert all(booked[site_id] <= least_packaged for site_id in with_place - packaged_ids)


def test_there_are_200_sites_each_once_inside_the_country_busiest_first():
    rows = czech_site_rows()
    ranks = [int(row["ranked_booked_people"]) for row in rows]
    assert len({row["site_id"] for row in rows}) == len(rows) == 200
    assert all(48.5 < float(row["latitude"]) < 51.1 and 12 < float(row["longitude"]) < 18.9 for row in rows)
    assert ranks == sorted(ranks, reverse=True)
    assert min(ranks) > 0


def test_the_packaged_files_stay_small_enough_to_ship():
    assert sum(len(packaged(name)) for name in ("czech_200_sites.csv", "czech_200_days.csv.gz")) < 1_500_000


def test_nobody_is_booked_beyond_the_capacity_of_a_calendar():
    table = czech_table()
    assert (table.booked_people <= table.capacity_people).all()
    assert (table.booked_people >= 0).all()


def test_the_demonstration_day_has_the_bookings_its_page_names():
    day = CzechDays().on(date(2021, 5, 20))
    assert day.booked_people.sum() == 75_464
    assert day.capacity_people.sum() == 75_488
    assert day.used_doses.sum() == 74_746


def test_after_the_last_packaged_day_its_last_week_repeats():
    days = CzechDays()
    for weeks_on in (7, 14):
        later = days.on(date.fromordinal(LAST_ON.toordinal() + weeks_on - 2))
        packaged_day = days.on(date.fromordinal(LAST_ON.toordinal() - 2))
        assert np.array_equal(later.booked_people, packaged_day.booked_people)


def test_a_day_before_the_first_booking_is_refused_with_the_bound():
    with pytest.raises(CityWrong, match="2021-01-15, got 2021-01-14"):
        CzechDays().on(date(2021, 1, 14))


def test_the_city_keeps_real_names_and_says_what_it_assumes():
    city = czech_city()
    rows = czech_site_rows()
    assert [site.site_id for site in city.sites] == [row["site_id"] for row in rows]
    assert city.sites[0].name == "FN Brno Výstaviště"
    assert city.sites[0].district == "Brno-město"
    for name in ("stations_possible", "fridges", "vans", "service_minutes", "minimum_team", "seats_possible", "limits"):
        assert any(name in key for key in city.assumed)


def test_no_site_has_more_stations_than_its_real_capacity_could_ever_use():
    capacity, city = usual_capacity_people(), czech_city()
    vaccination = np.array([site.stations_possible[2] for site in city.sites])
    hours = np.array([site.closes_at.hour - site.opens_at.hour for site in city.sites])
    needed = capacity / hours * city.service_minutes[2] / 60
    assert (vaccination >= needed).all()
    assert (vaccination <= 2.5 * needed + 2).all()
