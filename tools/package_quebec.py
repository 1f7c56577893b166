"""
Make `doseflow/bench/forecast/packaged/quebec_er_hourly.csv.gz` from the original of the emergency rooms of Quebec.

    python tools/package_quebec.py ORIGINAL [--out FILE]

ORIGINAL is `patients_waiting_hourly_until_2025-05.csv.gz`. Rows from 2024-09-01 on are kept as they are, whole numbers
without their `.0`. Terms: NOTICE.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

FIRST_DAY = "2024-09-01"
PACKAGED = Path("doseflow/bench/forecast/packaged/quebec_er_hourly.csv.gz")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("original", type=Path)
    parser.add_argument("--out", type=Path, default=PACKAGED)
    options = parser.parse_args()
    header, *lines = gzip.decompress(options.original.read_bytes()).decode().splitlines()
    kept = [line.replace(".0,", ",").removesuffix(".0") for line in lines if line >= FIRST_DAY]
    text = "\n".join([header, *kept]) + "\n"
    options.out.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    print(f"{options.out}: {len(kept)} hours, {options.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
