import gzip
from pathlib import Path

import numpy as np
import pytest

from doseflow.bench.forecast.czech_series import czech_bookings, czech_doses
from doseflow.bench.forecast.ed_series import ed_arrivals
from doseflow.bench.forecast.quebec_series import hourly_table, quebec_er
from doseflow.bench.forecast.series_set import Part
from doseflow.bench.forecast.series_sets import LOADERS, PACKAGED, available_sets, data_folder, load_set
from doseflow.bench.forecast.subway_series import subway
from doseflow.errors import InputWrong


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))


@pytest.fixture
def czech_folder(tmp_path: Path) -> Path:
    days = [f"2021-{month:02d}-{day:02d}" for month in (2, 3, 4, 5) for day in range(1, 29)]
    header = "datum,ockovaci_misto_id,ockovaci_misto_nazev,kraj_nuts_kod,kraj_nazev"
    bookings = [f"{header},volna_kapacita,maximalni_kapacita,kalendar_ockovani"]
    doses = [f"{header},ockovaci_latka,vyrobce,pouzite_ampulky,znehodnocene_ampulky,pouzite_davky,znehodnocene_davky"]
    doses.append("2020-06-01,open,Open,CZ010,Praha,Comirnaty,Pfizer,17,0,102,0")
    for day in days:
        bookings += [f"{day},open,Open,CZ010,Praha,{free},{size},{calendar}" for free, size, calendar in
                     ((5, 20, "V1"), (0, 10, "V2"), (1, 1, "VX"))]  # fmt: skip
        if day >= "2021-05-10":
            bookings.append(f"{day},new,New,CZ010,Praha,0,9,VX")
        doses.append(f"{day},open,Open,CZ010,Praha,Comirnaty,Pfizer,2,0,12,0")
        doses.append(f"{day},open,Open,CZ010,Praha,VAXZEVRIA,AstraZeneca,1,0,10,0")
    _write(tmp_path / "czech" / "rezervace_site_day.csv.gz", bookings)
    _write(tmp_path / "czech" / "spotreba_site_day.csv.gz", doses)
    (tmp_path / "czech" / "sites.csv").write_text("ockovaci_misto_id,latitude,longitude\nopen,50.1,14.4\nnew,,\n")
    return tmp_path


def test_booked_is_capacity_less_free_over_all_calendars_and_a_site_too_new_is_left_out(czech_folder):
    of = czech_bookings(czech_folder)
    assert of.table.series_ids == ("open",)
    assert of.table.starts_at.isoformat() == "2021-01-15T00:00:00+00:00"
    first_february = 17
    assert np.isnan(of.table.values[0, :first_february]).all(), "before the first booking the site is unknown"
    assert of.table.values[0, first_february] == 15 + 10
    assert of.table.latitude[0] == 50.1


def test_doses_of_all_products_are_added_impossible_days_are_dropped_and_a_silent_day_is_zero(czech_folder):
    of = czech_doses(czech_folder)
    values = of.table.values[0]
    assert np.nanmax(values) == 22
    assert values[(np.datetime64("2021-02-28") - np.datetime64("2020-12-27")).astype(int)] == 22
    assert values[(np.datetime64("2021-03-30") - np.datetime64("2020-12-27")).astype(int)] == 0
    assert of.table.values.shape[1] == 156


def test_the_held_out_days_are_the_last_thirty():
    for name in ("czech_bookings", "czech_doses"):
        of = load_set(name, None)
        assert of.num_steps - of.held_out_from == 30
        assert of.held_out_from - of.development_from == 27
        assert len(of.origins(Part.HELD_OUT, 100)) == 17


def test_missing_hours_and_empty_cells_are_unknown():
    table = hourly_table("h,1,2\n2024-08-31 23:00:00,9,9\n2024-09-01 00:00:00,1,\n2024-09-01 03:00:00,4,0\n")
    np.testing.assert_array_equal(table.values, [[1, np.nan, np.nan, 4], [np.nan, np.nan, np.nan, 0]])


@pytest.mark.parametrize("line", ["2024-09-01 00:00:00,1", "2024-09-01 00:00:00,1,many", "2024-99-01,1,2"])
def test_a_bad_line_of_the_emergency_rooms_is_named(line):
    with pytest.raises(InputWrong, match="line 2"):
        hourly_table(f"h,1,2\n{line}\n")


def test_the_packaged_emergency_rooms_are_what_the_notice_says():
    of = quebec_er(None)
    assert of.table.values.shape == (119, 6552)
    assert 0.9 < np.isfinite(of.table.values).mean() < 1
    assert not of.counts


def test_working_days_are_laid_on_weeks_with_nights_and_weekends_unknown(tmp_path):
    rows = [",".join(str(station * 1000 + step) for step in range(20 * 108)) for station in range(2)]
    _write(tmp_path / "subway_flow" / "entries_10min_days01-20.csv.gz", rows)
    of = subway(tmp_path)
    values = of.table.values
    assert np.isfinite(values).sum() == 2 * 20 * 108
    assert values[0, 107] == 107
    assert np.isnan(values[0, 108:144]).all()
    assert values[0, 144] == 108, "the second day begins a day after the first"
    assert values[0, 7 * 144] == 5 * 108, "the sixth day is the Monday after"
    assert values[0, of.held_out_from] == 16 * 108


def test_hours_of_the_emergency_department_are_counted_from_its_date(tmp_path):
    rows = ["Date,Hour,Arrivals", "2013-07-01,0.0,5.0", "2013-07-01,1.0,6.0", "2018-03-31,23.0,2.0"]
    _write(tmp_path / "ed_arrivals" / "ed_arrivals_hourly_2013-2018.csv.gz", rows)
    of = ed_arrivals(tmp_path)
    assert of.table.values[0, :2].tolist() == [5, 6]
    assert np.isnan(of.table.values[0, 2])
    assert of.num_steps == 41640


def test_without_a_folder_only_the_packaged_sets_are_there_and_the_others_say_so(tmp_path):
    assert available_sets(None) == list(PACKAGED)
    assert available_sets(tmp_path) == list(PACKAGED)
    for name in set(LOADERS) - set(PACKAGED):
        with pytest.raises(InputWrong, match="not packaged"):
            load_set(name, tmp_path)


def test_a_folder_that_is_not_there_and_a_set_that_is_none_are_refused(tmp_path, monkeypatch):
    with pytest.raises(InputWrong, match="no folder"):
        data_folder(tmp_path / "nowhere")
    monkeypatch.setenv("DOSEFLOW_DATA", str(tmp_path))
    assert data_folder(None) == tmp_path
    with pytest.raises(InputWrong, match="--series: must be one of"):
        load_set("tides", None)


def test_a_file_that_is_not_gzipped_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "czech" / "spotreba_site_day.csv.gz"
    path.parent.mkdir()
    path.write_text("datum\n")
    with pytest.raises(InputWrong, match=r"spotreba_site_day\.csv\.gz cannot be read"):
        czech_doses(tmp_path)
