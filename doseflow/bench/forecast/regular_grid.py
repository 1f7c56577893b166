"""Rows with a time, as a table on a regular clock."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from doseflow.domain.city import FloatArray
from doseflow.domain.series_table import SeriesTable
from doseflow.errors import InputWrong


def csv_rows(path: Path) -> Iterator[dict[str, str]]:
    """
    Rows of a gzipped file with a header.

    Raises
    ------
    InputWrong
        It cannot be read.
    """
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
            yield from csv.DictReader(stream)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputWrong(f"--data: {path} cannot be read as a gzipped file of rows ({error})") from error


def utc(text: str) -> datetime:
    """A moment as written; without a zone it is taken as UTC."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def table_of(
    series_ids: Sequence[str],
    times: Sequence[datetime],
    columns: FloatArray,
    step_minutes: int,
    places: dict[str, tuple[float, float]] | None = None,
) -> SeriesTable:
    """
    A table from columns (len(times), S) at moments that may leave gaps; skipped steps are unknown.

    Parameters
    ----------
    places
        Latitude and longitude by series id, where known.
    """
    start = min(times)
    steps = np.array([round((moment - start) / timedelta(minutes=step_minutes)) for moment in times])
    values = np.full((len(series_ids), int(steps.max()) + 1), np.nan)
    values[:, steps] = columns.T
    nowhere = (float("nan"), float("nan"))
    where = np.array([(places or {}).get(series_id, nowhere) for series_id in series_ids], dtype=np.float64)
    return SeriesTable(tuple(series_ids), start, step_minutes, values, where[:, 0], where[:, 1], {})


def unknown_before_first(values: FloatArray) -> FloatArray:
    """Values (S, P) with the zeros before the first value above 0 left open: the site was not there yet."""
    begun = np.cumsum(np.nan_to_num(values) > 0, axis=1) > 0
    return np.where(begun, values, np.nan)
