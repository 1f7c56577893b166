"""
Make `doseflow/simulate/packaged/czech_200_*` from the originals of the Czech vaccination programme.

    python tools/package_czech.py ORIGINALS [--out FOLDER]

ORIGINALS holds `sites.csv`, `rezervace_site_day.csv.gz`, `spotreba_site_day.csv.gz` and `distribuce_site_day.csv.gz`.
The same originals give the same bytes with the same zlib, and the same rows with any. What is kept, dropped and
corrected, and the terms of the data, stand in docs/reference/cities.md.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

NUM_SITES = 200
RANKED_FROM, RANKED_UNTIL = "2021-04-05", "2021-05-31"
FIRST_DAY = "2020-12-27"
"""The programme's first day; the originals hold a few rows dated before it, which cannot be true."""
SITES_FILE, DAYS_FILE = "czech_200_sites.csv", "czech_200_days.csv.gz"

CALENDARS = {"V1": "first", "V2": "second", "VX": "either"}
PRODUCTS = {"Comirnaty": "comirnaty", "COVID-19 Vaccine Moderna": "moderna", "VAXZEVRIA": "vaxzevria"}
SITE_COLUMNS = [
    "site_id",
    "name",
    "district_code",
    "district",
    "region",
    "latitude",
    "longitude",
    "site_type",
    "minimum_capacity_people",
    "ranked_booked_people",
]
DAY_COLUMNS = [
    "day_on",
    "site_row",
    *(f"capacity_{name}_people" for name in CALENDARS.values()),
    *(f"booked_{name}_people" for name in CALENDARS.values()),
    *(
        f"{measure}_{product}_{unit}"
        for product in PRODUCTS.values()
        for measure, unit in (
            ("used", "doses"),
            ("used", "vials"),
            ("spoiled", "doses"),
            ("spoiled", "vials"),
            ("received", "doses"),
            ("passed_on", "doses"),
        )
    ),
]
# Names of the districts (okres) by their LAU 1 code, Czech Statistical Office.
DISTRICTS = dict(
    line.split(" ", 1)
    for line in """\
CZ0100 Praha
CZ0201 Benešov
CZ0202 Beroun
CZ0203 Kladno
CZ0204 Kolín
CZ0205 Kutná Hora
CZ0206 Mělník
CZ0207 Mladá Boleslav
CZ0208 Nymburk
CZ0209 Praha-východ
CZ020A Praha-západ
CZ020B Příbram
CZ020C Rakovník
CZ0311 České Budějovice
CZ0312 Český Krumlov
CZ0313 Jindřichův Hradec
CZ0314 Písek
CZ0315 Prachatice
CZ0316 Strakonice
CZ0317 Tábor
CZ0321 Domažlice
CZ0322 Klatovy
CZ0323 Plzeň-město
CZ0324 Plzeň-jih
CZ0325 Plzeň-sever
CZ0326 Rokycany
CZ0327 Tachov
CZ0411 Cheb
CZ0412 Karlovy Vary
CZ0413 Sokolov
CZ0421 Děčín
CZ0422 Chomutov
CZ0423 Litoměřice
CZ0424 Louny
CZ0425 Most
CZ0426 Teplice
CZ0427 Ústí nad Labem
CZ0511 Česká Lípa
CZ0512 Jablonec nad Nisou
CZ0513 Liberec
CZ0514 Semily
CZ0521 Hradec Králové
CZ0522 Jičín
CZ0523 Náchod
CZ0524 Rychnov nad Kněžnou
CZ0525 Trutnov
CZ0531 Chrudim
CZ0532 Pardubice
CZ0533 Svitavy
CZ0534 Ústí nad Orlicí
CZ0631 Havlíčkův Brod
CZ0632 Jihlava
CZ0633 Pelhřimov
CZ0634 Třebíč
CZ0635 Žďár nad Sázavou
CZ0641 Blansko
CZ0642 Brno-město
CZ0643 Brno-venkov
CZ0644 Břeclav
CZ0645 Hodonín
CZ0646 Vyškov
CZ0647 Znojmo
CZ0711 Jeseník
CZ0712 Olomouc
CZ0713 Prostějov
CZ0714 Přerov
CZ0715 Šumperk
CZ0721 Kroměříž
CZ0722 Uherské Hradiště
CZ0723 Vsetín
CZ0724 Zlín
CZ0801 Bruntál
CZ0802 Frýdek-Místek
CZ0803 Karviná
CZ0804 Nový Jičín
CZ0805 Opava
CZ0806 Ostrava-město""".splitlines()
)

Row = dict[str, str]
Counts = defaultdict[tuple[str, str], defaultdict[str, int]]


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the packaged Czech data from the originals.")
    parser.add_argument("originals", type=Path, help="folder of the four original files")
    parser.add_argument("--out", type=Path, default=Path("doseflow/simulate/packaged"), help="where to write")
    arguments = parser.parse_args()
    missing = [name for name in ("sites.csv", *_GZIPPED) if not (arguments.originals / name).is_file()]
    if missing:
        print(f"originals: {arguments.originals} must hold {', '.join(missing)}", file=sys.stderr)
        return 2
    for name, content in packaged_files(arguments.originals).items():
        (arguments.out / name).write_bytes(content)
        print(f"{name}: {len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()}")
    return 0


_GZIPPED = ("rezervace_site_day.csv.gz", "spotreba_site_day.csv.gz", "distribuce_site_day.csv.gz")


def packaged_files(originals: Path) -> dict[str, bytes]:
    """The packaged files by name, as bytes."""
    counts: Counts = defaultdict(lambda: defaultdict(int))
    regions: dict[str, str] = {}
    _count_bookings(_rows(originals / _GZIPPED[0]), counts, regions)
    _count_use(_rows(originals / _GZIPPED[1]), counts)
    _count_deliveries(_rows(originals / _GZIPPED[2]), counts)
    sites = _busiest_sites(_rows(originals / "sites.csv"), counts, regions)
    site_to_row = {site["site_id"]: position for position, site in enumerate(sites)}
    days = [
        {"day_on": day_on, "site_row": site_to_row[site_id], **numbers}
        for (day_on, site_id), numbers in counts.items()
        if site_id in site_to_row and day_on >= FIRST_DAY and any(numbers.values())
    ]
    days.sort(key=lambda day: (day["day_on"], day["site_row"]))
    packed = io.BytesIO()
    # No name and no moment in the header, so that the same rows are the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as stream:
        stream.write(_csv_bytes(DAY_COLUMNS, days))
    return {SITES_FILE: _csv_bytes(SITE_COLUMNS, sites), DAYS_FILE: packed.getvalue()}


def _rows(path: Path) -> Iterator[Row]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream)


def _csv_bytes(columns: list[str], rows: Iterable[dict[str, object]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, restval=0, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _count_bookings(rows: Iterator[Row], counts: Counts, regions: dict[str, str]) -> None:
    """The calendars of a place add up: one place has all three on the same day, and its doses used equal their sum."""
    for row in rows:
        calendar = CALENDARS[row["kalendar_ockovani"]]
        numbers = counts[row["datum"], row["ockovaci_misto_id"]]
        capacity, free = int(row["maximalni_kapacita"]), int(row["volna_kapacita"])
        numbers[f"capacity_{calendar}_people"] += capacity
        numbers[f"booked_{calendar}_people"] += capacity - free
        regions[row["ockovaci_misto_id"]] = row["kraj_nazev"]


def _count_use(rows: Iterator[Row], counts: Counts) -> None:
    for row in rows:
        product = PRODUCTS[row["ockovaci_latka"]]
        numbers = counts[row["datum"], row["ockovaci_misto_id"]]
        numbers[f"used_{product}_doses"] += int(row["pouzite_davky"])
        numbers[f"used_{product}_vials"] += int(row["pouzite_ampulky"])
        numbers[f"spoiled_{product}_doses"] += int(row["znehodnocene_davky"])
        numbers[f"spoiled_{product}_vials"] += int(row["znehodnocene_ampulky"])


def _count_deliveries(rows: Iterator[Row], counts: Counts) -> None:
    """
    `Příjem` is received from the maker; `Výdej` leaves the place, for another named place or for general practice.
    """
    for row in rows:
        doses, product = int(row["pocet_davek"]), PRODUCTS[row["ockovaci_latka"]]
        giver_id, taker_id = row["ockovaci_misto_id"], row["cilove_ockovaci_misto_id"]
        if row["akce"] == "Příjem":
            counts[row["datum"], giver_id][f"received_{product}_doses"] += doses
        elif giver_id != taker_id:
            counts[row["datum"], giver_id][f"passed_on_{product}_doses"] += doses
            if taker_id:
                counts[row["datum"], taker_id][f"received_{product}_doses"] += doses


def _busiest_sites(rows: Iterator[Row], counts: Counts, regions: dict[str, str]) -> list[dict[str, object]]:
    booked: defaultdict[str, int] = defaultdict(int)
    for (day_on, site_id), numbers in counts.items():
        if RANKED_FROM <= day_on <= RANKED_UNTIL:
            booked[site_id] += sum(numbers[f"booked_{name}_people"] for name in CALENDARS.values())
    known = [row for row in rows if row["latitude"] and row["longitude"] and booked[row["ockovaci_misto_id"]] > 0]
    known.sort(key=lambda row: (-booked[row["ockovaci_misto_id"]], row["ockovaci_misto_id"]))
    return [
        {
            "site_id": row["ockovaci_misto_id"],
            "name": " ".join(row["ockovaci_misto_nazev"].split()),
            "district_code": row["okres_nuts_kod"],
            "district": DISTRICTS[row["okres_nuts_kod"]],
            "region": regions[row["ockovaci_misto_id"]],
            "latitude": row["latitude"],
            "longitude": row["longitude"],
            "site_type": row["ockovaci_misto_typ"],
            "minimum_capacity_people": row["minimalni_kapacita"] or 0,
            "ranked_booked_people": booked[row["ockovaci_misto_id"]],
        }
        for row in known[:NUM_SITES]
    ]


if __name__ == "__main__":
    sys.exit(main())
