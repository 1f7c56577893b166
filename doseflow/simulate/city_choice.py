"""Which city: the real one by name, a made one by size, or a file."""

from __future__ import annotations

from pathlib import Path

from doseflow.domain.city import City
from doseflow.errors import CityWrong
from doseflow.intake.city_file import city_from_json
from doseflow.simulate.city_days import Days
from doseflow.simulate.czech_city import CZECH_CITY_ID, CzechDays, czech_city
from doseflow.simulate.synthetic_city import MAX_SITES, SyntheticDays, synthetic_city

SYNTHETIC = "synthetic"
CHOICES = f'"{CZECH_CITY_ID}", "{SYNTHETIC}:N" with N in 1..{MAX_SITES}, or the path of a city file (.json)'
MAX_FILE_BYTES = 100_000_000


def city_from_name(name: str) -> City:
    """
    The city of a name: `czech`, `synthetic:N`, or the path of a city file.

    Raises
    ------
    CityWrong
    """
    kind, _, size = name.strip().partition(":")
    if kind == CZECH_CITY_ID and not size:
        return czech_city()
    if kind == SYNTHETIC:
        if not (size.isascii() and size.isdigit()) or len(size) > len(str(MAX_SITES)):
            raise CityWrong(f"city: must be {SYNTHETIC}:N with a whole number N in 1..{MAX_SITES}, got {name!r}")
        return synthetic_city(int(size))
    return _city_of_file(name)


def days_of(city: City, seed: int = 1) -> Days:
    """The days of a city: the real ones where its sites are those of the Czech city, made ones for any other."""
    is_czech = city.city_id == CZECH_CITY_ID and city.site_to_idx == czech_city().site_to_idx
    return CzechDays() if is_czech else SyntheticDays(city, seed)


def _city_of_file(name: str) -> City:
    path = Path(name).expanduser()
    try:
        if not path.is_file():
            raise CityWrong(f"city: must be {CHOICES}; there is no file {name!r}")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise CityWrong(f"city: the file {path} must have at most {MAX_FILE_BYTES} bytes")
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise CityWrong(f"city: the file {name!r} cannot be read: {error}") from error
    try:
        return city_from_json(content)
    except CityWrong as error:
        raise CityWrong(f"{path}: {error}") from error
