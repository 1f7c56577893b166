"""The sets by name, and where their files are looked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from doseflow.bench.forecast.call_centre_series import call_centre
from doseflow.bench.forecast.czech_series import czech_bookings, czech_doses
from doseflow.bench.forecast.ed_series import ed_arrivals
from doseflow.bench.forecast.quebec_series import quebec_er
from doseflow.bench.forecast.series_set import SeriesSet
from doseflow.bench.forecast.subway_series import subway
from doseflow.errors import InputWrong

DATA_VARIABLE = "DOSEFLOW_DATA"
LOADERS: Mapping[str, Callable[[Path | None], SeriesSet]] = {
    "czech_bookings": czech_bookings,
    "czech_doses": czech_doses,
    "quebec_er": quebec_er,
    "subway": subway,
    "call_centre": call_centre,
    "ed_arrivals": ed_arrivals,
}
FOLDERS = {"czech_bookings": "czech", "czech_doses": "czech", "subway": "subway_flow"}
"""Folder of a set's originals, where it is not named as the set."""
PACKAGED = ("czech_bookings", "czech_doses", "quebec_er")
QUICK = ("czech_doses", "quebec_er", "subway")


def data_folder(given: Path | None) -> Path | None:
    """
    Where the originals are: as given, else by the environment, else `shared/data` beside the project; None for none.

    Raises
    ------
    InputWrong
        A folder was named that is not there.
    """
    named = given or (Path(os.environ[DATA_VARIABLE]) if os.environ.get(DATA_VARIABLE) else None)
    if named is not None:
        if not named.is_dir():
            raise InputWrong(f"--data: {named} is no folder")
        return named
    project = Path(__file__).resolve().parents[3]
    beside = (folder / "shared" / "data" for folder in (project, project.parent))
    return next((folder for folder in beside if folder.is_dir()), None)


def available_sets(folder: Path | None) -> list[str]:
    """Sets that can be had: those in the folder, and the packaged ones."""
    return [name for name in LOADERS if name in PACKAGED or _originals(name, folder) is not None]


def require(name: str) -> None:
    """
    Refuse a name that no set has.

    Raises
    ------
    InputWrong
    """
    if name not in LOADERS:
        raise InputWrong(f"--series: must be one of {', '.join(LOADERS)}, got {name!r}")


def load_set(name: str, folder: Path | None) -> SeriesSet:
    """
    One set by name, from the folder where it is there, else packaged.

    Raises
    ------
    InputWrong
        No such set, or it is neither in the folder nor packaged.
    """
    require(name)
    return LOADERS[name](_originals(name, folder))


def _originals(name: str, folder: Path | None) -> Path | None:
    return folder if folder is not None and (folder / FOLDERS.get(name, name)).is_dir() else None
